"""Set this clone up: `python3 -m stack.setup_env play|test|lint|web` by any Python 3.11 or later.

Only the standard library is used; what is already done is not done again, so that a
second call takes no network and a fraction of a second.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

from stack import setup_browser, setup_checkers, setup_web
from stack.steps import ROOT, VENV, Failed, digest, digest_of_files, python, run, say, step

PACKAGES = ("games", "wire", "servicekit", "services", "simulate", "stack", "generated")
GOALS = ("env", "play", "web", "test", "compose", "lint")


def environment() -> None:
    """`.venv` with the locked dependencies, the gRPC code, and the project itself in place."""
    check_python()
    make_venv()
    lock = digest_of_files([ROOT / "requirements.txt"])
    step(
        "installing the locked dependencies (about a minute the first time)",
        "dependencies",
        digest(lock, (VENV / "pyvenv.cfg").read_text()),
        install_dependencies,
    )
    proto(force=False)
    step("installing the project", "project", digest_of_files([ROOT / "pyproject.toml"]), install_project)


def check_python() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever runs this may be older than the project allows
        raise Failed(f"Python {sys.version.split()[0]} is too old", "install Python 3.11 or later")
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise Failed(
            f"{sys.executable} can't make virtual environments",
            f"on Debian and Ubuntu: apt-get install python{version}-venv; elsewhere: a Python with venv and ensurepip",
        )


def make_venv() -> None:
    """A moved clone needs a new one: scripts in it name their interpreter by its full path."""
    moved = VENV / ".stamp-venv"
    if moved.exists() and moved.read_text() != str(VENV):
        say("· this clone was moved: making its .venv anew")
        shutil.rmtree(VENV)
    step("making .venv", "venv", str(VENV), create_venv, force=not Path(python()).exists())


def create_venv() -> None:
    cure = "remove .venv and run it again"
    if not Path(python()).exists():
        VENV.mkdir(exist_ok=True)
        run([sys.executable, "-m", "venv", str(VENV)], cure=cure)
    run([python(), "-m", "ensurepip"], cure=cure)


def install_dependencies() -> None:
    pip = [python(), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-deps"]
    run([*pip, "--require-hashes", "-r", "requirements.txt"], cure="look at the log, then run it again")


def install_project() -> None:
    pip = [python(), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-deps"]
    run([*pip, "--no-build-isolation", "--editable", "."], cure="remove .venv and run it again")


def proto(*, force: bool) -> None:
    """The gRPC code in `generated/`."""
    if not (ROOT / "generated" / "__init__.py").exists():
        force = True
    key = digest_of_files([ROOT / "proto", ROOT / "stack" / "protos.py"])
    step("generating the gRPC code", "proto", key, generate_protos, force=force)


def generate_protos() -> None:
    run([python(), "-m", "stack.protos"], cure="mend the .proto file it names")


def main(goals: list[str]) -> int:
    """Reach each goal.  1 with the reason and the cure when one can't be."""
    unknown = [g for g in goals if g not in GOALS]
    if unknown or not goals:
        say(f"goals: {', '.join(GOALS)}")
        return 2
    try:
        environment()
        if {"play", "web", "test", "lint"} & set(goals):
            setup_web.packages()
        if {"play", "web", "test"} & set(goals):
            setup_web.build()
        if "lint" in goals:
            setup_web.schemas()
            setup_web.tools()
            setup_checkers.ensure()
        if {"test", "compose"} & set(goals):
            setup_browser.ensure()
    except Failed as failed:
        sys.stderr.write(f"✗ {failed.what}\n→ {failed.cure}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("stopped; run it again to go on\n")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
