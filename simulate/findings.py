"""What a run found: counts, times, and broken invariants."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hdrh.histogram import HdrHistogram

KEPT = 5
"""Breaks of each invariant that are told in full; the rest are counted."""

MICROSECONDS, A_MINUTE = 1, 60_000_000


@dataclass
class Findings:
    """One for a whole run."""

    moves: int = 0
    done: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    """How often each invariant was looked at."""
    broken: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)
    hands: Counter[str] = field(default_factory=Counter)
    reconnects: int = 0
    notes: list[str] = field(default_factory=list)
    unchecked: dict[str, str] = field(default_factory=dict)
    """Invariants that could not be looked at, and why."""
    gone: str = ""
    """The stack ended under the players, in words."""
    latency: Any = field(default_factory=lambda: HdrHistogram(MICROSECONDS, A_MINUTE, 3))
    lag: Any = field(default_factory=lambda: HdrHistogram(MICROSECONDS, A_MINUTE, 3))
    """How late the generator itself was: past a few ms the latencies are its own."""

    def check(self, invariant: str, holds: bool, words: str) -> None:
        """Count a look at an invariant, and keep what broke it."""
        self.checks[invariant] += 1
        if not holds:
            self.broken[invariant] += 1
            if self.broken[invariant] <= KEPT:
                self.told.append(f"{invariant}: {words}")

    def answered(self, seconds: float) -> None:
        self.latency.record_value(max(MICROSECONDS, min(A_MINUTE, round(seconds * 1e6))))

    def late(self, seconds: float) -> None:
        self.lag.record_value(max(MICROSECONDS, min(A_MINUTE, round(seconds * 1e6))))

    def ok(self) -> bool:
        return not self.broken and not self.gone


def _ms(histogram: Any, percentile: float) -> float:
    return round(histogram.get_value_at_percentile(percentile) / 1000, 2) if histogram.get_total_count() else 0.0


def as_json(found: Findings, seconds: float, asked: dict[str, Any]) -> dict[str, Any]:
    """For machines; times in ms."""
    return {
        "asked": asked,
        "seconds": round(seconds, 1),
        "moves": found.moves,
        "done": found.done,
        "refused": dict(found.refused),
        "errors": dict(found.errors),
        "hands": dict(found.hands),
        "reconnects": found.reconnects,
        "move_to_own_frame_ms": {
            "p50": _ms(found.latency, 50),
            "p99": _ms(found.latency, 99),
            "max": _ms(found.latency, 100),
        },
        "generator_lag_ms": {"p50": _ms(found.lag, 50), "p99": _ms(found.lag, 99)},
        "checks": dict(found.checks),
        "broken": dict(found.broken),
        "told": found.told,
        "notes": found.notes,
        "unchecked": found.unchecked,
        "gone": found.gone,
    }


def as_text(found: Findings, seconds: float) -> str:
    """For people."""
    lost = found.moves - found.done - sum(found.refused.values())
    lines = [
        f"moves      {found.moves:,} in {seconds:.0f} s ({found.moves / max(seconds, 0.001):,.0f}/s):"
        f" {found.done:,} done, {sum(found.refused.values()):,} came back" + (f", {lost:,} unanswered" if lost else ""),
        "refused    " + (_counts(found.refused) or "none"),
        "hands      " + (_counts(found.hands) or "none"),
        f"latency    move to own frame: p50 {_ms(found.latency, 50)} ms · p99 {_ms(found.latency, 99)} ms"
        f" · max {_ms(found.latency, 100)} ms  (generator late: p99 {_ms(found.lag, 99)} ms)",
    ]
    if found.errors:
        lines.append("errors     " + _counts(found.errors))
    if found.reconnects:
        lines.append(f"sockets    came back {found.reconnects}×")
    for invariant, count in sorted(found.checks.items()):
        bad = found.broken[invariant]
        lines.append(f"{'✗' if bad else '✓'} {invariant}: " + (f"broken {bad:,} of {count:,}" if bad else f"{count:,}"))
    lines += [f"– {invariant}: not checked, {why}" for invariant, why in sorted(found.unchecked.items())]
    lines += [f"note       {note}" for note in found.notes]
    lines += [f"  ! {words}" for words in found.told]
    return "\n".join(lines)


def _counts(counter: Counter[str]) -> str:
    return " · ".join(f"{name} {count:,}" for name, count in counter.most_common())
