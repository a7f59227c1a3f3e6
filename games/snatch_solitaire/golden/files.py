"""The golden files: one case a line, so that a change shows which case it changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from games.snatch_solitaire.golden import fits, folds

HERE = Path(__file__).parent
FILES = {"fits.json": fits.cases, "apply.json": folds.cases}


def text(cases: dict[str, list[Any]]) -> str:
    """JSON with a line for each case."""
    parts = [
        f'"{name}": [\n' + ",\n".join(json.dumps(case, separators=(",", ":")) for case in listed) + "\n]"
        for name, listed in cases.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write() -> None:
    """Write all of them again, from what the kernel says now."""
    for name, cases in FILES.items():
        (HERE / name).write_text(text(cases()), encoding="ascii")
