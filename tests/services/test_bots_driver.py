"""A bot at its seat: when it looks, what it sends, and when it keeps its hands off."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import pairwise

import pytest

from games.snatch_solitaire.game import GAME
from services.bots.agenda import Agenda, Looker
from tests.services.bots_table import TwinTable
from wire import client_out, frames


def live(*levels: str) -> TwinTable:
    table = TwinTable(*levels)
    table.new_game()
    table.deal()
    table.go()
    return table


def sent(table: TwinTable) -> int:
    return sum(len(line.sent) for line in table.lines)


def pauses(table: TwinTable, seat: int, since: int = 0) -> Iterator[float]:
    """Between one move and the next, in ms."""
    times = [at for at, _ in table.lines[seat].sent[since:]]
    return (b - a for a, b in pairwise(times))


def test_bots_play_a_hand_with_views_that_are_always_the_engines() -> None:
    table = live("hard", "medium", "easy")
    for _ in range(600):
        table.clock.pass_ms(200)
        for seat in table.seats:
            assert table.drivers[seat].view == GAME.view(table.state, seat)
        if table.phase != "live":
            break
    assert sent(table) > 50
    assert set(table.refused) <= {"snatched", "no_pile"}
    assert all(driver.seq == table.seq for driver in table.drivers)


def test_a_bot_that_comes_in_mid_hand_plays_on_from_its_snapshot() -> None:
    table = live("hard")
    table.clock.pass_ms(10_000)
    before = sent(table)
    table.drivers[0].on_waiting()
    table.clock.pass_ms(60_000)
    assert sent(table) == before
    table.snapshot(0)
    table.clock.pass_ms(10_000)
    assert sent(table) > before
    assert table.drivers[0].view == GAME.view(table.state, 0)


def test_no_bot_moves_before_snatch() -> None:
    table = TwinTable("hard", "hard")
    table.clock.pass_ms(10_000)
    table.new_game()
    table.clock.pass_ms(10_000)
    table.deal()
    table.clock.pass_ms(10_000)
    assert sent(table) == 0
    assert table.clock.waiting == 0


def test_a_bot_waits_its_levels_pause_before_its_first_move() -> None:
    table = live("hard")
    start = table.clock.now() * 1000
    table.clock.pass_ms(5_000)
    assert table.lines[0].sent[0][0] - start >= 700


@pytest.mark.parametrize(("level", "shortest"), [("easy", 2200), ("medium", 1300), ("hard", 700)])
def test_a_bot_never_plays_faster_than_its_level(level: str, shortest: int) -> None:
    table = live(level)
    table.clock.pass_ms(60_000)
    assert len(table.lines[0].sent) > 5
    assert min(pauses(table, 0)) >= shortest - 1


def test_nothing_moves_in_a_pause_and_the_bot_goes_on_after_with_what_was_left() -> None:
    straight, paused = live("hard"), live("hard")
    for table in (straight, paused):
        table.clock.pass_ms(5_000)
    assert [m for _, m in straight.lines[0].sent] == [m for _, m in paused.lines[0].sent]
    before = sent(paused)
    paused.pause()
    paused.clock.pass_ms(120_000)
    assert sent(paused) == before
    assert paused.clock.waiting == 0
    paused.resume()
    for table in (straight, paused):
        table.clock.pass_ms(5_000)
    moved = [(round(at), move) for at, move in straight.lines[0].sent]
    assert [(round(at) - (120_000 if n >= before else 0), m) for n, (at, m) in enumerate(paused.lines[0].sent)] == moved
    assert sent(paused) > before


def test_a_pause_that_a_snapshot_shows_is_a_pause() -> None:
    table = live("hard")
    table.paused = True
    table.snapshot(0)
    table.clock.pass_ms(60_000)
    assert sent(table) == 0
    table.paused = False
    table.snapshot(0)
    table.clock.pass_ms(10_000)
    assert sent(table) > 0


def test_a_hand_that_ends_drops_all_plans_and_five_rematches_keep_the_pace() -> None:
    table = TwinTable("hard", "medium")
    for _ in range(6):
        table.new_game()
        table.deal()
        start = [len(line.sent) for line in table.lines]
        table.go()
        begun = table.clock.now() * 1000
        table.clock.pass_ms(8_000)
        for seat, shortest in ((0, 700), (1, 1300)):
            line = table.lines[seat].sent
            assert len(line) > start[seat]
            assert line[start[seat]][0] - begun >= shortest
            assert min(pauses(table, seat, start[seat]), default=shortest) >= shortest - 1
            assert len(line) - start[seat] <= 8_000 / shortest
        table.end_hand()
        assert table.clock.waiting == 0
        table.tell(client_out.Setup())
    assert "not_live" not in table.refused


def test_a_bot_does_not_look_again_before_its_move_is_answered() -> None:
    table = live("hard")
    table.lines[0].holding = True
    table.clock.pass_ms(60_000)
    assert len(table.lines[0].sent) == 1
    table.lines[0].answer()
    table.clock.pass_ms(0)
    table.lines[0].holding = False
    table.clock.pass_ms(5_000)
    assert len(table.lines[0].sent) > 1


def test_a_bot_without_cards_only_watches() -> None:
    table = TwinTable("hard", "hard")
    table.state = GAME.open([0], GAME.spec.options_type())
    table.tell(client_out.Seated([0]))
    table.seats = [0]
    table.deal()
    table.go()
    table.clock.pass_ms(10_000)
    assert table.lines[0].sent
    assert not table.lines[1].sent


def test_a_level_that_the_host_sets_changes_the_pace() -> None:
    table = TwinTable("hard")
    table.tell(client_out.Renamed(client_out.Member(0, "b0", "Bot", 0, bot="easy")))
    table.new_game()
    table.deal()
    table.go()
    table.clock.pass_ms(30_000)
    assert min(pauses(table, 0)) >= 2199


@pytest.mark.parametrize("body", [b"", b"{", b'{"n":1}', b'{"n":1,"seq":1,"steps":[{"ev":[{"t":"sorcery"}]}]}'])
def test_a_bot_that_cannot_read_its_table_lets_go(body: bytes) -> None:
    table = live("hard")
    table.drivers[0].on_frame(frames.TABLE, body)
    assert table.ended == [(0, "unreadable")]
    table.clock.pass_ms(10_000)
    assert sent(table) == 0


def test_a_closed_table_and_a_seat_taken_over_are_let_go() -> None:
    table = live("hard", "hard", "hard")
    table.drivers[1].on_taken_over()
    table.drivers[2].on_no_table()
    assert table.ended == [(1, "taken_over"), (2, "no_table")]
    table.tell(client_out.Closed("host_left"))
    assert table.ended[2:] == [(0, "closed")]
    table.clock.pass_ms(10_000)
    assert sent(table) == 0


def test_fields_that_a_newer_engine_adds_are_passed_over() -> None:
    table = live("hard")
    table.drivers[0].on_frame(frames.TABLE, b'{"t":"table","n":9,"seq":1,"new":1,"steps":[{"ev":[],"new":2}]}')
    assert not table.ended


class Noter(Looker):
    def __init__(self, done: list[str], name: str, last: asyncio.Event | None = None) -> None:
        self._done, self._name, self._last = done, name, last

    def look(self, late: float) -> None:
        assert late >= 0
        self._done.append(self._name)
        if self._name == "stumbles":
            raise RuntimeError(self._name)
        if self._last is not None:
            self._last.set()


async def test_the_agenda_calls_in_order_moves_entries_and_survives_a_stumble() -> None:
    done: list[str] = []
    failed: list[Looker] = []
    agenda, over = Agenda(failed.append), asyncio.Event()
    first, second, dropped = Noter(done, "first"), Noter(done, "second"), Noter(done, "dropped")
    stumbles, last = Noter(done, "stumbles"), Noter(done, "last", over)
    now = agenda.now()
    agenda.put(now + 0.02, first)
    agenda.put(now + 0.03, dropped)
    agenda.put(now + 0.001, second)
    agenda.put(now + 0.04, second)
    agenda.put(now + 0.05, stumbles)
    agenda.put(now + 0.06, last)
    agenda.drop(dropped)
    async with asyncio.timeout(10):
        await over.wait()
    assert done == ["first", "second", "stumbles", "last"]
    assert failed == [stumbles]
    assert len(agenda) == 0
    agenda.close()


async def test_more_looks_than_fit_in_a_row_all_come() -> None:
    done: list[str] = []
    over = asyncio.Event()
    agenda = Agenda(lambda _: None)
    many = [Noter(done, str(n)) for n in range(200)]
    now = agenda.now()
    for noter in many:
        agenda.put(now, noter)
    agenda.put(now + 0.0001, Noter(done, "last", over))
    async with asyncio.timeout(10):
        await over.wait()
    assert len(done) == 201
    agenda.close()
