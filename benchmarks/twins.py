"""Results that no machine made, for tests."""

from __future__ import annotations

from typing import Any

from benchmarks import peer
from benchmarks.machine import Machine
from benchmarks.path import OURS
from benchmarks.results import VERSION, PathRun, RecoveryFigures, RecoveryRun, Result


def run(
    *,
    who: str = OURS,
    mode: str = "",
    engines: int = 1,
    players: int = 4000,
    rate: float = 1.0,
    round: int = 1,
    cpu: float = 100.0,
    p99: float = 10.0,
    void: bool = False,
    lost: int = 0,
    doubled: int = 0,
    amiss: list[str] | None = None,
) -> PathRun:
    return PathRun(
        who=who,
        mode=mode,
        engines=engines,
        players=players,
        rate=rate,
        round=round,
        cpu_us_per_move=cpu,
        p50_ms=p99 / 4,
        p99_ms=p99,
        p999_ms=p99 * 2,
        max_ms=p99 * 3,
        lost=lost,
        doubled=doubled,
        void=void,
        void_why="the generator was late" if void else "",
        amiss=amiss or [],
        moves_per_s=players * rate or 20000.0,
        server_cores=0.5,
        server_mb=400.0,
        grown_mb=100.0,
        cpu_by_kind={"engine": cpu / 2, "gateway": cpu / 2} if who == OURS else {"node": cpu},
        generator_cores=0.4,
        generator_lag_p99_ms=2.0,
        load_before=0.5,
    )


def peer_run(**of: Any) -> PathRun:
    return run(**{"who": peer.NAME, "mode": "broadcast", "engines": 0, **of})


def a_result(part: str, figures: Any) -> Result:
    machine = Machine("a processor", 2, 8.0, "Linux 6", "3.11.7", "24.0.0", "2.11.0", {"uvloop": "0.21.0"}, 0.1)
    return Result(part, VERSION, "full", "2026-01-01", 60.0, machine, [], figures)


def watch_run(*, each: int = 80_000, stopped: int = 79_000, idle_kb: float = 9.0, wrong: int = 0) -> Result:
    def told(rate: int) -> dict[str, Any]:
        return {
            "frames": 30,
            "frame_bytes": 200,
            "per_second": 6.0,
            "deliveries": 150_000,
            "deliveries_per_cpu_s": rate,
            "cpu_us": round(1e6 / rate, 2),
            "p50_ms": 30.0,
            "p99_ms": 60.0,
            "max_ms": 90.0,
            "wrong": 0,
        }

    run = {
        "spectators": 5000,
        "idle_kb": idle_kb,
        "steady": {"reading": [told(each)], "stopped": [told(stopped)]},
        "flat_out": told(2 * each),
        "wrong": wrong,
    }
    return a_result("watch", {"runs": [run]})


def recovery_run(not_back: int = 0) -> Result:
    return a_result("recovery", RecoveryFigures([RecoveryRun(500, "KILL", 0.5, 1.0, 1.5, 0.7, 1.2, 1.6, not_back)]))
