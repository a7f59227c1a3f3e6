"""All that one run of `snatch trace` found, as `--json` writes it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from benchmarks.trace_frames import Frames
from benchmarks.trace_load import Load


class Hand(msgspec.Struct):
    """One hand on one screen."""

    screen: Annotated[str, Meta(description="its name")]
    width: Annotated[int, Meta(description="CSS pixels")]
    height: Annotated[int, Meta(description="CSS pixels")]
    taps: Annotated[int, Meta(description="taps of the finger")]
    drags: Annotated[int, Meta(description="cards dragged")]
    flicks: Annotated[int, Meta(description="cards flicked")]
    frames: Frames


class Traced(msgspec.Struct):
    """All that one run found."""

    date: Annotated[str, Meta(description="day of the run")]
    cpu: Annotated[str, Meta(description="model of the processor")]
    cores: Annotated[int, Meta(description="logical cores that browser, servers and players share")]
    load_average: Annotated[float, Meta(description="load average of the last minute, before it began")]
    chromium: Annotated[str, Meta(description="version of the browser")]
    throttle: Annotated[float, Meta(description="how many times slower the page's main thread is")]
    hands: Annotated[list[Hand], Meta(description="one a screen")]
    loads: Annotated[list[Load], Meta(description="two visits of each new phone")]
    packed: Annotated[dict[str, int], Meta(description="bytes of scripts and styles of a first load, gzip, by page")]
