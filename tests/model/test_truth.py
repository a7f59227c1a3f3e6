"""The judge's own memory of what is committed."""

from __future__ import annotations

from model.truth import RoomTruth, Truth
from services.engine import records as r


def _violate(name: str, how: str) -> None:
    raise AssertionError(f"{name}: {how}")


def test_a_tab_that_comes_back_goes_on_with_its_latest_ids_not_with_an_earlier_time_on_the_seat() -> None:
    """A tab that moved nothing before it lost the seat begins anew: later times on the seat go on from there."""
    truth, room = Truth(_violate), RoomTruth()

    def attached(session: int, tab: int, *, back: bool = False) -> None:
        truth._event(room, r.Attached(seat=0, session=session, tab=tab, hello_at=session, back=back), session)

    attached(1, tab=7)
    attached(2, tab=8)
    attached(3, tab=7)
    room.reigns[0][-1].last = 9
    attached(4, tab=8)
    attached(5, tab=7, back=True)
    assert room.reign_of[0, 5].last == 9
