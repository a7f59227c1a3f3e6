"""`make bench`: how fast it is, by parts; beside it the peer, in turns.  Results as JSON, and a page made of them."""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import machine, memory, own_programs, page, path, peer, recovery, results, start, verdict
from benchmarks.path import Say
from benchmarks.plan import FULL, PLANS, Clock, Plan
from stack.data import ROOT

Measure = Callable[[Plan, Clock, Say], tuple[Any, list[str]]]

PARTS: dict[str, Measure] = {
    "rules": partial(own_programs.measure, "rules"),
    "deals": partial(own_programs.measure, "deals"),
    "start": start.measure,
    "watch": partial(own_programs.measure, "watch"),
    "path": path.measure,
    "recovery": recovery.measure,
    "memory": memory.measure,
}
"""In the order in which they run: what matters least last, so that it's that which runs out of time."""


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Its options."""
    p = argparse.ArgumentParser(prog="snatch bench", description=__doc__)
    p.add_argument("--parts", type=_parts, default=list(PARTS), metavar="A,B", help=f"of {', '.join(PARTS)} (all)")
    p.add_argument("--plan", choices=PLANS, default=FULL.name, help="how much (full); quick takes a few minutes")
    p.add_argument(
        "--into",
        type=Path,
        metavar="DIR",
        help="for results and page (full: where they are committed, and the README's table; else test-results/bench)",
    )
    p.add_argument("--page", action="store_true", help="run nothing: make the page anew from the results there are")
    return p.parse_args(argv)


def _parts(text: str) -> list[str]:
    wanted = [part for part in text.replace(" ", ",").split(",") if part]
    if unknown := [part for part in wanted if part not in PARTS]:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}: parts are {', '.join(PARTS)}")
    return [part for part in PARTS if part in wanted] or list(PARTS)


def main(argv: Sequence[str]) -> int:
    """0 when it ran, however fast; 1 when a move was lost or doubled, a room never came back, or a part broke."""
    told = parsed(argv)
    plan = PLANS[told.plan]
    broken: list[str] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    target = page.Target.committed() if told.into is None and plan is FULL else page.Target.apart(told.into or APART)
    if not told.page:
        broken = run(plan, told.parts, target.results)
    found = results.read(target.results)
    for file in page.write(found, target):
        print(f"wrote {_shown(file)}")
    for line in verdict.table(verdict.lines(found)):
        print(line)
    lost = verdict.losses(found)
    if lost:
        print(f"✗ {lost} moves or rooms lost or doubled: see {_shown(target.results)}", file=sys.stderr)
    if broken:
        print(f"✗ broken, see above: {', '.join(broken)}", file=sys.stderr)
    return 1 if lost or broken else 0


APART = ROOT / "test-results" / "bench"


def run(plan: Plan, parts: Sequence[str], folder: Path) -> list[str]:
    """Part by part, each result written at once.  The parts that broke: the others run all the same."""
    print(f"{plan.name}: {', '.join(parts)}; at most {plan.minutes:.0f} minutes, on 127.0.0.1 alone", flush=True)
    clock = Clock(plan.minutes)
    broken: list[str] = []
    for part in parts:
        print(f"── {part}", flush=True)
        here = machine.this_machine(peer.node())
        began = time.monotonic()
        try:
            figures, left_out = PARTS[part](plan, clock, _say)
        except Exception:
            traceback.print_exc()
            broken.append(part)
            continue
        took = time.monotonic() - began
        if not (figures if isinstance(figures, dict) else figures.runs):
            print(f"  {part} is left out; what was measured before stays", flush=True)
            continue
        today = datetime.now(UTC).date().isoformat()
        result = results.Result(part, results.VERSION, plan.name, today, round(took, 1), here, left_out, figures)
        print(f"  {took:.0f} s, in {_shown(results.write(folder, result))}", flush=True)
    return broken


def _say(text: str) -> None:
    print(f"  {text}", flush=True)


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
