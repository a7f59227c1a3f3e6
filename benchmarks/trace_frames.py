"""Frames and tasks of the page's main thread, read off a trace.

A *frame* is one beat of the screen, 60 a second, at which there was something new to show: a card
that glides, or a change that the page was still computing.  It is *shown* when the page delivered
it in time for a later beat to show it; the time from one shown frame to the next, in beats, is how long
a player looks at the same picture while there is another.  Beats with nothing new don't count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Annotated

import msgspec
from msgspec import Meta

from benchmarks.trace_recording import Event

BEAT = 1000 / 60
"""Ms."""
TOO_LONG = 50.0
"""Ms that neither a frame nor a task may take."""
MAIN = "CrRendererMain"


class Frames(msgspec.Struct):
    """What a hand was like on the page's side.  Times are ms, and CPU time is the main thread's own."""

    seconds: Annotated[float, Meta(description="seconds from the first task to the last")]
    frames: Annotated[int, Meta(description="frames at which there was something new")]
    per_second: Annotated[float, Meta(description="of 60 a second, how many were shown")]
    longest: Annotated[float, Meta(description="longest time that a picture stood while there was another")]
    over: Annotated[int, Meta(description="how many stood for more than 50 ms")]
    busy: Annotated[float, Meta(description="share of the time in which the main thread worked")]
    task_mean: Annotated[float, Meta(description="what a frame costs the main thread, mean")]
    task_p99: Annotated[float, Meta(description="the same, of 99 in 100 at most")]
    task_longest: Annotated[float, Meta(description="longest task of the main thread")]
    task_longest_cpu: Annotated[float, Meta(description="the same in CPU time")]
    tasks_over: Annotated[int, Meta(description="tasks of more than 50 ms")]
    tasks_over_cpu: Annotated[int, Meta(description="tasks of more than 50 ms of CPU time")]
    over_at: Annotated[list[float], Meta(description="seconds at which those began, by CPU time")]
    work: Annotated[dict[str, float], Meta(description="CPU ms of the main thread by what it did")]


WORK = {
    "EventDispatch": "input",
    "FunctionCall": "script",
    "UpdateLayoutTree": "style",
    "Layout": "layout",
    "PrePaint": "pre-paint",
    "Paint": "paint",
    "Layerize": "layerize",
    "Commit": "commit",
    "MinorGC": "garbage",
    "MajorGC": "garbage",
}
"""Events of DevTools' timeline, and what they are called here; a nested one counts in both."""


def read(events: Iterable[Event]) -> Frames:
    """Of the page that worked most."""
    events = list(events)
    page, main = _main_thread(events)
    tasks = sorted((e for e in main if e.name == "RunTask"), key=lambda e: e.ts)
    seconds = (tasks[-1].ts + tasks[-1].dur - tasks[0].ts) / 1e6
    stood = stood_for([e for e in events if e.pid == page])
    frames = sorted(e.tdur / 1000 for e in main if e.name == "ProxyMain::BeginMainFrame")
    work: defaultdict[str, float] = defaultdict(float)
    for e in main:
        if e.name in WORK:
            work[WORK[e.name]] += e.tdur / 1000
    return Frames(
        seconds=round(seconds, 1),
        frames=sum(stood),
        per_second=round(60 * len(stood) / sum(stood), 1),
        longest=round(max(stood) * BEAT),
        over=sum(beats * BEAT > TOO_LONG + 1 for beats in stood),
        busy=round(sum(e.tdur for e in tasks) / 1e6 / seconds, 3),
        task_mean=round(sum(frames) / len(frames), 1),
        task_p99=round(frames[min(len(frames) - 1, int(len(frames) * 0.99))], 1),
        task_longest=round(max(e.dur for e in tasks) / 1000, 1),
        task_longest_cpu=round(max(e.tdur for e in tasks) / 1000, 1),
        tasks_over=sum(e.dur > TOO_LONG * 1000 for e in tasks),
        tasks_over_cpu=sum(e.tdur > TOO_LONG * 1000 for e in tasks),
        over_at=[round((e.ts - tasks[0].ts) / 1e6, 1) for e in tasks if e.tdur > TOO_LONG * 1000],
        work={name: round(ms) for name, ms in sorted(work.items(), key=itemgetter(1), reverse=True)},
    )


def _main_thread(events: Sequence[Event]) -> tuple[int, list[Event]]:
    """The page's process, and what its main thread did."""
    names = {(e.pid, e.tid) for e in events if e.name == "thread_name" and e.args.get("name") == MAIN}
    done = [e for e in events if e.ph == "X" and (e.pid, e.tid) in names]
    page = Counter(e.pid for e in done).most_common(1)[0][0]
    return page, [e for e in done if e.pid == page]


def stood_for(events: Iterable[Event]) -> list[int]:
    """For each frame that was shown, the beats since the one before, itself included."""
    beats: dict[float, set[str]] = {}
    for e in events:
        if e.name == "PipelineReporter" and e.ph == "b":
            said = e.args.get("frame_reporter") or e.args.get("chrome_frame_reporter") or {}
            beats.setdefault(e.ts, set()).add(said.get("state", "").removeprefix("STATE_"))
    stood: list[int] = []
    waited = 0
    for _, states in sorted(beats.items()):
        if states <= {"NO_UPDATE_DESIRED", ""}:
            continue
        waited += 1
        if states & {"PRESENTED_ALL", "PRESENTED_PARTIAL"}:
            stood.append(waited)
            waited = 0
    return stood
