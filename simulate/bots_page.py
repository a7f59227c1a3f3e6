"""What a run of hands found: as lines for a terminal, and as docs/bots.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from games.snatch_solitaire.bot import LEVELS as FIGURES
from simulate.bots_hand import BOT_WAY, PHONE_WAY
from simulate.bots_person import PACES
from simulate.bots_series import DUELS, TOGETHER, Series, fingerprint, rising, within

DUEL = (
    "pace",
    "bot",
    "person wins",
    "bot wins",
    "shared",
    "bot's share",
    "cards left",
    "ahead at 2:00",
    "a hand lasts",
)
USUAL = "usual"
"""The pace that the page begins with."""
RACE = ("pace", "person", "Easy", "Medium", "Hard", "shared")


def text(found: Sequence[Series]) -> str:
    """For a terminal."""
    parts = []
    if duels := _duels(found):
        parts.append(_columns([DUEL, *map(duel_row, duels)]))
    if races := _races(found):
        parts.append("All three at one table, hands won:\n" + _columns([RACE, *map(race_row, races)]))
    return "\n\n".join(parts)


def page(found: Sequence[Series], command: str) -> str:
    """docs/bots.md."""
    return "\n".join(_page(found, command)) + "\n"


def misorders(found: Sequence[Series]) -> list[str]:
    """Paces at which the levels don't come in their order."""
    paces = dict.fromkeys(series.pace for series in found)
    return [pace for pace in paces if not rising([duel for duel in _duels(found) if duel.pace == pace])]


def duel_row(duel: Series) -> tuple[str, ...]:
    """As DUEL names it; `cards left` and `ahead at 2:00` are the person's and the bot's."""
    hands = len(duel.hands)
    low, high = within(duel.won(1), hands)
    return (
        duel.pace,
        duel.levels[0].title(),
        str(duel.won(0)),
        str(duel.won(1)),
        str(duel.shared),
        f"{duel.won(1) / hands:.0%} ({low:.0%} to {high:.0%})",
        f"{duel.left(0):.1f} : {duel.left(1):.1f}",
        f"{duel.ahead_early(0)} : {duel.ahead_early(1)}",
        _clock(duel.seconds),
    )


def race_row(race: Series) -> tuple[str, ...]:
    """As RACE names it."""
    return (race.pace, *(str(race.won(seat)) for seat in range(len(race.levels) + 1)), str(race.shared))


def _duels(found: Sequence[Series]) -> list[Series]:
    return [series for series in found if series.levels in DUELS]


def _races(found: Sequence[Series]) -> list[Series]:
    return [series for series in found if series.levels == TOGETHER]


def _page(found: Sequence[Series], command: str) -> Iterator[str]:
    hands = len(found[0].hands)
    yield from (
        "# Bots",
        "",
        "Who wins how often against an Easy, a Medium and a Hard bot. Made by",
        "",
        f"    {command}",
        "",
        f"which plays {hands} hands for each line of the tables and writes this page; without `--page` it prints them."
        " The same seed plays the same hands. It fails when a better level wins no more than the one below it.",
        "",
        *_in_short(found),
        "## One against one",
    )
    yield from _markdown(DUEL, map(duel_row, _duels(found)))
    yield from (
        "",
        "In brackets: where the true share lies, 95 times of 100. Cards left and who is ahead are person : bot; ahead"
        " at 2:00 is who has fewer cards left after two minutes, or at the end of a hand that was over by then. A"
        " hand's length is the median. Equal cards left share a win.",
        "",
        "## All three at one table",
        "Hands won by each of the four:",
        "",
    )
    yield from _markdown(RACE, map(race_row, _races(found)))
    yield ""
    yield from _played()
    yield from ("", f"<!-- first hands: {fingerprint()} -->")


def _in_short(found: Sequence[Series]) -> Iterator[str]:
    duels = [duel for duel in _duels(found) if duel.pace == USUAL]
    if duels:
        shares = [f"{duel.won(1) / len(duel.hands):.0%}" for duel in duels]
        won = f"Easy wins {shares[0]}, Medium {shares[1]}, Hard {shares[2]}"
        lengths = sorted(duel.seconds for duel in duels)
        yield (
            f"In short: against a person of {USUAL} pace {won} of the hands, which last"
            f" {_clock(lengths[0])} to {_clock(lengths[-1])} in the median."
        )
        yield ""


def played() -> str:
    """The page's end, which says what was played and not what came of it."""
    return "\n".join(_played()) + "\n"


def _played() -> Iterator[str]:
    yield from (
        "## What is played",
        "The engine's own batches decide each move, as they do in production, and the bots are those of the bots"
        " service: its drivers, which read a seat's frames, and the minds of the game. Clock and dice are injected:"
        " nothing waits, and no network is there. Each deal is played from every side, and at each level and pace"
        " with the same decks.",
        "",
        "The person is a script, which sees what its seat's screen shows, takes the first useful move that it"
        " notices, and turns its stock when it notices none. What it decided on is judged again when its finger comes"
        f" down. Its phone is {PHONE_WAY * 1000:.0f} ms from the table, each way, the bots are"
        f" {BOT_WAY * 1000:.0f} ms from it.",
        "",
    )
    yield from _markdown(
        ("person", "plays a card after", "turns its stock after", "notices a move"),
        (
            (name, f"{_range(*pace.play)} s", f"{_range(*pace.turn)} s", f"{pace.notice:.0%}")
            for name, pace in PACES.items()
        ),
    )
    yield ""
    yield from _markdown(
        ("bot", "acts every", "leaves a changed pile alone for", "notices a move"),
        (
            (
                name.title(),
                f"{_range(level.shortest_pause / 1000, level.longest_pause / 1000)} s",
                f"{level.wait / 1000:g} s",
                f"{level.notice:.0%}",
            )
            for name, level in FIGURES.items()
        ),
    )


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _range(low: float, high: float) -> str:
    return f"{low:g} to {high:g}"


def _markdown(head: Sequence[str], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
