"""What traces cost is measured on moves that were all answered, whichever way they went."""

from __future__ import annotations

from benchmarks import tracing


async def test_every_way_answers_every_move_and_is_timed() -> None:
    found = await tracing.measured(rounds=1, seed=1)
    ways = {name: of for name, of in found.items() if isinstance(of, dict)}
    assert set(ways) == {"plain", "ratio=0.001", "ratio=0.01", "ratio=1"}
    assert all(of["p50"] > 0 for of in ways.values())
    assert found["moves"] > 100
