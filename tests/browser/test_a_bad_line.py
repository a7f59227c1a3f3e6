"""150 ms more on everything, and 2 % of it a second late: the own moves show at once, and nothing is lost."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from games.snatch_solitaire.events import Dealt
from games.snatch_solitaire.game import GAME
from games.snatch_solitaire.messages import Options, Undo
from services.engine.app import Engine
from services.engine.table import Table
from tests.browser.counting import Counting
from tests.browser.decks import ChosenDeals, with_game
from tests.browser.engines_table import same
from tests.browser.line import Line, bad_line
from tests.browser.pages import Pages, Rare
from tests.browser.phone_page import PATIENCE, PhonePage
from tests.browser.record import Record, moves_made, record, recorded, shows, whole
from tests.browser.restless import Restless
from tests.e2e.inprocess import stack_in_process
from tests.e2e.party import party, until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

MOVES = 100
SOME = 5
"""Moves in a hand before its table is compared."""
SEED = 5
SILENCE = 3000
"""Ms of it before a client that is owed an answer may doubt the line: `DOUBT_AFTER` of link.ts."""


@pytest.fixture(scope="module")
def game() -> Counting:
    return Counting()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def counted(tmp_path_factory: pytest.TempPathFactory, game: Counting) -> AsyncIterator[Rare]:
    deals, games = ChosenDeals(), with_game(game)
    folder = tmp_path_factory.mktemp("counted")
    async with stack_in_process(folder, engine=lambda settings: Engine(settings, games, deals)) as stack:
        yield Rare(stack.url, stack.watch_url, deals)


async def test_a_hundred_moves_on_a_bad_line_show_in_the_next_frame_and_end_as_the_engine_has_it(
    counted: Rare, game: Counting, pages: Pages
) -> None:
    phone, line = await pages.phone_with_line(counted, moving=True, delay=bad_line(SEED))
    await record(phone.page)
    async with party(counted) as people:
        room = people.room = await phone.host("Ann")
        others = [await people.join(name) for name in ("Bo", "Cy")]
        await phone.start(length="to50")
        for other in others:
            await until(other, lambda p: p.screen.table is not None)
        counted.deals.give(room, *decks(len(others) + 1))
        await phone.deal()
        table = counted.deals.tables[room]
        player, wanted = Restless(phone, Random(SEED)), MOVES
        while True:
            await people.live()
            await phone.live()
            playing = asyncio.create_task(people.play(*others, speed=2, level="hard", patience=PATIENCE))
            while await moves_made(phone.page) < wanted and await player.act():
                pass
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
            await all_decided(phone, line, table)
            if table.state.phase == "live":
                break
            # The last move may be the one that ends the hand: then the table to compare is one of the next.
            wanted = max(MOVES, await moves_made(phone.page) + SOME)
            await phone.press("next-hand")
        await same(phone, table)
        found = await recorded(phone.page)
        await phone.page.goto("about:blank")
    singles = [made for made in found.moves if made.quiet and len(made.made) == 1]
    tell(found, line, game, len(singles))
    late = [made for made in found.moves if made.touched > 0 and not any(isinstance(m, Undo) for m in made.made)]
    assert late == []
    assert len(singles) > MOVES / 5
    assert [(made.made[0], wrong) for made in singles if (wrong := shows(made.made[0], made))] == []
    assert cards_shown(found, line) == []
    # A slow line is none that is lost, and nobody is told that it were; on a machine that stood still it was.
    assert [trouble for trouble in found.troubles if trouble.silence < SILENCE] == []
    assert game.wrong == []
    assert game.looks >= MOVES


def decks(seats: int) -> list[str]:
    """A checked deal, always the same."""
    dealt = GAME.deal(range(seats), Options(), Random(SEED))
    assert isinstance(dealt, Dealt)
    return [deck.cards for deck in dealt.decks]


async def all_decided(phone: PhonePage, line: Line, table: Table) -> None:
    """Every move has been decided."""
    me = next(m for m in table.state.members if m.name == "Ann")
    async with asyncio.timeout(PATIENCE / 1000):
        while me.answered < max(said["id"] for said in moves_of(line)):
            await phone.page.wait_for_timeout(50)


def cards_shown(found: Record, line: Line) -> list[str]:
    """What was wrong with the own cards in any state that the page showed."""
    placed = [(0, frozenset[str]())]
    seat = None
    for message in heard(line):
        if message["t"] == "snapshot":
            seat = message["you"]["seat"]
        for step in message.get("steps", ()):
            mine = {ev["card"] for ev in step.get("ev", ()) if ev["t"] == "placed" and ev["seat"] == seat}
            if any(ev["t"] == "dealt" for ev in step.get("ev", ())):
                placed.append((message["seq"], frozenset()))
            if mine:
                placed.append((message["seq"], placed[-1][1] | mine))
    wrong = []
    for step in found.steps:
        if step.phase == "live":
            lying = next(cards for seq, cards in reversed(placed) if seq <= step.seq)
            fault = whole(step, lying)
            if fault is not None:
                wrong.append(f"at {step.seq}: {fault}: {step}")
    return wrong


def tell(found: Record, line: Line, game: Counting, alone: int) -> None:
    """For whoever reads along: times and counts, of which none is asserted."""
    kinds = Counter(type(move).__name__ for made in found.moves for move in made.made)
    refused = Counter(
        no["code"]
        for message in heard(line)
        for no in [message.get("no"), *(step.get("no") for step in message.get("steps", ()))]
        if no
    )
    text = f"{dict(kinds)}, of which {alone} in a frame of their own; refused {dict(refused)}"
    text += f"; {len(found.steps)} states shown, {game.looks} events counted"
    sys.stdout.write(f"\n{text}\n")


def moves_of(line: Line) -> list[dict[str, Any]]:
    return [said for text in line.sent if (said := msgspec.json.decode(text))["t"] == "move"]


def heard(line: Line) -> list[dict[str, Any]]:
    return [msgspec.json.decode(text) for text in line.heard]
