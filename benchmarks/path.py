"""A move's path at several sizes, ours and the peer's in turns, so that a busy minute is busy for both."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks import peer, programs
from benchmarks.peer import Mode
from benchmarks.plan import Clock, Plan
from benchmarks.programs import LeftOut
from benchmarks.results import PathFigures, PathRun
from simulate import load_record

OURS = "snatch"
FLAT_OUT = 0.0
RAMP_WITHIN, CHECKED_WITHIN = 240.0, 120.0
"""Seconds for all players to come in, and for start, comparison and end."""
Say = Callable[[str], None]


class Turn(NamedTuple):
    """A run to be made: `engines` of ours, or else the peer in a `mode`."""

    round: int
    players: int
    rate: float
    engines: int = 0
    mode: Mode = "broadcast"

    def __str__(self) -> str:
        who = (
            f"snatch, {self.engines} engine{'s' if self.engines > 1 else ''}" if self.engines else f"peer, {self.mode}"
        )
        pace = f"{self.rate:g}/s each" if self.rate else "flat out"
        return f"{self.players} players {pace}, round {self.round}: {who}"


def turns(plan: Plan) -> Iterator[Turn]:
    """Size by size; within one A B A B, so that what is compared was run in the same minutes.

    What was promised is measured in all rounds, the rest once.
    """
    sizes = [(size, 1.0) for size in plan.sizes]
    if plan.flat:
        sizes.append((plan.flat, FLAT_OUT))
    for players, rate in sizes:
        key = players if rate else 0
        for number in range(1, (plan.rounds if key in plan.often else 1) + 1):
            ours = [Turn(number, players, rate, engines) for engines in plan.engines]
            yield ours[0]
            yield Turn(number, players, rate)
            if number == 1 or key in plan.engines_often:
                yield from ours[1:]
            if number == 1 and key in plan.schema_sizes:
                yield Turn(number, players, rate, mode="schema")


def measure(plan: Plan, clock: Clock, say: Say) -> tuple[PathFigures, list[str]]:
    """All runs; what had to be left out, and why."""
    runs: list[PathRun] = []
    left_out: list[str] = []
    without_peer = ""
    try:
        peer.install()
    except LeftOut as why:
        without_peer = str(why)
        left_out.append(f"all of the peer: {why}")
        say(f"✗ {why}; the path is measured without it")
    for turn in turns(plan):
        if without_peer and not turn.engines:
            continue
        load = round(os.getloadavg()[0], 2)
        try:
            clock.check()
            run = ours(turn, plan) if turn.engines else peers(turn, plan)
        except (LeftOut, OSError, msgspec.MsgspecError) as why:
            left_out.append(f"{turn}: {why}")
            say(f"✗ {turn}: {why}")
            continue
        run.load_before = load
        runs.append(run)
        say(f"{turn}: {told(run)}")
    return PathFigures(runs), left_out


def told(run: PathRun) -> str:
    void = f", VOID: {run.void_why}" if run.void else ""
    amiss = f", LOST {run.lost}, DOUBLED {run.doubled}" if run.lost or run.doubled else ""
    return (
        f"{run.cpu_us_per_move:.0f} µs a move at {run.moves_per_s:.0f}/s,"
        f" p50 {run.p50_ms:.1f} p99 {run.p99_ms:.1f} ms{amiss}{void}"
    )


def ours(turn: Turn, plan: Plan) -> PathRun:
    """By `snatch load`, on a stack of its own.  Raises LeftOut."""
    result = loaded(turn.players, turn.rate, plan, engines=turn.engines)
    own, generators = result.delays["own"], result.generators
    by_kind: dict[str, float] = {}
    for service in result.services.values():
        by_kind[service.kind] = round(by_kind.get(service.kind, 0.0) + service.cpu_us_per_move, 1)
    return PathRun(
        who=OURS,
        mode="",
        engines=turn.engines,
        players=turn.players,
        rate=turn.rate,
        round=turn.round,
        cpu_us_per_move=result.cpu_us_per_move,
        p50_ms=result.p50_ms,
        p99_ms=result.p99_ms,
        p999_ms=own.p999_ms,
        max_ms=own.max_ms,
        lost=result.lost,
        doubled=result.doubled,
        void=result.void,
        void_why="; ".join(result.void_why),
        amiss=result.checks.told[:3],
        moves_per_s=result.rate.achieved,
        server_cores=round(sum(s.cpu for s in result.services.values()), 3),
        server_mb=round(sum(s.memory_mb for s in result.services.values()), 1),
        grown_mb=round(sum(grown(result, s) for s in result.services.values()), 1),
        cpu_by_kind=by_kind,
        generator_cores=max((g.cpu for g in generators), default=0.0),
        generator_lag_p99_ms=max((g.lag_p99_ms for g in generators), default=0.0),
        load_before=0.0,
    )


def grown(result: load_record.Result, service: load_record.Service) -> float:
    """MB that a part grew by, from before the first player."""
    return service.memory_mb_per_1000_players * result.asked.players / 1000


def loaded(
    players: int, rate: float, plan: Plan, *, engines: int = 1, seats: int = 4, tvs: int = 0
) -> load_record.Result:
    """One `snatch load` of players who stay, on a stack of its own.  Raises LeftOut."""
    with tempfile.TemporaryDirectory(prefix="snatch-bench-") as folder:
        file = Path(folder) / "load.json"
        said = programs.module(
            "stack.cli",
            "load",
            *("--engines", str(engines), "--ramp-within", f"{RAMP_WITHIN:.0f}s"),
            *("--players", str(players), "--seats", str(seats), "--rate", f"{rate:g}", "--duration", f"{plan.hold:g}s"),
            *("--tvs", str(tvs), "--reconnects", "0", "--sleepers", "0", "--slow", "0"),
            *("--json", str(file)),
            seconds=RAMP_WITHIN + plan.hold + CHECKED_WITHIN,
            ends=(0, 1),
        )
        if not file.exists():
            raise LeftOut(f"snatch load: {programs.last_words(said)}")
        return load_record.from_json(file.read_bytes())


def peers(turn: Turn, plan: Plan) -> PathRun:
    """By its own load, on a server of its own.  Raises LeftOut."""
    played = peer.play(turn.mode, turn.players, turn.rate, hold=plan.hold, warm=plan.warm)
    return PathRun(
        who=peer.NAME,
        mode=turn.mode,
        engines=0,
        players=turn.players,
        rate=turn.rate,
        round=turn.round,
        cpu_us_per_move=played.cpu_us_per_move,
        p50_ms=played.p50_ms,
        p99_ms=played.p99_ms,
        p999_ms=played.p999_ms,
        max_ms=played.max_ms,
        lost=played.lost,
        doubled=played.doubled,
        void=played.void,
        void_why=played.void_why,
        amiss=[],
        moves_per_s=played.moves_per_s,
        server_cores=played.server_cpu_share,
        server_mb=played.server_mb,
        grown_mb=round(played.server_mb - played.server_idle_mb, 1),
        cpu_by_kind={"node": played.cpu_us_per_move},
        generator_cores=played.generator_cpu_share,
        generator_lag_p99_ms=played.generator_lag_p99_ms,
        load_before=0.0,
    )
