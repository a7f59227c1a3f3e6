"""Parts that are programs of their own, with a JSON of their own: `python -m benchmarks.rules --json FILE`."""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchmarks import programs
from benchmarks.path import Say
from benchmarks.plan import Clock, Plan
from benchmarks.programs import LeftOut


class Program(NamedTuple):
    """Arguments by plan, and seconds that it may take at most."""

    full: tuple[str, ...]
    quick: tuple[str, ...]
    tiny: tuple[str, ...]
    seconds: float


PROGRAMS = {
    "rules": Program(
        (), ("--seats", "4", "--hands", "2", "--rounds", "1"), ("--seats", "1", "--hands", "1", "--rounds", "1"), 300
    ),
    "deals": Program(("--deals", "1000"), ("--deals", "100"), ("--deals", "2"), 400),
    "watch": Program(
        (), ("--spectators", "100", "1000", "--seconds", "2"), ("--spectators", "20", "--seconds", "0.5"), 400
    ),
}


def measure(part: str, plan: Plan, clock: Clock, say: Say) -> tuple[dict[str, Any], list[str]]:
    """What it wrote, as it wrote it."""
    program = PROGRAMS[part]
    arguments: tuple[str, ...] = getattr(program, plan.name)
    try:
        clock.check()
        with tempfile.TemporaryDirectory(prefix="snatch-bench-") as folder:
            file = Path(folder) / f"{part}.json"
            said = programs.module(
                f"benchmarks.{part}", *arguments, "--json", str(file), seconds=program.seconds, ends=(0, 1)
            )
            if not file.exists():
                raise LeftOut(f"benchmarks.{part}: {programs.last_words(said)}")
            figures: dict[str, Any] = msgspec.json.decode(file.read_bytes())
    except LeftOut as why:
        say(f"✗ {why}")
        return {}, [str(why)]
    for line in said.strip().splitlines():
        say(line)
    return figures, []


def documented(part: str) -> str:
    """What its program says of the keys of its JSON, as Markdown; "" while there is none."""
    if not programs.there(f"benchmarks.{part}"):
        return ""
    words = (importlib.import_module(f"benchmarks.{part}").__doc__ or "").strip()
    return words.partition("\n\n")[2]
