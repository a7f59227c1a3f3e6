"""Bring what `make lint` checks images, rules and manifests with.  Only the standard library, see `stack.steps`.

`python -m stack.setup_checkers` prints promtool's path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from stack.steps import ROOT, VENV, Failed, digest, digest_of_files, python, run, say, step

LOCK = ROOT / "tools" / "checkers.txt"
PROMTOOL = VENV / "promtool"
"""Where one that was brought goes: with the environment it comes and goes."""
CURE = (
    "install Prometheus (Debian: apt-get install prometheus; macOS: brew install prometheus;"
    " elsewhere: the archive that prometheus.io offers), or set SNATCH_PROMTOOL to its promtool"
)


def packages() -> None:
    """The checkers that Python packages bring, as locked."""
    step(
        "installing the checkers of images, rules and manifests",
        "checkers",
        # Anew in a new environment, and after what else is installed, which may have set a version back.
        digest(digest_of_files([LOCK, ROOT / "requirements.txt"]), (VENV / "pyvenv.cfg").read_text()),
        install_packages,
    )


def install_packages() -> None:
    pip = [python(), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-deps"]
    run([*pip, "--require-hashes", "-r", str(LOCK)], cure="look at the log, then run it again")


def find_promtool() -> str | None:
    """SNATCH_PROMTOOL, the machine's, or the one that was brought."""
    given = os.environ.get("SNATCH_PROMTOOL")
    if given:
        return given
    candidates = (shutil.which("promtool"), str(PROMTOOL))
    return next((path for path in candidates if path and runs(path)), None)


def runs(path: str) -> bool:
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def promtool() -> str:
    """The path of a promtool, bringing one when there is none.  Raises Failed with the cure."""
    found = find_promtool()
    if not found and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        say("· bringing promtool, to check Prometheus' rules with")
        unpack()
        found = find_promtool()
    if not found:
        raise Failed("there is no promtool", CURE)
    return found


def unpack() -> None:
    """Out of Debian's package, which is not installed: that would start a server, and want root."""
    with tempfile.TemporaryDirectory() as folder:
        # apt's own user downloads, and must be able to.
        os.chmod(folder, 0o755)
        download(Path(folder))
        package = next(Path(folder).glob("prometheus_*.deb"))
        run(["dpkg-deb", "--extract", str(package), folder], cure=CURE)
        shutil.copy2(Path(folder) / "usr" / "bin" / "promtool", PROMTOOL)


def download(folder: Path) -> None:
    command = ["apt-get", "download", "prometheus"]
    try:
        run(command, cure=CURE, cwd=folder)
    except Failed:
        # A machine that has never looked has no list to find it in; only root may make one.
        if os.geteuid() != 0:
            raise
        run(["apt-get", "update"], cure=CURE)
        run(command, cure=CURE, cwd=folder)


def ensure() -> None:
    packages()
    promtool()


if __name__ == "__main__":
    try:
        sys.stdout.write(promtool() + "\n")
    except Failed as failed:
        sys.stderr.write(f"✗ {failed.what}\n→ {failed.cure}\n")
        sys.exit(1)
