"""What `snatch top` shows, worked out of two readings: the dashboards' sections, and a row for each process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from stack.top_readings import Between, Process

Mood = Literal["", "warn", "bad"]

SLOW = 0.1
"""Seconds within which moves are to be answered: docs/operations.md, “Alerts”."""
NEARLY_ALL = 0.8
"""Of what there is place for: time to think of more."""
STALLED = 5.0
"""Seconds that a record may wait for the log."""
LAGS = 0.05
"""Seconds that an event loop may be late."""
LATE = 0.25
"""Seconds that a bot may be late."""
NAMED = 4
"""Kinds of refusals that are named."""
PARTITIONS = 64


@dataclass(frozen=True)
class Figure:
    """`key` names it in plain lines; those without one are for screens alone."""

    label: str
    text: str
    mood: Mood = ""
    key: str = ""


@dataclass(frozen=True)
class Section:
    title: str
    figures: list[Figure]


@dataclass(frozen=True)
class Row:
    """A process; `doing` is what its kind does, `has` the number that says most of it: partitions, sockets, seats."""

    process: Process
    cpu: float | None
    """Share of a core."""
    memory: float | None
    """Bytes."""
    lag: float | None
    """Seconds."""
    doing: str
    has: float | None = None
    mood: Mood = ""
    amiss: str = ""


@dataclass(frozen=True)
class Figures:
    sections: list[Section]
    rows: list[Row]
    seconds: float
    """Over which rates are taken; 0: there are none yet."""

    def amiss(self) -> dict[str, str]:
        """What is not as it should be, and how it is; what is worst first."""
        found = [(f.mood, f"{s.title}: {f.label}", f.text) for s in self.sections for f in s.figures if f.mood]
        found += [(row.mood, row.process.name, row.amiss) for row in self.rows if row.mood]
        return {what: how for _, what, how in sorted(found, key=lambda item: item[0] != "bad")}


def figures(b: Between) -> Figures:
    sections = [_players(b), _engines(b), _sockets(b), _bots(b), _capacity(b)]
    rows = [_row(b, p) for p in sorted({*b.now.said, *b.now.silent}, key=_order)]
    return Figures(sections, rows, b.seconds)


def _order(process: Process) -> tuple[int, str, int, str]:
    kinds = ("gateway", "rooms", "engine", "bots", "watch")
    kind, name = process
    number = name.rpartition("-")[2]
    return kinds.index(kind) if kind in kinds else 9, kind, int(number) if number.isdigit() else 0, name


# ---- the dashboards -----------------------------------------------------------


def _players(b: Between) -> Section:
    move, felt = "snatch_gateway_move_seconds", "snatch_gateway_felt_move_seconds"
    results = b.rates("snatch_engine_moves_total", "result")
    moves, done = sum(results.values()), results.pop("done", 0.0)
    p99, within = b.quantile(0.99, move), b.share_within(SLOW, move)
    phases = {p: b.level("snatch_engine_tables", phase=p) for p in ("live", "paused", "setup", "scores", "standings")}
    quiet = b.level("snatch_engine_tables_quiet")
    lost = b.rate("snatch_engine_hands_total", end="closed")
    return Section(
        "Players",
        [
            Figure("at tables", number(b.level("snatch_gateway_seats")), key="players"),
            Figure("rooms", number(max(b.levels("snatch_rooms_open"), default=0.0)), key="rooms"),
            Figure("tables", ", ".join(f"{number(n)} {p}" for p, n in phases.items() if n) or "none"),
            Figure("quiet for 2 min", number(quiet), "warn" if quiet > max(2, phases["live"] / 10) else ""),
            Figure("moves/s", rate(moves), key="moves/s"),
            Figure("p50", seconds(b.quantile(0.5, move)), key="p50"),
            Figure("p99", seconds(p99), "warn" if p99 is not None and p99 > SLOW else "", key="p99"),
            Figure("within 100 ms", share(within), "warn" if within is not None and within < 0.999 else ""),
            Figure("felt p50", seconds(b.quantile(0.5, felt))),
            Figure("felt p99", seconds(b.quantile(0.99, felt))),
            Figure("refused/s", _some(results) or rate(0)),
            Figure("refused", share((moves - done) / moves if moves else None), key="refused"),
            Figure("reconnects/s", rate(b.rate("snatch_gateway_felt_events_total", what="reconnect"))),
            _unless_none("script errors/s", b.rate("snatch_gateway_felt_events_total", what="script_error"), "warn"),
            _unless_none("hands lost/s", lost, "bad"),
        ],
    )


def _engines(b: Between) -> Section:
    append, name = "snatch_engine_append_seconds", "snatch_engine_partitions_open"
    served, waits = b.level(name), max(b.levels("snatch_engine_append_waiting_seconds"), default=0.0)
    halted = b.level("snatch_engine_partitions_halted")
    doubts = b.rates("snatch_engine_append_doubts_total", "verdict")
    redis = any(b.levels("snatch_rooms_redis_away"))
    nats = len([c for c in b.levels("snatch_nats_connected") if not c])
    return Section(
        "Engines and the log",
        [
            Figure("partitions", f"{number(served)} of {PARTITIONS}", "" if served >= PARTITIONS else "bad"),
            Figure("halted", number(halted), "bad" if halted else ""),
            Figure("records/s", rate(b.rate("snatch_engine_records_total"))),
            Figure("append p99", seconds(b.quantile(0.99, append)), key="append_p99"),
            Figure("oldest waits", seconds(waits), "bad" if waits > STALLED else ""),
            Figure("doubts/s", _some(doubts) or rate(0)),
            Figure("claims/s", rate(b.rate("snatch_engine_claims_total"))),
            Figure("hand-overs/s", rate(b.rate("snatch_engine_handovers_total")), key="handovers/s"),
            Figure("recovery p99", seconds(b.quantile(0.99, "snatch_engine_recovery_seconds"))),
            Figure("queued", number(b.level("snatch_engine_queue_depth"))),
            Figure("sent back/s", rate(b.rate("snatch_engine_busy_total"))),
            Figure("deals in stock", number(b.level("snatch_engine_deals_ready"))),
            Figure("deals waited for", _deals_waited(b)),
            _unless_none("faults/s", b.rate("snatch_engine_faults_total"), "bad"),
            Figure("NATS", f"away from {nats} processes" if nats else "there", "bad" if nats else ""),
            Figure("Redis", "away" if redis else "there", "bad" if redis else ""),
        ],
    )


def _deals_waited(b: Between) -> str:
    asked = b.rate("snatch_engine_deals_total")
    return share(b.rate("snatch_engine_deals_total", ready="no") / asked if asked else None)


def _sockets(b: Between) -> Section:
    closed = b.rates("snatch_gateway_closed_total", "code")
    unsent = b.level("snatch_gateway_unsent_bytes") + b.level("snatch_watch_unsent_bytes")
    evicted = b.rates("snatch_gateway_evicted_total", "why")
    return Section(
        "Sockets",
        [
            Figure("players'", number(b.level("snatch_gateway_sockets")), key="sockets"),
            Figure("TVs'", number(b.level("snatch_watch_sockets")), key="tvs"),
            Figure("messages/s", rate(b.rate("snatch_gateway_received_total"))),
            Figure("frames/s", rate(b.rate("snatch_gateway_frames_sent_total"))),
            Figure("bytes/s", size(b.rate("snatch_gateway_frame_bytes_total"))),
            Figure("unsent", size(unsent)),
            Figure("closed/s", _some(closed) or rate(0)),
            Figure("ended by us/s", _some(evicted) or rate(0)),
            Figure("held back/s", rate(b.rate("snatch_gateway_throttled_total"))),
            Figure("sent again/s", rate(b.rate("snatch_gateway_commands_sent_again_total"))),
            Figure("streams broken/s", rate(b.rate("snatch_gateway_commands_broken_streams_total"))),
        ],
    )


def _bots(b: Between) -> Section:
    driven, capacity = b.level("snatch_bots_seats"), b.level("snatch_bots_capacity")
    late = b.quantile(0.99, "snatch_bots_look_late_seconds")
    return Section(
        "Bots",
        [
            Figure("driven", f"{number(driven)} of {number(capacity)}", _use(driven, capacity), key="bots"),
            Figure("late p99", seconds(late), "warn" if late is not None and late > LATE else "", key="bots_late"),
            Figure("moves/s", rate(b.rate("snatch_bots_moves_total"))),
            Figure("wanted/s", rate(b.rate("snatch_engine_bots_wanted_total"))),
            Figure("let go/s", _some(b.rates("snatch_bots_let_go_total", "why")) or rate(0)),
        ],
    )


def _capacity(b: Between) -> Section:
    rooms = max(b.levels("snatch_rooms_open"), default=0.0)
    most = max((m for m in b.levels("snatch_rooms_capacity") if math.isfinite(m)), default=math.inf)
    cpu, players = b.rate("process_cpu_seconds_total"), b.level("snatch_gateway_seats")
    moves = b.rate("snatch_gateway_move_seconds_count")
    refused = b.rates("snatch_rooms_no_place_total", "what")
    strained = b.level("snatch_engine_strained")
    return Section(
        "Capacity",
        [
            Figure("rooms", f"{number(rooms)} of {number(most)}", _use(rooms, most)),
            Figure("refused/s", _some(refused) or rate(0), "bad" if "room" in refused else "", key="no_place/s"),
            Figure("engines without time", number(strained), "warn" if strained else ""),
            Figure("cores used", f"{cpu:.2f}" if b.seconds else "–", key="cores"),
            Figure("players a core", number(players / cpu) if cpu and players else "–"),
            Figure("CPU a move", f"{cpu / moves * 1e6:,.0f} µs" if moves else "–"),
        ],
    )


def _use(used: float, most: float) -> Mood:
    return "bad" if most and used >= most else "warn" if most and used >= NEARLY_ALL * most else ""


def _unless_none(label: str, a_second: float, mood: Mood) -> Figure:
    """What should never be."""
    return Figure(label, rate(a_second), mood if a_second > 0 else "")


# ---- processes ----------------------------------------------------------------


def _row(b: Between, process: Process) -> Row:
    why = b.now.silent.get(process)
    if why is not None:
        return Row(process, None, None, None, why, mood="bad", amiss=why)
    said = b.now.said[process]
    lag = max((s.value for s in said.get("snatch_event_loop_lag_recent_seconds", ())), default=None)
    memory = b.level("process_resident_memory_bytes", process) or None
    cpu = b.rate("process_cpu_seconds_total", process) if b.seconds else None
    doing, has = _doing(b, process)
    late = lag is not None and lag > LAGS
    amiss = f"its event loop is {seconds(lag)} late" if late else ""
    return Row(process, cpu, memory, lag, doing, has, "warn" if late else "", amiss)


def _doing(b: Between, process: Process) -> tuple[str, float | None]:
    """In words, and the number of it."""

    def has(name: str) -> float:
        return b.level(name, process)

    def a_second(name: str) -> str:
        return rate(b.rate(name, process))

    match process.kind:
        case "gateway":
            sockets = has("snatch_gateway_sockets")
            return f"{number(sockets)} sockets, {a_second('snatch_gateway_frames_sent_total')} frames/s", sockets
        case "rooms":
            return f"{a_second('snatch_rooms_calls_total')} calls/s", None
        case "engine":
            partitions = has("snatch_engine_partitions_open")
            tables, moves = number(has("snatch_engine_tables")), a_second("snatch_engine_moves_total")
            strained = ", no time for more" if has("snatch_engine_strained") else ""
            return f"{number(partitions)} partitions, {tables} tables, {moves} moves/s{strained}", partitions
        case "bots":
            late = seconds(b.quantile(0.99, "snatch_bots_look_late_seconds", process))
            seats = has("snatch_bots_seats")
            return f"{number(seats)} seats, late p99 {late}", seats
        case "watch":
            sockets = has("snatch_watch_sockets")
            return f"{number(sockets)} TVs, {a_second('snatch_watch_frames_sent_total')} frames/s", sockets
    return "", None


# ---- in words -----------------------------------------------------------------


def number(n: float) -> str:
    """A count.

    >>> number(1234567), number(math.inf)
    ('1,234,567', 'any')
    """
    return f"{n:,.0f}" if math.isfinite(n) else "any"


def rate(a_second: float) -> str:
    """
    >>> rate(0), rate(0.031), rate(3.14159), rate(1234.5)
    ('0', '0.03', '3.1', '1,234')
    """
    if a_second == 0:
        return "0"
    return f"{a_second:.2f}" if a_second < 1 else f"{a_second:.1f}" if a_second < 100 else f"{a_second:,.0f}"


def seconds(s: float | None) -> str:
    """
    >>> seconds(None), seconds(0.00042), seconds(0.0142), seconds(2.5)
    ('–', '0.42 ms', '14 ms', '2.5 s')
    """
    if s is None:
        return "–"
    ms = 1000 * s
    return f"{s:.1f} s" if s >= 1 else f"{ms:.0f} ms" if ms >= 10 or ms == 0 else f"{ms:.2g} ms"


def share(part: float | None) -> str:
    """
    >>> share(None), share(0.99987), share(0.123)
    ('–', '99.99 %', '12.3 %')
    """
    if part is None:
        return "–"
    return f"{100 * part:.2f} %" if 0.99 <= part < 1 else f"{100 * part:.3g} %"


def size(n: float) -> str:
    """
    >>> size(0), size(1536), size(73_400_320)
    ('0 B', '1.5 KB', '73 MB')
    """
    for unit in ("B", "KB", "MB"):
        if n < 1000:
            return f"{n:.2g} {unit}" if n < 10 and unit != "B" else f"{n:.0f} {unit}"
        n /= 1000
    return f"{n:.1f} GB"


def _some(rates: dict[str, float]) -> str:
    """The most frequent, by name."""
    named = list(rates.items())[:NAMED]
    return ", ".join(f"{rate(a_second)} {name}" for name, a_second in named)
