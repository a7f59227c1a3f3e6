"""What the operations port says, and what saying it costs."""

from __future__ import annotations

import asyncio

from prometheus_client import generate_latest

from servicekit.health import exposition
from servicekit.meters import Meters


async def test_metrics_told_piece_by_piece_are_those_of_prometheus_client_as_a_whole() -> None:
    meters = _some()
    assert await exposition(meters.registry, at_most=0.0) == generate_latest(meters.registry)
    assert await exposition(meters.registry, at_most=60.0) == generate_latest(meters.registry)


async def test_the_loop_has_its_turn_between_two_pieces() -> None:
    meters = _some()
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1
        loop.call_soon(turn)

    loop = asyncio.get_running_loop()
    loop.call_soon(turn)
    await exposition(meters.registry, at_most=0.0)
    assert turns >= len(meters.declared)


def _some() -> Meters:
    meters = Meters("snatch_x")
    meters.counts("moves", "Moves.", game=("snap", "whist"), result=("done", "late")).add("snap", "done")
    meters.spread("wait_seconds", "How long.").observe(0.2)
    meters.level("sockets", "Sockets.").value = 3
    return meters
