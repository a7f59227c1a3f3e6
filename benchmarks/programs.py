"""Programs that a part runs: each ends within its time, and leaves no process behind."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from stack.data import ROOT

LAST_WORDS = 6
"""Lines of a failed program that are shown."""


class LeftOut(Exception):
    """A run, or a whole part, that can't be made: why, and the cure if there is one."""


def module(name: str, *arguments: str, seconds: float, ends: Sequence[int] = (0,)) -> str:
    """Run `python -m name` in the clone's folder; what it printed.  Raises LeftOut.

    `ends`: exit codes with which it has done its work.
    """
    command = [sys.executable, "-m", name, *arguments]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        raise LeftOut(f"{name} was not done after {seconds:.0f} s") from None
    except BaseException:
        _end(process)
        raise
    if process.returncode not in ends:
        raise LeftOut(f"{name} failed ({process.returncode}): {last_words(said)}")
    return said


def last_words(said: str) -> str:
    """The end of what a program printed, as one line."""
    return " / ".join(line.strip() for line in said.strip().splitlines()[-LAST_WORDS:])[-400:]


def _end(process: subprocess.Popen[str]) -> None:
    """It, and all that it started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(process.pid)
        doomed = [root, *root.children(recursive=True)]
        for one in doomed:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.terminate()
        _, left = psutil.wait_procs(doomed, timeout=5)
        for one in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def there(name: str) -> bool:
    """Whether the clone has this module, as `benchmarks.watch`."""
    return (ROOT / Path(*name.split("."))).with_suffix(".py").exists()
