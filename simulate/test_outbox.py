"""Moves without an answer, by the page's own rules."""

from __future__ import annotations

import msgspec
import pytest

from games.snatch_solitaire.messages import Turn, Undo
from simulate.outbox import STALE_AFTER, Outbox


@pytest.fixture
async def outbox() -> Outbox:
    """Three moves, made at 0, 5 and 9 s."""
    box = Outbox()
    for m, at in ((Turn(), 0.0), (Undo(), 5.0), (Turn(), 9.0)):
        box.add(m, 7, at)
    return box


async def test_ids_count_up_from_one_and_a_move_keeps_its_bytes(outbox: Outbox) -> None:
    assert list(outbox.pending) == [1, 2, 3]
    data = outbox.pending[2].data()
    assert msgspec.json.decode(data) == {"t": "move", "id": 2, "basis": 7, "m": {"t": "undo"}}
    assert outbox.pending[2].data() == data


async def test_a_snapshot_keeps_what_it_has_not_decided_and_asks_for_verdicts_that_never_came(outbox: Outbox) -> None:
    assert outbox.rebase(answered=1, now=9.5, fresh=False) == []
    assert {id: p.shown for id, p in outbox.pending.items()} == {1: True, 2: False, 3: False}
    assert outbox.settle(1) is not None
    assert outbox.add(Turn(), 8, 10.0).id == 4


async def test_a_move_too_old_to_be_wanted_is_dropped_and_those_behind_move_up(outbox: Outbox) -> None:
    old = outbox.pending[1]
    assert outbox.rebase(answered=0, now=STALE_AFTER, fresh=False) == [old]
    assert [(id, msgspec.json.decode(p.m)["t"]) for id, p in outbox.pending.items()] == [(1, "undo"), (2, "turn")]
    assert (outbox.last, outbox.highest) == (2, 3)


async def test_what_the_open_socket_was_given_keeps_its_id_however_old(outbox: Outbox) -> None:
    first, second, third = outbox.pending.values()
    first.sent = second.sent = True
    kept = outbox.add(Undo(), 8, STALE_AFTER + 5)
    assert outbox.rebase(answered=0, now=STALE_AFTER + 9.5, fresh=False) == [third]
    assert list(outbox.pending.values()) == [first, second, kept]
    assert list(outbox.pending) == [1, 2, 3]
    assert outbox.add(Turn(), 8, 20.0).id == 4
    outbox.unsent()
    assert outbox.rebase(answered=0, now=STALE_AFTER + 9.5, fresh=False) == [first, second]


async def test_another_table_knows_none_of_them(outbox: Outbox) -> None:
    assert len(outbox.rebase(answered=0, now=9.5, fresh=True)) == 3
    assert outbox.pending == {}
    assert outbox.add(Turn(), 0, 10.0).id == 1


async def test_a_move_thrown_out_leaves_its_id_free(outbox: Outbox) -> None:
    assert outbox.drop(2) is not None
    assert list(outbox.pending) == [1, 2]
    assert outbox.drop(9) is None
