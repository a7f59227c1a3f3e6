"""How a service's process begins."""

from __future__ import annotations

import gc

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
