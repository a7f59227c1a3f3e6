"""What a room, a player and a spectator take, by the difference between stacks that hold more of one of them."""

from __future__ import annotations

from benchmarks import path
from benchmarks.path import Say
from benchmarks.plan import Clock, Plan
from benchmarks.programs import LeftOut
from benchmarks.results import MemoryFigures, MemoryRun

RATE = 0.2
"""Moves a second and player: tables that are played at, but no load to speak of."""
FEW, MANY, TVS = 1, 4, 2
"""Players a room of the small rooms and of the large ones; spectators a room."""


def measure(plan: Plan, clock: Clock, say: Say) -> tuple[MemoryFigures, list[str]]:
    rooms = plan.memory_rooms
    runs: list[MemoryRun] = []
    left_out: list[str] = []
    for seats, tvs in ((FEW, 0), (MANY, 0), (MANY, TVS * rooms)):
        try:
            clock.check()
            result = path.loaded(rooms * seats, RATE, plan, seats=seats, tvs=tvs)
        except LeftOut as why:
            left_out.append(f"{rooms} rooms of {seats} with {tvs} TVs: {why}")
            say(f"✗ {left_out[-1]}")
            continue
        by_kind: dict[str, float] = {}
        for service in result.services.values():
            by_kind[service.kind] = round(by_kind.get(service.kind, 0.0) + path.grown(result, service), 2)
        run = MemoryRun(rooms, rooms * seats, tvs, round(sum(by_kind.values()), 2), by_kind)
        runs.append(run)
        say(f"{rooms} rooms, {run.players} players, {tvs} TVs: {run.grown_mb:.1f} MB more than before")
    return shares(runs), left_out


def shares(runs: list[MemoryRun]) -> MemoryFigures:
    """From three runs that differ in one thing each; of fewer nothing is known.

    >>> few, many, seen = MemoryRun(10, 10, 0, 3.0, {}), MemoryRun(10, 40, 0, 4.5, {}), MemoryRun(10, 40, 20, 4.9, {})
    >>> shares([few, many, seen]).per_room_kb, shares([few, many, seen]).per_player_kb
    (250.0, 50.0)
    >>> shares([few, many, seen]).per_spectator_kb
    20.0
    """
    if len(runs) < 3:
        return MemoryFigures(runs, None, None, None)
    few, many, seen = runs
    player = (many.grown_mb - few.grown_mb) * 1000 / (many.players - few.players)
    room = few.grown_mb * 1000 / few.rooms - player * few.players / few.rooms
    spectator = (seen.grown_mb - many.grown_mb) * 1000 / seen.spectators
    return MemoryFigures(runs, round(room, 1), round(player, 1), round(spectator, 1))
