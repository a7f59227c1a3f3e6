"""Grafana's dashboards, as JSON that is read and written by people: `python -m stack.dashboards` puts it in shape.

What Grafana exports runs over thousands of lines; in shape, whatever fits a line stands on one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from stack.data import ROOT

FOLDER = ROOT / "deploy" / "grafana" / "dashboards"
WIDTH = 140

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def shaped(value: Json, indent: int = 0) -> str:
    """The same JSON, broken only where a line would be too long.

    >>> print(shaped({"title": "Bots", "tags": ["snatch"]}))
    {"title": "Bots", "tags": ["snatch"]}
    """
    flat = json.dumps(value, ensure_ascii=False)
    if indent + len(flat) <= WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    inner = indent + 2
    if isinstance(value, dict):
        lines = filled([f"{json.dumps(key)}: {shaped(each, inner)}" for key, each in value.items()])
    else:
        lines = [shaped(each, inner) for each in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    joined = (",\n" + " " * inner).join(lines)
    return f"{ends[0]}\n{' ' * inner}{joined}\n{' ' * indent}{ends[1]}"


def filled(entries: list[str]) -> list[str]:
    """Short ones beside each other."""
    lines: list[str] = []
    for entry in entries:
        beside = f"{lines[-1]}, {entry}" if lines else entry
        if lines and max(len(lines[-1]), len(entry)) <= WIDTH // 2 and len(beside) <= WIDTH and "\n" not in beside:
            lines[-1] = beside
        else:
            lines.append(entry)
    return lines


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.json"))


def main() -> int:
    for file in files():
        written = file.read_text(encoding="utf-8")
        new = shaped(json.loads(written)) + "\n"
        if new != written:
            file.write_text(new, encoding="utf-8")
            print(file.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
