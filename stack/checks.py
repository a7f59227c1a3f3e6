"""`make test` and `make lint`: what is run, in order.  `python -m stack.checks tests|lint`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from stack import setup_browser, setup_checkers, setup_web
from stack.steps import ROOT, Failed


@dataclass(frozen=True)
class Check:
    """One command.  It is left out when `wants` is not there (a part not laid yet).

    `beside`: it mostly waits, so it runs beside the others and is shown after them.
    """

    name: str
    command: Sequence[str]
    folder: Path = ROOT
    wants: Path = ROOT
    node: bool = False
    beside: bool = False
    cure: str = ""
    """Said where it is left out."""


def pytest(name: str, *what: str, beside: bool = False) -> Check:
    there = [w for w in what if any((ROOT / w).rglob("test_*.py"))]
    wants = ROOT if there else ROOT / what[0] / "test_"
    return Check(name, (sys.executable, "-m", "pytest", "-q", *there), wants=wants, beside=beside)


def tests() -> list[Check]:
    """From the fastest to the slowest, so that a fault shows early; the slowest two, which mostly wait, beside them."""
    return [
        pytest("rules", "games", "wire"),
        pytest("contracts", "tests/contracts"),
        Check("web client", ("npm", "test"), folder=ROOT / "web", wants=ROOT / "web" / "package.json", node=True),
        pytest(
            "services", "servicekit", "services", "simulate", "stack", "benchmarks", "tests/services", "tests/gallery"
        ),
        pytest("model tests", "tests/model"),
        Check("model", (sys.executable, "-m", "model.cli", "--seeds", "2000")),
        pytest("end to end", "tests/e2e", beside=True),
        Check("chaos", (sys.executable, "-m", "stack.cli", "chaos", "--own", "--short", "--rooms", "6")),
        pytest("browser", "tests/browser", beside=True),
        replace(pytest("firefox", "tests/firefox"), wants=_firefox(), cure=setup_browser.FIREFOX_CURE),
    ]


def _firefox() -> Path:
    return Path(setup_browser.find_firefox() or ROOT / "no-firefox")


def lint() -> list[Check]:
    module = (sys.executable, "-m")
    walls = str(Path(sys.executable).parent / "lint-imports")
    tools, client = ROOT / "tools", ROOT / "web"
    programs = tools / "node_modules" / ".bin"
    scripts = (str(programs / "eslint"), "-c", str(tools / "eslint.config.js"), "src")
    styles = (str(programs / "stylelint"), "--config", str(tools / "stylelint.config.js"), "src/**/*.{css,svelte}")
    return [
        Check("style", (*module, "ruff", "check", ".")),
        Check("format", (*module, "ruff", "format", "--check", "--quiet", ".")),
        Check("types", (*module, "mypy")),
        Check("import walls", (walls,)),
        Check("protos", (str(programs / "buf"), "lint"), folder=ROOT / "proto", node=True),
        Check(
            "web client", ("npm", "run", "--silent", "check"), folder=client, wants=client / "package.json", node=True
        ),
        # After that one, which writes the types that they read.
        Check("web scripts", scripts, folder=client, wants=client / "package.json", node=True),
        Check("web styles", styles, folder=client, wants=client / "package.json", node=True),
        *hosting(),
    ]


def hosting() -> list[Check]:
    """Images, compositions, rules and manifests."""
    deploy, prometheus = ROOT / "deploy", ROOT / "deploy" / "prometheus"
    promtool = setup_checkers.promtool()
    rules = [str(file) for file in sorted((prometheus / "rules").glob("*.yml"))]
    cases = sorted((ROOT / "tests" / "prometheus").glob("*.yml"))
    scripts = [str(file) for file in (*sorted(deploy.rglob("*.sh")), ROOT / ".ci" / "run")]
    yaml = ("yamllint", "--strict", "-c", str(ROOT / "tools" / "yamllint.yml"), "docker-compose.yml", "deploy", "tests")
    return [
        Check("images", ("hadolint", *(str(file) for file in sorted(deploy.rglob("*Dockerfile"))))),
        Check("scripts", ("shellcheck", *scripts)),
        Check("yaml", yaml),
        Check("prometheus", (promtool, "check", "config", str(prometheus / "prometheus.yml"))),
        Check("rules", (promtool, "check", "rules", "--lint=all", "--lint-fatal", *rules)),
        Check("rules' tests", (promtool, "test", "rules", *(case.name for case in cases)), folder=cases[0].parent),
        Check("kubernetes", (sys.executable, "-m", "stack.manifests")),
        pytest("dashboards", "tests/contracts/watching"),
    ]


@dataclass(frozen=True)
class Ended:
    """What became of a check; `output` only where it was kept."""

    check: Check
    code: int
    seconds: float
    output: bytes


@dataclass
class Report:
    failed: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def add(self, ended: Ended) -> None:
        sys.stdout.buffer.write(ended.output)
        sys.stdout.flush()
        self.lines.append(f"{'✓' if ended.code == 0 else '✗'} {ended.check.name:<12} {ended.seconds:5.0f} s")
        if ended.code != 0:
            self.failed.append(ended.check.name)


def run(check: Check, env: dict[str, str], *, keep: bool = False) -> Ended:
    """Run one to its end; `keep` its output instead of showing it as it comes."""
    began = time.monotonic()
    done = subprocess.run(
        check.command,
        cwd=check.folder,
        env={**env, **_node(check)},
        stdout=subprocess.PIPE if keep else None,
        stderr=subprocess.STDOUT if keep else None,
    )
    return Ended(check, done.returncode, time.monotonic() - began, done.stdout or b"")


def go(checks: Sequence[Check]) -> Report:
    """Run all of them; a failed one does not hold up the rest."""
    report = Report()
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    chromium = setup_browser.find()
    if chromium:
        env["SNATCH_CHROMIUM"] = chromium
    there = [check for check in checks if check.wants.exists()]
    for check in checks:
        if check.cure and check not in there:
            print(f"── {check.name}: left out. To have it, {check.cure}", flush=True)
    with ThreadPoolExecutor() as pool:
        beside = [(check, pool.submit(run, check, env, keep=True)) for check in there if check.beside]
        for check in there:
            if not check.beside:
                print(f"── {check.name}", flush=True)
                report.add(run(check, env))
        for check, ended in beside:
            print(f"── {check.name}, beside the others", flush=True)
            report.add(ended.result())
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
