"""How a service's process begins."""

from __future__ import annotations

import gc
import resource

import pytest

from servicekit import run
from servicekit.garbage import Pauses, settle
from servicekit.meters import Meters, Registry
from servicekit.process_metrics import ProcessMetrics


class Ring:
    """Two that only know each other, as sockets and their players do."""

    def __init__(self) -> None:
        self.other = [self]


def test_what_was_there_at_the_start_is_never_looked_through_again_and_what_comes_is() -> None:
    before_us = gc.get_threshold()
    try:
        settle()
        assert gc.get_freeze_count() > 10_000
        assert len(gc.get_objects(generation=2)) < 10_000
        before = gc.get_stats()[2]["collections"]
        kept = [Ring() for _ in range(900_000)]
        assert gc.get_stats()[2]["collections"] > before, "the oldest generation is looked through within 1.8 M objects"
        assert len(kept) == 900_000
    finally:
        gc.unfreeze()
        gc.set_threshold(*before_us)


def test_open_files_are_raised_as_far_as_the_system_lets_them_and_too_few_are_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = [1024, 4096]
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limits[0], limits[1]))
    monkeypatch.setattr(resource, "setrlimit", lambda _, new: limits.__setitem__(slice(None), new))
    assert run._need_files(3000)
    assert limits == [4096, 4096]
    assert not run._need_files(10_256)
    said = capsys.readouterr().out
    assert "10256" in said
    assert "ulimit -Hn 10256" in said
    limits[:] = [1024, resource.RLIM_INFINITY]
    assert run._need_files(100_000)
    assert limits[0] == 100_000


def test_each_collection_is_counted_by_its_generation() -> None:
    meters = Meters("snatch")
    registry = meters.registry
    pauses = Pauses(meters)
    pauses.start()
    try:
        gc.disable()
        gc.collect()
        took = registry.get_sample_value("snatch_gc_seconds_total", {"generation": "2"})
        assert took is not None
        assert took > 0
        assert registry.get_sample_value("snatch_gc_longest_seconds", {"generation": "2"}) == took
        assert registry.get_sample_value("snatch_gc_seconds_total", {"generation": "0"}) == 0
    finally:
        gc.enable()
        pauses.stop()


async def test_a_process_that_ends_before_it_began_leaves_nothing_behind() -> None:
    before = list(gc.callbacks)
    process = ProcessMetrics(Registry(), "rooms", "a release", "a commit")
    process.stop()
    process.start()
    process.stop()
    assert gc.callbacks == before
