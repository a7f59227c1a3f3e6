"""`snatch model`: the ownership protocol lived through seed by seed, with everything that can go wrong.

Exits with 1 when an invariant is broken, or a planted fault is not found.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from model.planted import PLANTED
from model.run import Totals, many, until_found
from model.schedule import KINDS
from model.world import Result, run

WITHIN = 1000
"""Seeds within which every planted fault must be found."""
ENOUGH = 10
"""Broken seeds after which no more are looked for."""
ALWAYS = (
    "claims",
    "releases",
    "deposed",
    "resent appends",
    "new fences",
    "10071s",
    "10164s",
    "late landings",
    "takeovers",
    "old tabs back",
    "answered again",
    "peers judged dead",
    "trims",
    "views",
)
"""What a run of many seeds must have seen, or it has shown little."""


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="snatch model", description=__doc__.splitlines()[0])
    found.add_argument("--seeds", type=_count, default=2000, metavar="N", help="how many worlds (2000)")
    found.add_argument("--from", type=int, default=0, dest="first", metavar="N", help="the first seed (0)")
    found.add_argument("--jobs", type=_count, default=os.cpu_count() or 1, metavar="N", help="processes (all cores)")
    found.add_argument(
        "--planted",
        default="",
        metavar="NAME",
        help=f"break a rule and find it; `all`, or one of: {', '.join(PLANTED)}",
    )
    found.add_argument("--also-planted", action="store_true", help="the seeds, and then every planted fault")
    found.add_argument("--seed", type=int, default=None, metavar="N", help="this world alone")
    found.add_argument("--trace", action="store_true", help="with --seed: all that happens in it")
    return found


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def main(argv: Sequence[str]) -> int:
    """0 when all is well."""
    arguments = parser().parse_args(argv)
    if arguments.planted not in ("", "all", *PLANTED):
        print(f"✗ there is no planted fault {arguments.planted}\n→ one of: all, {', '.join(PLANTED)}", file=sys.stderr)
        return 2
    if arguments.seed is not None:
        return _one(arguments.seed, arguments.planted, trace=arguments.trace)
    code = 0
    if not arguments.planted:
        code = _seeds(arguments.first, arguments.seeds, arguments.jobs)
    if arguments.planted or arguments.also_planted:
        names = [arguments.planted] if arguments.planted in PLANTED else list(PLANTED)
        code = max(code, _planted(names, arguments.jobs))
    return code


def _one(seed: int, plant: str, *, trace: bool) -> int:
    result = run(seed, plant, print if trace else None)
    print(f"seed {seed}: {result.lasted:.1f} virtual s, {result.steps:,} steps, trace {result.trace}")
    print("  " + _listed(result.counts))
    if result.broken is None:
        print("✓ every invariant held")
        return 0
    _tell_broken(result, plant)
    return 1


def _seeds(first: int, seeds: int, jobs: int) -> int:
    told = 0

    def heard(totals: Totals) -> bool:
        nonlocal told
        for result in totals.broken[told:]:
            _tell_broken(result, "")
        told = len(totals.broken)
        if sys.stdout.isatty():
            speed = totals.seeds / totals.wall_s if totals.wall_s else 0.0
            print(f"\r{totals.seeds:,} of {seeds:,} seeds, {speed:.0f}/s ", end="", flush=True)
        return len(totals.broken) >= ENOUGH

    totals = many(first, seeds, jobs, heard=heard)
    if sys.stdout.isatty():
        print("\r", end="")
    print(
        f"{totals.seeds:,} seeds in {totals.wall_s:.0f} s: {totals.seeds / totals.wall_s:.0f} seeds/s, "
        f"{1000 * totals.cpu_s / max(1, totals.seeds):.1f} ms CPU a seed, "
        f"{totals.virtual_s / 3600:.1f} hours lived, {totals.steps / max(1, totals.seeds):.0f} steps a seed"
    )
    print("seen: " + _listed({k: n for k, n in totals.counts.items() if k not in KINDS}))
    print("befallen: " + _listed({k: totals.counts.get(k, 0) for k in KINDS}))
    never = [what for what in (*ALWAYS, *KINDS) if not totals.counts.get(what)] if seeds >= WITHIN else []
    if never and not totals.broken:
        print(f"✗ never seen: {', '.join(never)}\n→ the schedule no longer exercises it: model/schedule.py")
        return 1
    print("✗ an invariant is broken" if totals.broken else "✓ every invariant held")
    return 1 if totals.broken else 0


def _planted(names: Sequence[str], jobs: int) -> int:
    missed = []
    for name in names:
        totals = until_found(name, WITHIN, jobs)
        if not totals.broken:
            missed.append(name)
            print(f"✗ {name:24} not found in {totals.seeds} seeds")
            continue
        first = totals.broken[0]
        print(f"✓ {name:24} seed {first.seed:4}: {first.broken}"[:200])
    if missed:
        print(f"✗ planted and not found: {', '.join(missed)}")
        return 1
    return 0


def _tell_broken(result: Result, plant: str) -> None:
    planted = f" --planted {plant}" if plant else ""
    print(f"✗ seed {result.seed}: {result.broken}"[:600])
    print(f"→ snatch model --seed {result.seed}{planted} --trace", flush=True)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{what} {count:,}" for what, count in sorted(counts.items())) or "nothing"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
