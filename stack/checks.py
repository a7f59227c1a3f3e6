"""`make test` and `make lint`: what is run, in order.  `python -m stack.checks tests|lint`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stack import setup_browser, setup_web
from stack.steps import ROOT, Failed


@dataclass(frozen=True)
class Check:
    """One command.  It is left out when `wants` is not there (a part not laid yet)."""

    name: str
    command: Sequence[str]
    folder: Path = ROOT
    wants: Path = ROOT
    node: bool = False


def pytest(name: str, *what: str) -> Check:
    there = [w for w in what if any((ROOT / w).rglob("test_*.py"))]
    wants = ROOT if there else ROOT / what[0] / "test_"
    return Check(name, (sys.executable, "-m", "pytest", "-q", *there), wants=wants)


def tests() -> list[Check]:
    """From the fastest to the slowest, so that a fault shows early."""
    return [
        pytest("rules", "games", "wire"),
        pytest("services", "servicekit", "services", "simulate", "stack", "tests/services"),
        pytest("contracts", "tests/contracts"),
        Check("web client", ("npm", "test"), folder=ROOT / "web", wants=ROOT / "web" / "package.json", node=True),
        pytest("end to end", "tests/e2e"),
        pytest("browser", "tests/browser"),
    ]


def lint() -> list[Check]:
    module = (sys.executable, "-m")
    walls = str(Path(sys.executable).parent / "lint-imports")
    buf = ROOT / "tools" / "node_modules" / ".bin" / "buf"
    return [
        Check("style", (*module, "ruff", "check", ".")),
        Check("format", (*module, "ruff", "format", "--check", "--quiet", ".")),
        Check("types", (*module, "mypy")),
        Check("import walls", (walls,)),
        Check("protos", (str(buf), "lint"), folder=ROOT / "proto", node=True),
        Check(
            "web client",
            ("npm", "run", "--silent", "check"),
            folder=ROOT / "web",
            wants=ROOT / "web" / "package.json",
            node=True,
        ),
    ]


@dataclass
class Report:
    failed: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


def go(checks: Sequence[Check]) -> Report:
    """Run all of them, a failed one too does not hold up the rest."""
    report = Report()
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    chromium = setup_browser.find()
    if chromium:
        env["SNATCH_CHROMIUM"] = chromium
    for check in checks:
        if not check.wants.exists():
            continue
        print(f"── {check.name}", flush=True)
        began = time.monotonic()
        code = subprocess.run(check.command, cwd=check.folder, env={**env, **_node(check)}).returncode
        report.lines.append(f"{'✓' if code == 0 else '✗'} {check.name:<12} {time.monotonic() - began:5.0f} s")
        if code != 0:
            report.failed.append(check.name)
    return report


def _node(check: Check) -> dict[str, str]:
    return setup_web.node_env() if check.node else {}


def main(arguments: Sequence[str]) -> int:
    what = {"tests": tests, "lint": lint}.get(arguments[0] if arguments else "")
    if what is None:
        print("tests or lint?", file=sys.stderr)
        return 2
    try:
        report = go(what())
    except Failed as failed:
        print(f"✗ {failed.what}\n→ {failed.cure}", file=sys.stderr)
        return 1
    print("\n".join(["", *report.lines]))
    if report.failed:
        print(f"failed: {', '.join(report.failed)}")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
