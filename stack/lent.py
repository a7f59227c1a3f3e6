"""A stack for a command that needs one: the one that runs, or one of its own that ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stack.data import DataFolder, default_folder
from stack.ports import free_ports

PATIENCE = 60.0
"""Seconds that a stack may take to be ready."""


class NotStarted(Exception):
    """It did not get ready: the last it said."""


def running(folder: Path | None = None) -> dict[str, Any] | None:
    """The state of the stack that runs on this folder, or on the usual one."""
    return DataFolder(folder or default_folder()).state()


@contextmanager
def started(
    *arguments: str, folder: Path | None = None, say: bool = True, settings: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    """A stack on free ports, ready; ended afterwards.  `settings` go before the environment's.  Raises NotStarted."""
    settings = settings or {}
    if folder is not None:
        with _running(folder, arguments, say, settings) as state:
            yield state
        return
    with tempfile.TemporaryDirectory(prefix="snatch-") as made, _running(Path(made), arguments, say, settings) as state:
        yield state


@contextmanager
def _running(
    folder: Path, arguments: Sequence[str], say: bool, settings: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    if say:
        print("no stack runs: starting one", flush=True)
    data = DataFolder(folder)
    port, watch_port = free_ports(2)
    env = {**os.environ, **settings, "SNATCH_PORT": str(port), "SNATCH_WATCH_PORT": str(watch_port)}
    for outside in ("NATS_URL", "REDIS_URL", "SNATCH_HOST", "SNATCH_PUBLIC_URL", "SNATCH_WATCH_URL"):
        env.pop(outside, None)
    command = [sys.executable, "-m", "stack.cli", "play", "--plain", "--data", str(folder), *arguments]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "play.log").open("w") as said:
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
    try:
        yield _ready(process, data)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _ready(process: subprocess.Popen[bytes], data: DataFolder) -> dict[str, Any]:
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        state = data.state()
        if state is not None and state["ready"]:
            return state
        time.sleep(0.05)
    raise NotStarted((data.path / "play.log").read_text()[-3000:])
