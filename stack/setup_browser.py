"""Find a Chromium for the browser tests, or bring one.  Only the standard library, see `stack.steps`.

`python -m stack.setup_browser` prints its path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from stack.steps import VENV, Failed, python, run, say

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CURE = (
    "install Chromium (Debian: apt-get install chromium; elsewhere: .venv/bin/playwright install chromium),"
    " or set SNATCH_CHROMIUM to one"
)
FIREFOXES = ("firefox-esr", "firefox")
FIREFOX_CURE = "install Firefox (Debian: apt-get install firefox-esr), or set SNATCH_FIREFOX to one"
BROWSERS = VENV / "browsers"
"""Where Playwright's own goes: with the environment it comes and goes."""


def find() -> str | None:
    """SNATCH_CHROMIUM, the machine's, or the one that Playwright brought."""
    given = os.environ.get("SNATCH_CHROMIUM")
    if given:
        return given
    for name in NAMES:
        path = shutil.which(name)
        if path and runs(path):
            return path
    folders = [BROWSERS, Path.home() / ".cache" / "ms-playwright", Path.home() / "Library/Caches/ms-playwright"]
    patterns = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/*.app/Contents/MacOS/*")
    found = [str(p) for f in folders for pattern in patterns for p in f.glob(pattern)]
    return max(filter(runs, found), default=None)


def find_firefox() -> str | None:
    """SNATCH_FIREFOX, or the machine's.  None is brought: it is a second engine, to be told of where there is none."""
    given = os.environ.get("SNATCH_FIREFOX")
    paths = [given] if given else [path for name in FIREFOXES if (path := shutil.which(name))]
    return next(filter(runs, paths), None)


def runs(path: str) -> bool:
    """Ubuntu's may be a stub that wants a snap; Playwright's may lack the system's libraries."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def ensure() -> str:
    """The path of a Chromium, installing one when there is none.  Raises Failed with the cure."""
    found = find()
    if found:
        return found
    say("· bringing a Chromium for the browser tests")
    try:
        run(
            [python(), "-m", "playwright", "install", "chromium"],
            cure=CURE,
            env={"PLAYWRIGHT_BROWSERS_PATH": str(BROWSERS)},
        )
    except Failed as failed:
        say(f"  {failed.what.splitlines()[0]}")
    found = find()
    if not found:
        install_by_apt()
        found = find()
    if not found:
        raise Failed("there is no Chromium", CURE)
    return found


def install_by_apt() -> None:
    if not shutil.which("apt-get") or os.geteuid() != 0:
        raise Failed("there is no Chromium, and Playwright could not bring one", CURE)
    say("  Playwright could not; trying apt-get")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update"], cure=CURE, env=quiet)
    run(["apt-get", "install", "-y", "--no-install-recommends", "chromium"], cure=CURE, env=quiet)


if __name__ == "__main__":
    try:
        sys.stdout.write(ensure() + "\n")
    except Failed as failed:
        sys.stderr.write(f"✗ {failed.what}\n→ {failed.cure}\n")
        sys.exit(1)
