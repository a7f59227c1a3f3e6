"""Vite's own server for the time of a `with`: it alone has the gallery, which is no part of the build."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from stack.setup_web import WEB, node_env
from stack.steps import Failed

PATIENCE = 60.0


@contextmanager
def dev_server(folder: Path) -> Iterator[str]:
    """The address of its gallery.  What it says is in `folder`."""
    env = {**os.environ, **node_env()}
    npm = shutil.which("npm", path=env["PATH"]) or "npm"
    port = _free_port()
    said = folder / "vite.log"
    with said.open("wb") as log:
        command = (npm, "run", "--silent", "dev", "--", "--port", str(port), "--strictPort")
        child = subprocess.Popen(
            command, cwd=WEB, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    try:
        url = f"http://127.0.0.1:{port}/gallery.html"
        _answers(url, child, said)
        yield url
    finally:
        # npm passes no signal on to what it started.
        os.killpg(child.pid, signal.SIGTERM)
        child.wait()


def _answers(url: str, child: subprocess.Popen[bytes], said: Path) -> None:
    until = time.monotonic() + PATIENCE
    while child.poll() is None and time.monotonic() < until:
        try:
            with urlopen(url, timeout=PATIENCE):
                return
        except URLError:
            time.sleep(0.1)
    raise Failed(f"Vite does not answer at {url}", f"look at {said}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
