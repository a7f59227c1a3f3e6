"""Each kind of event as release 0.1.0 writes it: the golden log is one evening's, and not everything happened in it."""

from __future__ import annotations

import typing
from typing import Any

import msgspec
import pytest

from services.engine import records as r
from tests.golden.stored import RELEASES, Golden

WRITTEN: list[tuple[list[Any], r.Event]] = [
    (["enter", ["p1", "Ann", 4, None]], r.Entered(r.Newcomer("p1", "Ann", 4))),
    (["enter", ["b1", "Bot", 5, "hard"]], r.Entered(r.Newcomer("b1", "Bot", 5, "hard"))),
    (["detach", 2], r.Detached(2)),
    (["leave", 3], r.LeftTable(3)),
    (["gone", 1], r.GraceOver(1)),
    (["host", 2], r.HostPassed(2)),
    (["colour", 1, 7], r.Recoloured(1, 7)),
    (["resume", 1], r.ResumedBy(1)),
    (["hold"], r.Held()),
    (["release"], r.Released()),
    (["setup", "no_players"], r.BackToSetup("no_players")),
    (["setup", None], r.BackToSetup()),
]


@pytest.mark.parametrize(("written", "event"), WRITTEN, ids=lambda one: str(one[0]) if isinstance(one, list) else "")
def test_an_event_is_read_as_it_was_written(written: list[Any], event: r.Event) -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(written), type=r.Event) == event


def test_every_kind_of_event_is_in_a_golden_log_or_here() -> None:
    kinds = {
        type(event)
        for release in RELEASES
        for message in Golden(release).log
        for chunk in r.decode(message.data).chunks
        for step in chunk.steps
        for event in step.events
    }
    assert set(typing.get_args(r.Event)) == kinds | {type(event) for _, event in WRITTEN}
