"""All that an engine counts, by what happened.  No room and no player in a label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from games.registry import GAMES
from servicekit.meters import Key, Meters
from servicekit.ties import Ties
from wire.codes import REFUSALS
from wire.places import PARTITIONS

PHASES = ("setup", "dealing", "countdown", "live", "paused", "scores", "standings")
"""Of tables; `paused`: a live hand that stands still."""
DONE = "done"
"""The result of a move that was not refused."""
ITEMS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
VERDICTS = ("committed", "again", "new fence", "deposed", "halted")
CALLS = ("Open", "Close", "Attach", "View", "Tables")
STATUSES = (
    "OK",
    "FAILED_PRECONDITION",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "INVALID_ARGUMENT",
    "RESOURCE_EXHAUSTED",
    "UNAVAILABLE",
)


Moves = tuple[str, int, list[str]]
"""Of a table in one record: its game, how many were decided, and what was said to those that were refused."""


class EngineMetrics:
    def __init__(self) -> None:
        self.meters = meters = Meters("snatch_engine")
        self.registry = meters.registry
        self.ties = Ties(self.registry)
        self._items = meters.count("items", "Commands, calls and deals taken from partitions' queues.")
        self._moves = meters.counts(
            "moves", "Moves decided, by their result: done, or refused.", game=GAMES, result=(DONE, *REFUSALS)
        )
        self._frames = meters.count("frames", "Frames sent.")
        self._records = meters.count("records", "Records appended.")
        self._bytes = meters.count("record_bytes", "Bytes of records appended.")
        self._turn_s = meters.spread("turn_seconds", "From taking a batch to its frames sent.")
        self._append_s = meters.spread("append_seconds", "From taking a batch to its record's acknowledgement.")
        self._commit_s = meters.spread(
            "move_commit_seconds", "From a move's arrival here to its record's acknowledgement."
        )
        self._frame_s = meters.spread("move_frame_seconds", "From a move's arrival here to its frame sent.")
        self._batch = meters.spread("batch_items", "Items decided in one record.", ITEMS)
        self._beacons = meters.count("beacons", "Beacons sent.")
        self._doubts = meters.counts(
            "append_doubts", "Appends not plainly acknowledged, by what it came to.", verdict=VERDICTS
        )
        self._claims = meters.count("claims", "Partitions claimed and opened.")
        self._claims_lost = meters.count("claims_lost", "Claims that another engine was faster with.")
        self._claim_s = meters.spread("claim_seconds", "From a claim to an open partition.")
        self._recovery_s = meters.spread(
            "recovery_seconds", "From a partition's being found without a living owner to its being open here."
        )
        self._handovers = meters.counts(
            "handovers", "Partitions given to another engine, by whether the offer stood.", result=("offered", "failed")
        )
        self._lost = meters.count("partitions_lost", "Partitions that another engine took, or that a fault ended.")
        self._halts = meters.count("halted", "Partitions halted: an operator must look.")
        self._faults = meters.count("faults", "Faults in rooms, caught.")
        self._busy = meters.count("busy", "Commands and calls sent back because a partition's queue was full.")
        self._calls = meters.counts("calls", "Unary calls, by method and status.", method=CALLS, status=STATUSES)
        self._lease = meters.counts(
            "lease_renewals", "Renewals of the own lease, by result.", result=("renewed", "failed")
        )
        self._wanted = meters.count("bots_wanted", "Times a bot's seat was offered to workers.")
        self._hands = meters.counts(
            "hands",
            "Hands that ended, by how: played to their end, called off as their host left, or with their table.",
            game=GAMES,
            end=("played", "host_left", "closed"),
        )
        self._deals = meters.counts(
            "deals", "Deals that tables asked for; `ready` yes: it was there already.", ready=("yes", "no")
        )
        self._deal_wait_s = meters.spread("deal_wait_seconds", "How long a table waited whose deal was not there yet.")
        self._deal_check_s = meters.spread(
            "deal_check_seconds", "What it took to make a deal and to check that it can be played."
        )
        self._tables = meters.levels("tables", "Tables open here.", game=GAMES, phase=PHASES)
        self._players = meters.levels("players", "Players with a device at tables here.", game=GAMES)
        self._bots = meters.levels("bots", "Bots at tables here.", game=GAMES)
        self._epochs = meters.levels(
            "partition_epoch",
            "The epoch of each partition that is open here: one more each time that it is taken.",
            always=False,
            partition=map(str, range(PARTITIONS)),
        )
        gauges = meters.level
        self._levels = {
            "partitions_open": gauges("partitions_open", "Partitions served here."),
            "partitions_halted": gauges("partitions_halted", "Partitions that stand still until an operator looks."),
            "tables_quiet": gauges(
                "tables_quiet", "Live hands with players, not paused, in which no move was done for two minutes."
            ),
            "tables_capacity": gauges("tables_capacity", "Tables that this engine is set to hold."),
            "busy_ratio": gauges("busy_ratio", "Share of a core that it used in the last 10 s."),
            "strained": gauges("strained", "1 while it has no time for more tables, and new rooms go elsewhere."),
            "queue_depth": gauges("queue_depth", "Items waiting in partitions' queues."),
            "append_waiting_seconds": gauges(
                "append_waiting_seconds", "How long the oldest append under way has waited."
            ),
            "deals_ready": gauges("deals_ready", "Checked deals in stock."),
            "deals_awaited": gauges("deals_awaited", "Tables that wait for a deal now."),
            "peers_alive": gauges("peers_alive", "Other engines alive."),
            "log_bytes": gauges("log_bytes", "Bytes of the log, all partitions': the same at each engine."),
            "log_limit_bytes": gauges(
                "log_limit_bytes", "Bytes beyond which the log takes no record; 0: any. The same at each engine."
            ),
            "log_records": gauges("log_records", "Records in the log, the same at each engine."),
            "log_copies": gauges(
                "log_copies",
                "Copies of the log that are up to date: NATS servers with it. The same at each engine.",
            ),
            "log_copies_wanted": gauges("log_copies_wanted", "Copies that it is set to have."),
        }

    def watch(self, **levels: Callable[[], float]) -> None:
        """Gauges that are read when they are scraped."""
        for name, read in levels.items():
            self._levels[name].read = read

    def watch_tables(self, read: Callable[[], TablesSeen]) -> None:
        """Asked once a scrape, for all that is said of tables."""
        seen = _Once(read)
        self._tables.read = lambda: seen.fresh().tables
        self._players.read = lambda: seen.last.players
        self._bots.read = lambda: seen.last.bots
        self._levels["tables_quiet"].read = lambda: seen.last.quiet

    def watch_epochs(self, read: Callable[[], Mapping[str, int]]) -> None:
        """By partition."""
        self._epochs.read = lambda: {(partition,): epoch for partition, epoch in read().items()}

    def turn(self, items: int, moves: Iterable[Moves], frames: int, seconds: float) -> None:
        for game, count, refused in moves:
            self._moves.add(game, DONE, by=count - len(refused))
            for code in refused:
                self._moves.add(game, code)
        self._frames.value += frames
        if items:
            self._items.value += items
            self._turn_s.observe(seconds)
            self._batch.observe(items)

    def moves_answered(self, arrived: list[float], committed: float, told: float) -> None:
        """All of one record, by the loop's clock."""
        commit, frame = self._commit_s, self._frame_s
        for at in arrived:
            commit.observe(committed - at)
            frame.observe(told - at)

    def appended(self, seconds: float, size: int) -> None:
        self._append_s.observe(seconds)
        self._records.value += 1
        self._bytes.value += size

    def append_doubted(self, verdict: str) -> None:
        self._doubts.add(verdict)

    def claimed(self, seconds: float) -> None:
        self._claims.value += 1
        self._claim_s.observe(seconds)

    def claim_lost(self) -> None:
        self._claims_lost.value += 1

    def recovered(self, seconds: float) -> None:
        self._recovery_s.observe(seconds)

    def handed_over(self, *, offered: bool) -> None:
        self._handovers.add("offered" if offered else "failed")

    def partition_lost(self) -> None:
        self._lost.value += 1

    def halted(self) -> None:
        self._halts.value += 1

    def faulted(self) -> None:
        self._faults.value += 1

    def sent_back(self) -> None:
        """A queue was full."""
        self._busy.value += 1

    def called(self, method: str, status: str) -> None:
        self._calls.add(method, status)

    def lease_renewed(self, done: bool) -> None:
        self._lease.add("renewed" if done else "failed")

    def beacon_sent(self) -> None:
        self._beacons.value += 1

    def bot_wanted(self) -> None:
        self._wanted.value += 1

    def hand_ended(self, game: str, end: str) -> None:
        self._hands.add(game, end)

    def dealt(self, seconds: float, ready: bool) -> None:
        self._deals.add("yes" if ready else "no")
        if not ready:
            self._deal_wait_s.observe(seconds)

    def deals_checked(self, count: int, seconds: float) -> None:
        """`seconds`: of each."""
        for _ in range(count):
            self._deal_check_s.observe(seconds)


class TablesSeen(NamedTuple):
    """What there is at this engine's tables."""

    tables: Mapping[Key, int]
    """By game and phase."""
    players: Mapping[Key, int]
    """By game, as bots."""
    bots: Mapping[Key, int]
    quiet: int


class _Once:
    """Several gauges of one look."""

    def __init__(self, look: Callable[[], TablesSeen]) -> None:
        self._look = look
        self.last = TablesSeen({}, {}, {}, 0)

    def fresh(self) -> TablesSeen:
        self.last = self._look()
        return self.last
