"""Real servers for tests, on free loopback ports, with their data in a folder of the test's own."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from stack.ports import free_ports
from stack.servers import nats_program, valkey_program


class NatsServer:
    """A nats-server process with JetStream; `stop` ends it, `start` brings it back on the same port and data.

    `arguments` of the program's own are heard before ours.
    """

    def __init__(self, folder: Path, arguments: Sequence[str] = ()) -> None:
        self.folder, self._arguments = folder, arguments
        self._process: subprocess.Popen[bytes] | None = None
        self.port = -1

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        log = self.folder / "nats.log"
        log.unlink(missing_ok=True)
        args = [
            nats_program(),
            *self._arguments,
            "-js",
            "-a",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-sd",
            str(self.folder),
            "-l",
            str(log),
        ]
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


class RedisServer:
    """A Valkey process; `stop` ends it, `start` brings it back on the same port: empty, unless it `keeps` its data."""

    def __init__(self, folder: Path, arguments: Sequence[str] = (), *, keeps: bool = False) -> None:
        self.folder, self._arguments, self._keeps = folder, arguments, keeps
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        self.port = self.port or free_ports(1)[0]
        args = [valkey_program(), *self._arguments, "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        args += ["--dir", str(self.folder), "--daemonize", "no", "--appendonly", "yes" if self._keeps else "no"]
        self._process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while time.monotonic() < end and self._process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                    connection.sendall(b"PING\r\n")
                    if connection.recv(16).startswith((b"+PONG", b"-NOAUTH")):
                        return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("valkey did not start")

    def pause(self) -> None:
        """It hangs, and knows nothing of it, until `resume`."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, which: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(which)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
