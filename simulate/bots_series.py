"""Many hands of one kind, and who won how many of them."""

from __future__ import annotations

import hashlib
import math
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice, pairwise
from statistics import mean, median
from typing import NamedTuple

from simulate.bots_hand import Hand, play

LEVELS = ("easy", "medium", "hard")
DUELS: tuple[tuple[str, ...], ...] = tuple((level,) for level in LEVELS)
"""The tables of a person and one bot."""
TOGETHER = LEVELS
"""The table of a person and all three."""
SURE = 1.96
"""Standard deviations within which 95 of 100 lie."""


class Job(NamedTuple):
    """One hand to be played; as `bots_hand.play` takes it."""

    seed: int
    shift: int
    levels: tuple[str, ...]
    pace: str


class Series(NamedTuple):
    """`hands` at one table; seat 0 is the person."""

    pace: str
    levels: tuple[str, ...]
    hands: Sequence[Hand]

    def won(self, seat: int) -> int:
        """Hands that this seat won alone."""
        return sum(hand.winners == (seat,) for hand in self.hands)

    @property
    def shared(self) -> int:
        return sum(len(hand.winners) > 1 for hand in self.hands)

    def ahead_early(self, seat: int) -> int:
        """Hands in which this seat alone had the fewest cards left when two minutes had passed."""
        return sum(
            hand.early.count(min(hand.early)) == 1 and hand.early[seat] == min(hand.early) for hand in self.hands
        )

    def left(self, seat: int) -> float:
        """Cards left in its snatch pile at the end, in the mean."""
        return mean(hand.left[seat] for hand in self.hands)

    @property
    def seconds(self) -> float:
        """Of play, the median."""
        return median(hand.seconds for hand in self.hands)


def jobs(levels: tuple[str, ...], pace: str, hands: int, seed: int) -> Iterator[Job]:
    """Each deal is played once from every side, so that luck with the cards evens out.

    The same seed gives the same decks whatever the levels and the pace.
    """
    seats = len(levels) + 1
    for number in range(hands):
        yield Job(seed + number // seats, number % seats, levels, pace)


def series(
    tables: Sequence[tuple[str, ...]],
    paces: Sequence[str],
    hands: int,
    seed: int,
    processes: int = 1,
    done: Callable[[Series], None] = lambda _: None,
) -> list[Series]:
    """All tables at all paces; `done` hears of each as soon as it is played."""
    kinds = [(pace, levels) for pace in paces for levels in tables]
    work = [job for pace, levels in kinds for job in jobs(levels, pace, hands, seed)]
    if processes == 1:
        return _gathered(kinds, hands, map(one, work), done)
    # Not forked: the gRPC that the engine's messages bring along has threads of its own.
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        return _gathered(kinds, hands, pool.map(one, work, chunksize=10), done)


def _gathered(
    kinds: Sequence[tuple[str, tuple[str, ...]]], hands: int, played: Iterable[Hand], done: Callable[[Series], None]
) -> list[Series]:
    found: list[Series] = []
    hand = iter(played)
    for pace, levels in kinds:
        found.append(Series(pace, levels, list(islice(hand, hands))))
        done(found[-1])
    return found


def one(job: Job) -> Hand:
    """Play it."""
    return play(*job)


def fingerprint() -> str:
    """Of the first hands of each level: another one says that bots, people or rules play otherwise than before."""
    first = [one(job) for levels in DUELS for job in jobs(levels, "usual", 2, seed=1)]
    return hashlib.sha256(repr([tuple(hand) for hand in first]).encode()).hexdigest()[:16]


def within(won: int, of: int) -> tuple[float, float]:
    """Between what shares the true one lies, 95 times of 100 (Wilson's score interval).

    >>> [round(share, 3) for share in within(135, 200)]
    [0.607, 0.736]
    """
    share, z = won / of, SURE**2 / of
    middle = (share + z / 2) / (1 + z)
    half = SURE * math.sqrt(share * (1 - share) / of + z / (4 * of)) / (1 + z)
    return middle - half, middle + half


def rising(duels: Sequence[Series]) -> bool:
    """Whether each level wins more hands than the one before it; `duels` at one pace, in the order of LEVELS."""
    won = [duel.won(1) for duel in duels]
    return all(less < more for less, more in pairwise(won))
