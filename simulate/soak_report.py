"""What a soak was asked for, what came of it, and how that is told."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from simulate.door import ONE_ADDRESS
from simulate.findings import Findings, as_json, as_text
from simulate.soak_plot import svg
from simulate.soak_rooms import Pace, Tally
from simulate.soak_samples import Sample
from simulate.soak_verdict import Verdict, shown

PLAYED = 0.75
"""The share of the time in which rooms come; the rest is for the last ones to end."""
WARM_UP = 1 / 3
"""The share of the played time that isn't judged: longer than a room that was left lives on."""
HOUR = 60.0
IDLE = "SNATCH_ROOM_IDLE"
PATIENCE = {
    IDLE: 600.0,
    "SNATCH_REQUEST_MEMORY": 600.0,
    "SNATCH_JOIN_PATIENCE": 60.0,
    "SNATCH_TABLE_CHECK": 120.0,
}
"""Settings of lobbies that are compressed, with their usual seconds.  The rates of the doors are lifted beside."""
SAMPLES = 300


@dataclass(frozen=True)
class Wish:
    """What a soak was asked for."""

    minutes: float = 10.0
    rooms: int = 48
    seed: int = 1

    @property
    def played(self) -> float:
        """Seconds in which rooms come."""
        return self.minutes * 60 * PLAYED

    @property
    def pace(self) -> Pace:
        return Pace(HOUR * 60 / self.played)

    @property
    def warm_up(self) -> float:
        return self.played * WARM_UP

    @property
    def every(self) -> float:
        """Seconds between samples."""
        return max(0.5, self.minutes * 60 / SAMPLES)

    def settings(self) -> dict[str, str]:
        """Of a stack for this soak."""
        return ONE_ADDRESS | {name: f"{seconds / self.pace.faster:.2f}" for name, seconds in PATIENCE.items()}


@dataclass
class Soaked:
    """What came of it."""

    found: Findings = field(default_factory=Findings)
    tally: Tally = field(default_factory=Tally)
    times: list[float] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    came: list[int] = field(default_factory=list)
    """Rooms so far, at each sample."""
    verdicts: list[Verdict] = field(default_factory=list)
    load: float = 1.0
    """How many times as many rooms came in the second half of the judged time as in the first."""
    ended_at: float = 0.0
    """Seconds until everything was back, from the last room's end; 0 when it never was."""

    @property
    def series(self) -> dict[str, list[float]]:
        """By name; what wasn't there at a moment is 0."""
        names = dict.fromkeys(name for sample in self.samples for name in sample)
        return {name: [sample.get(name, 0.0) for sample in self.samples] for name in names}

    def ok(self) -> bool:
        return self.found.ok() and all(v.flat for v in self.verdicts)


def text(soaked: Soaked, wish: Wish) -> str:
    """For people."""
    tally = soaked.tally
    lines = [
        "",
        f"rooms      {tally.rooms:,}: " + " · ".join(f"{name} {count}" for name, count in tally.stories.most_common()),
        f"beside     {tally.drops:,} sockets dropped and back · {tally.takeovers} taken over · {tally.tvs} TVs",
        as_text(soaked.found, soaked.times[-1] if soaked.times else 0.0),
        f"ended      {soaked.ended_at:.0f} s after the last room" if soaked.ended_at else "ended      never",
        "",
        f"{'':2}{'series':<28}{'early':>12}{'late':>12}{'highest':>12}{'rise':>12}{'allowed':>12}",
    ]
    for v in sorted(soaked.verdicts, key=lambda v: (v.flat, v.series)):
        cells = (v.early, v.late, v.highest, v.rise, v.allowed)
        lines.append(
            f"{'✓' if v.flat else '✗'} {v.series:<28}" + "".join(f"{shown(v.series, cell):>12}" for cell in cells)
        )
    judged = wish.played - wish.warm_up
    lines.append(f"rooms came {soaked.load:.2f} times as often in the second half as in the first")
    lines.append(f"medians of the halves of {judged:.0f} s after {wish.warm_up:.0f} s of warm-up; rise by Theil–Sen")
    return "\n".join(lines)


def report(soaked: Soaked, wish: Wish) -> dict[str, Any]:
    """For machines."""
    return {
        **as_json(soaked.found, soaked.times[-1] if soaked.times else 0.0, asdict(wish)),
        "rooms": soaked.tally.rooms,
        "stories": dict(soaked.tally.stories),
        "drops": soaked.tally.drops,
        "takeovers": soaked.tally.takeovers,
        "tvs": soaked.tally.tvs,
        "load": round(soaked.load, 3),
        "ended_after": round(soaked.ended_at, 1),
        "series": {
            v.series: {k: round(x, 1) for k, x in asdict(v).items() if k != "series"} | {"flat": v.flat}
            for v in soaked.verdicts
        },
        "last": soaked.samples[-1] if soaked.samples else {},
    }


def plot(soaked: Soaked, wish: Wish) -> str:
    """An SVG."""
    title = f"An hour of rooms that come and go, in {wish.played / 60:.1f} min: {soaked.tally.rooms:,} rooms"
    return svg(title, soaked.times, soaked.series, [wish.warm_up, wish.played])


def write_csv(path: Path, soaked: Soaked) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["seconds", *soaked.series])
        writer.writerows(zip(soaked.times, *soaked.series.values(), strict=True))
