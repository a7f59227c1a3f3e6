"""`snatch play` as child processes: up, watched over, ended without a trace."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from stack.data import DataFolder
from stack.ports import free_ports

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]

PATIENCE = 60.0


class Play:
    """`snatch play` on free ports and a folder of its own."""

    def __init__(self, folder: Path, *arguments: str, ports: tuple[int, int] | None = None) -> None:
        self.port, self.watch_port = ports or tuple(free_ports(2))
        self.data = DataFolder(folder)
        self.output = folder.with_suffix(".out")
        env = {k: v for k, v in os.environ.items() if not k.startswith("SNATCH_") and not k.endswith("_URL")}
        env |= {"SNATCH_PORT": str(self.port), "SNATCH_WATCH_PORT": str(self.watch_port)}
        command = [sys.executable, "-m", "stack.cli", "play", "--data", str(folder), *arguments]
        with self.output.open("w") as out:
            self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def state(self) -> dict[str, Any]:
        return self.data.state() or {"ready": False, "parts": []}

    def part(self, name: str) -> dict[str, Any]:
        return next(p for p in self.state()["parts"] if p["name"] == name)

    def said(self) -> str:
        return self.output.read_text()

    def until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.05)

    def until_ready(self) -> None:
        self.until(lambda: bool(self.state()["ready"]))

    def ask(self, path: str, body: Any = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data)
        request.add_header("content-type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def host(self) -> str:
        status, answer = self.ask("/api/rooms", {"name": "Ann", "request_id": os.urandom(8).hex()})
        assert status == 200, answer
        return str(answer["room"])

    def processes(self) -> list[psutil.Process]:
        me = psutil.Process(self.process.pid)
        return [me, *me.children(recursive=True)]

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(20)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    """One stack for all tests that leave it whole."""
    play = Play(tmp_path_factory.mktemp("stack") / "data", "--engines", "2", "--gateways", "2")
    try:
        play.until_ready()
        yield play
    finally:
        play.end()


def gone(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run, after a while."""
    return psutil.wait_procs(processes, timeout=10)[1]


def test_ready_means_that_a_room_can_be_hosted(played: Play) -> None:
    assert played.ask("/readyz")[0] == 200
    room = played.host()
    assert played.ask(f"/api/rooms/{room}")[0] == 200
    assert f"http://127.0.0.1:{played.port}" in played.said()


def test_every_part_is_listed_with_its_ports_and_its_log(played: Play) -> None:
    parts = {p["name"]: p for p in played.state()["parts"]}
    assert {"nats", "valkey", "engine-1", "engine-2", "rooms-1", "bots-1", "watch-1", "gateway-1", "gateway-2"} == set(
        parts
    )
    assert all(Path(p["log"]).exists() and p["ports"] for p in parts.values())
    status = subprocess.run(
        [sys.executable, "-m", "stack.cli", "status", "--data", str(played.data.path)], capture_output=True, text=True
    )
    assert status.returncode == 0, status.stdout
    assert all(name in status.stdout for name in parts)


@pytest.mark.parametrize("name", ["gateway-1", "engine-1", "rooms-1", "nats", "valkey"])
def test_a_part_that_is_killed_comes_back_and_rooms_are_still_there(played: Play, name: str) -> None:
    played.until_ready()
    room = played.host()
    before = played.part(name)
    os.kill(before["pid"], signal.SIGKILL)
    played.until(lambda: played.part(name)["restarts"] > before["restarts"])
    played.until_ready()
    # A killed server may have kept the last second for itself; a room that was told is not its to lose.
    if name != "valkey":
        assert played.ask(f"/api/rooms/{room}")[0] == 200
    assert played.host()


def test_a_second_stack_on_the_same_folder_is_refused_with_the_cure(played: Play) -> None:
    second = Play(played.data.path)
    assert second.process.wait(20) == 1
    assert "already runs" in second.said()
    assert "--data" in second.said()
    assert played.process.poll() is None


def test_a_taken_port_is_said_with_the_setting_that_changes_it(tmp_path: Path) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        taken = sock.getsockname()[1]
        play = Play(tmp_path / "data", ports=(taken, free_ports(1)[0]))
        assert play.process.wait(20) == 1
        assert f"port {taken} of 127.0.0.1 is taken" in play.said()
        assert "SNATCH_PORT=" in play.said()
        play = Play(tmp_path / "data", ports=(free_ports(1)[0], taken))
        assert play.process.wait(20) == 1
        assert "SNATCH_WATCH_PORT=" in play.said()


def test_stop_ends_the_stack_of_a_folder_and_says_when_none_runs(tmp_path: Path) -> None:
    stop = [sys.executable, "-m", "stack.cli", "stop", "--data", str(tmp_path / "data")]
    play = Play(tmp_path / "data")
    play.until_ready()
    processes = play.processes()
    stopped = subprocess.run(stop, capture_output=True, text=True, timeout=30)
    assert (stopped.returncode, stopped.stderr) == (0, ""), stopped.stdout
    assert play.process.wait(20) == 0, "as by Ctrl-C"
    assert gone(processes) == []
    again = subprocess.run(stop, capture_output=True, text=True, timeout=30)
    assert again.returncode == 4
    assert "no stack runs on" in again.stdout


def test_ctrl_c_ends_all_leaves_nothing_and_a_restart_finds_the_rooms_again(tmp_path: Path) -> None:
    play = Play(tmp_path / "data")
    play.until_ready()
    room = play.host()
    processes = play.processes()
    assert play.end() == 0, play.said()
    assert gone(processes) == []
    assert play.data.state() is None

    again = Play(tmp_path / "data")
    again.until_ready()
    assert again.ask(f"/api/rooms/{room}")[0] == 200
    assert again.end(signal.SIGTERM) == 0

    fresh = Play(tmp_path / "data", "--fresh")
    fresh.until_ready()
    assert fresh.ask(f"/api/rooms/{room}")[0] == 404
    processes = fresh.processes()
    fresh.process.kill()
    fresh.process.wait()
    assert gone(processes) == [], "killed without a word, it leaves nothing either"
