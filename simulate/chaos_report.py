"""What a chaos run says: a table for people, the same for machines, and whether it was well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulate.chaos_run import CellResult
from simulate.gaps import percentile

COLUMNS = (
    "cell",
    "hits",
    "moves",
    "acked",
    "lost",
    "doubled",
    "hashes",
    "sockets",
    "gap p50",
    "p99",
    "max",
    "last back",
    "sockets back",
    "bots back",
    "late",
    "cpu",
)


def _time(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value * 1000:.0f} ms" if value < 0.9995 else f"{value:.2f} s"


def row(result: CellResult) -> list[str]:
    """A cell's line."""
    sockets = max((v for v in (result.sockets_back, result.tvs_back) if v is not None), default=None)
    return [
        result.cell.name,
        str(len(result.hits)),
        f"{result.moves:,}",
        f"{result.acknowledged:,}",
        str(result.lost),
        str(result.doubled),
        f"{result.equal}/{len(result.verdicts)}",
        str(result.reconnects),
        _time(percentile(result.gaps, 50)),
        _time(percentile(result.gaps, 99)),
        _time(max(result.gaps, default=0.0)),
        _time(result.last_back),
        _time(sockets),
        _time(result.bots_back),
        _time(result.late_max),
        f"{result.cpu:.0%}",
    ]


def table(results: Sequence[CellResult]) -> str:
    """All cells, aligned."""
    rows = [list(COLUMNS), *(row(r) for r in results)]
    widths = [max(len(r[i]) for r in rows) for i in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True))).rstrip()
        for r in rows
    )


def words(results: Sequence[CellResult], told: Sequence[str], *, strict: bool) -> str:
    """What was amiss, cell by cell; one line when nothing was."""
    lines = []
    for result in results:
        lines += [f"✗ {result.cell.name}: {failure}" for failure in result.failures()]
        lines += [f"{'✗' if strict else '·'} {result.cell.name}: {slow}" for slow in result.slow()]
    lines += [f"  ! {t}" for t in told]
    if not any(r.failures() for r in results):
        lines.append("✓ nothing acknowledged was lost, nothing doubled, all hashes are equal")
    return "\n".join(lines)


def well(results: Sequence[CellResult], *, strict: bool) -> bool:
    """Whether the run passes: losses, doubles and unequal hashes never, times when it is strict."""
    return bool(results) and not any(r.failures() or (strict and r.slow()) for r in results)


def as_json(results: Sequence[CellResult]) -> list[dict[str, Any]]:
    """For machines; times in ms."""

    def ms(value: float | None) -> float | None:
        return None if value is None else round(value * 1000, 1)

    return [
        {
            "cell": r.cell.name,
            "hits": [
                {"part": h.part, "ready_ms": ms(None if h.ready is None else h.ready - (h.over or h.at))}
                for h in r.hits
            ],
            "seconds": round(r.seconds, 1),
            "moves": r.moves,
            "acknowledged": r.acknowledged,
            "lost": r.lost,
            "doubled": r.doubled,
            "unanswered": r.unanswered,
            "rooms": len(r.verdicts),
            "rooms_equal": r.equal,
            "reconnects": r.reconnects,
            "gap_ms": {
                "p50": ms(percentile(r.gaps, 50)),
                "p99": ms(percentile(r.gaps, 99)),
                "max": ms(max(r.gaps, default=0.0)),
            },
            "last_room_back_ms": ms(r.last_back),
            "sockets_back_ms": ms(r.sockets_back),
            "tvs_back_ms": ms(r.tvs_back),
            "bots_back_ms": ms(r.bots_back),
            "generator_late_ms": {"p99": ms(r.late_p99), "max": ms(r.late_max)},
            "generator_cpu": round(r.cpu, 2),
            "refused": dict(r.refused),
            "errors": dict(r.errors),
            "broken": dict(r.broken),
            "failures": r.failures(),
            "slow": r.slow(),
        }
        for r in results
    ]
