"""Old moves on a socket that stays open: an id that a gateway was given is never another move's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from games.snatch_solitaire.messages import Turn, Undo
from simulate.findings import Findings
from simulate.outbox import STALE_AFTER, Pending
from simulate.phone import ONE_ANSWER, Phone, Stale
from tests.servers import NatsServer
from tests.services.stage import ROOM, Stage, stage

New = Callable[[], NatsServer]


def page(s: Stage, found: Findings) -> Phone:
    """The page's own rules, at the real gateway."""
    return Phone(f"http://127.0.0.1:{s.gateway.port}", s.rooms.token(ROOM, "p1"), 1, found, look=False)


def aged(*moves: Pending) -> None:
    for move in moves:
        move.at -= STALE_AFTER


async def test_after_a_wait_each_answer_is_of_the_move_that_was_decided_under_its_id(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("servicekit.feed.SILENCE", 0.1)
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        table.game = "snatch_solitaire"  # a phone knows no other
        found = Findings()
        phone = page(s, found)
        phone.start()
        await phone.until(lambda p: p.live)
        await phone.move(Turn())
        await s.engine.stop()
        held = [phone.begin(Turn()), phone.begin(Undo())]
        await phone.until(lambda p: not p.live)
        lost, kept = phone.begin(Turn()), phone.begin(Undo())
        aged(*held, lost)
        other = await s.another_engine("e2")
        await other.claim(epoch=2)
        await phone.until(lambda p: p.live)
        new = phone.begin(Turn())
        with pytest.raises(Stale):
            await lost.answer
        for move in (*held, kept, new):
            await move.answer
        phone.stop()
        decided = {id: body for _, id, body in table.decided}
        assert table.ids == [1, 2, 3, 4, 5]
        assert [decided[m.id] for m in (*held, kept, new)] == [m.data() for m in (*held, kept, new)]
        assert found.reconnects == 0
        assert found.told == []
        assert found.checks[ONE_ANSWER] > 0


async def test_a_new_socket_frees_the_ids_of_old_moves_that_were_never_decided(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        table.game = "snatch_solitaire"  # a phone knows no other
        found = Findings()
        phone = page(s, found)
        phone.start()
        await phone.until(lambda p: p.live)
        await s.engine.stop()
        old = phone.begin(Turn())
        aged(old)
        port = s.gateway.port
        await s.gateway.stop()
        await phone.until(lambda p: not p.live)
        gateway = await s.another_gateway(port=port)
        assert gateway.port == port
        other = await s.another_engine("e2")
        await other.claim(epoch=2)
        await phone.until(lambda p: p.live)
        with pytest.raises(Stale):
            await old.answer
        new = phone.begin(Undo())
        await new.answer
        phone.stop()
        assert [(id, body) for _, id, body in table.decided] == [(1, new.data())]
