"""A gateway asks pages what they felt, and nothing that they say of it harms anybody."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.gateway import felt
from tests.servers import NatsServer
from tests.services.stage import ROOM, Stage, stage

New = Callable[[], NatsServer]
REPORT = '{"t":"felt","moves":[0,0,0,2,0,0,0,0,0,0,0,0,0,0],"ms":90,"reconnects":1}'


def told(s: Stage, name: str, **labels: str) -> float | None:
    return s.gateway.registry.get_sample_value(f"snatch_gateway_{name}", labels)


async def test_a_page_is_asked_and_what_it_reports_is_counted_for_operators(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(new_nats) as s:
        s.at_table("p1")
        async with s.seated("p1") as phone:
            assert phone.seen[0]["felt"] == 30
            await phone.send(REPORT)
            await phone.move(1)
            await phone.answered(1)
            assert told(s, "felt_reports_total", result="ignored") == 1, "it can't have felt anything so soon"
            with monkeypatch.context() as patch:
                patch.setattr(felt, "EARLY", 0)
                await phone.send(REPORT)
                await phone.move(2)
                await phone.answered(2)
            await phone.send(REPORT)
            await phone.move(3)
            await phone.answered(3)
            assert phone.tags().count("error") == 0
        assert told(s, "felt_move_seconds_count") == 2
        assert told(s, "felt_events_total", what="reconnect") == 1
        assert told(s, "felt_reports_total", result="taken") == 1
        assert told(s, "felt_reports_total", result="ignored") == 2, "the last came too soon"
        assert told(s, "received_total", kind="felt") == 3


async def test_nonsense_is_ignored_and_its_sender_plays_on(new_nats: New, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(felt, "EARLY", 0)
    async with stage(new_nats, moves_per_second=1000) as s:
        s.at_table("p1")
        async with s.seated("p1") as phone:
            for report in (
                '{"t":"felt","moves":[1],"ms":-5}',
                '{"t":"felt","errors":1000000000000000000000}',
                '{"t":"felt","moves":[9,9,9,9,9,9,9,9,9,9,9,9,9,9],"ms":3}',
            ):
                await phone.send(report)
            await phone.move(1)
            await phone.answered(1)
            assert phone.tags().count("error") == 0
        assert told(s, "felt_reports_total", result="ignored") == 3
        assert told(s, "felt_move_seconds_count") == 0
        assert told(s, "felt_events_total", what="script_error") == 0


async def test_where_nobody_wants_to_know_no_page_is_asked(new_nats: New) -> None:
    async with stage(new_nats, felt_every=0) as s:
        s.at_table("p1")
        async with s.seated("p1") as phone:
            assert "felt" not in phone.seen[0]
            await phone.send(REPORT)
            await phone.move(1)
            await phone.answered(1)
        assert told(s, "felt_reports_total", result="ignored") == 1
        assert told(s, "felt_move_seconds_count") == 0


async def test_a_page_of_the_release_before_says_nothing_and_plays(new_nats: New) -> None:
    async with stage(new_nats) as s:
        table = s.at_table("p1")
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p1"))
            await phone.move(1)
            await phone.answered(1)
        assert table.ids == [1]
        assert told(s, "moves_unanswered_total") == 0
        assert told(s, "moves_pending") == 0
