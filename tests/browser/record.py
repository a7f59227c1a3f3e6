"""Everything that a page showed of its table, and how each own move showed in the next frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec
from playwright.async_api import Page

from games.snatch_solitaire.messages import EndHand, Move, ToMiddle, ToWork, Turn, Undo
from tests.browser.phone_page import READ, Seen

_RECORD = f"({Path(__file__).with_name('record_table.js').read_text()})({READ})"
DECK = 52


class Made(msgspec.Struct):
    """Moves that were sent between two frames."""

    made: list[Move]
    before: Seen
    after: Seen | None
    """In the next frame; None: the hand had been seen to end by then."""
    touched: int
    """Frames since the last touch, click or key: 0 for a move that is made at once."""
    quiet: bool
    """The page was told nothing in between: all that changed is of its own making."""
    flips: list[str]
    """Of the turned pile and the snatch pile, which were in motion in the next frame."""


class Trouble(msgspec.Struct):
    """What was said of the line in a live hand, and how many ms nothing had been heard by then."""

    text: str
    silence: float


class Record(msgspec.Struct):
    """`steps`: each state that was shown, in order."""

    steps: list[Seen]
    moves: list[Made]
    troubles: list[Trouble]


async def record(page: Page) -> None:
    """From the page's next load on.  After `Line.of`, whose WebSockets it then counts."""
    await page.add_init_script(_RECORD)


async def recorded(page: Page) -> Record:
    return msgspec.convert(await page.evaluate("window.tableRecord"), Record, strict=False)


async def moves_made(page: Page) -> int:
    """How many own moves have been made, and have had their frame."""
    count: int = await page.evaluate("window.tableRecord.moves.flatMap(m => m.made).length")
    return count


def shows(move: Move, made: Made) -> str | None:
    """What is wrong with how this move showed in the next frame; None: nothing."""
    before, after = made.before, made.after
    if after is None:
        return "the table was gone"
    match move:
        case Turn() if before.in_stock > 0:
            if (after.in_stock, after.in_turned) != (before.in_stock - 1, before.in_turned + 1):
                return "the stock didn't turn"
            if after.turned is None and "turned" not in made.flips:
                return "the card that nobody knows yet didn't begin to flip"
        case Turn():
            if (after.in_stock, after.in_turned) != (before.in_turned, 0):
                return "the turned pile didn't turn over"
        case ToMiddle(card=card, src=src):
            if card in _own(after):
                return f"{card} lies where it lay"
            if card not in after.flying:
                return f"{card} is nowhere"
            if src == "snatch" and after.snatch is None and _under(before) and "snatch" not in made.flips:
                return "the snatch card that was uncovered didn't begin to flip"
        case ToWork(card=card, src=src, to=to):
            if card not in after.work[to]:
                return f"{card} is not on work pile {to}"
            if _own(after)[card] != 1:
                return f"{card} is there twice"
            if src == "snatch" and after.snatch is None and _under(before) and "snatch" not in made.flips:
                return "the snatch card that was uncovered didn't begin to flip"
        case Undo():
            if after.undo:
                return "undo is still offered"
            if after.own == before.own:
                return "nothing was taken back"
        case EndHand():
            pass
    return None


def whole(step: Seen, placed: Iterable[str]) -> str | None:
    """What is wrong with the own cards of this state, given what lies in the middle of them; None: nothing.

    A card on its way to the middle from the snatch pile still counts there.
    """
    placed = list(placed)
    known = _own(step) + Counter(card for card in step.flying if card is not None)
    twice = [card for card, count in (known + Counter(placed)).items() if count > 1]
    if twice:
        return f"{', '.join(twice)} twice"
    lying = step.left + step.in_stock + step.in_turned + sum(map(len, step.work)) + len(placed)
    if not lying <= DECK <= lying + len(step.flying):
        return f"{lying} cards and {len(step.flying)} on their way"
    return None


def _own(seen: Seen) -> Counter[str]:
    """The own cards whose faces lie somewhere, how often each."""
    lying = [seen.snatch, seen.turned, *(card for pile in seen.work for card in pile)]
    return Counter(card for card in lying if card is not None)


def _under(before: Seen) -> bool:
    """There is a card under the snatch pile's top."""
    return before.left - len(before.flying) > 1
