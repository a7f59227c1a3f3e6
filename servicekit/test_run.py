"""How a service's process begins."""

from __future__ import annotations

import gc
import resource

import pytest

from servicekit import run
from servicekit.run import _collect_what_comes


class Ring:
    """Two that only know each other, as sockets and their players do."""

    def __init__(self) -> None:
        self.other = [self]


def test_what_was_there_at_the_start_is_never_looked_through_again_and_what_comes_is() -> None:
    try:
        _collect_what_comes()
        assert gc.get_freeze_count() > 10_000
        assert len(gc.get_objects(generation=2)) < 10_000
        before = gc.get_stats()[2]["collections"]
        kept = [Ring() for _ in range(200_000)]
        assert gc.get_stats()[2]["collections"] > before, "the oldest generation is small, so it is collected soon"
        assert len(kept) == 200_000
    finally:
        gc.unfreeze()


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
