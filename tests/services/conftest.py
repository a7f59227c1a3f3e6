"""Real servers for the services' tests, on free loopback ports, with their data in pytest's tmp folder."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


class NatsServer:
    """A nats-server process with JetStream; `stop` ends it, `start` brings it back on the same port and data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.port = -1

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        log = self._folder / "nats.log"
        log.unlink(missing_ok=True)
        binary = Path(sys.executable).parent / "nats-server"
        args = [str(binary), "-js", "-a", "127.0.0.1", "-p", str(self.port), "-sd", str(self._folder), "-l", str(log)]
        self._process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            text = log.read_text() if log.exists() else ""
            found = re.search(r"client connections on 127\.0\.0\.1:(\d+)", text)
            if found and "Server is ready" in text:
                self.port = int(found[1])
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError(f"nats-server did not start: {text}")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture(scope="session")
def nats_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One JetStream server for the whole session: use rooms, streams and buckets of your own."""
    server = NatsServer(tmp_path_factory.mktemp("nats"))
    server.start()
    yield server.url
    server.stop()


@pytest.fixture
def new_nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], NatsServer]]:
    """Start a server of one's own, as often as wanted; all end with the test."""
    servers: list[NatsServer] = []

    def start() -> NatsServer:
        server = NatsServer(tmp_path_factory.mktemp("nats"))
        server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()
