"""`snatch simulate` on a stack of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stack import lent

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]


def test_two_rooms_are_played_to_their_end_with_every_invariant_looked_at(tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k != "SNATCH_PORT"} | {"SNATCH_DATA": str(tmp_path / "none")}
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "stack.cli", "simulate", "--rooms", "2", "--seats", "3", "--hands", "2"]
    command += ["--speed", "25", "--limit", "120", "--json", str(report)]
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=170)
    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(report.read_text())
    assert found["broken"] == {}
    assert sum(found["hands"].values()) >= 2
    assert found["moves"] == found["done"] + sum(found["refused"].values()) > 0
    assert found["move_to_own_frame_ms"]["p99"] > 0
    for invariant in (
        "52 cards a seat",
        "one answer per move id",
        "every client's view equals the engine's",
        "acknowledged = logged",
        "the log shows what screens show",
        "every message is of the protocol",
        "every room was played to its end",
    ):
        assert found["checks"][invariant] > 0, run.stdout
    assert "move to own frame: p50" in run.stdout


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[dict[str, Any]]:
    with lent.started(folder=tmp_path / "data", say=False) as state:
        yield state


def start_simulating(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    env = {k: v for k, v in os.environ.items() if k != "SNATCH_PORT"} | {"SNATCH_DATA": str(tmp_path / "none")}
    command = [sys.executable, "-m", "stack.cli", "simulate", "--rooms", "1", "--seats", "2", "--no-tv", *arguments]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_log_is_read_where_data_names_it_and_else_it_is_said_that_it_was_not(
    stack: dict[str, Any], tmp_path: Path
) -> None:
    said, errors = start_simulating(tmp_path, "--url", stack["url"], "--limit", "2").communicate(timeout=60)
    assert "acknowledged = logged: not checked" in said, errors
    assert "--data DIR" in said
    run = start_simulating(tmp_path, "--data", stack["data"], "--speed", "25", "--limit", "60")
    said, errors = run.communicate(timeout=90)
    assert run.returncode == 0, said + errors
    assert "✓ acknowledged = logged: " in said


def test_when_its_stack_is_ended_it_ends_too_and_says_so(stack: dict[str, Any], tmp_path: Path) -> None:
    run = start_simulating(tmp_path, "--data", stack["data"], "--speed", "0.1")
    assert run.stdout is not None
    assert stack["url"] in run.stdout.readline(), "it plays"
    os.kill(stack["pid"], signal.SIGTERM)
    _, errors = run.communicate(timeout=30)
    assert run.returncode == 1
    assert f"✗ the stack at {stack['url']} was ended while it was played on" in errors


def test_other_machines_are_never_played_on() -> None:
    command = [sys.executable, "-m", "stack.cli", "simulate", "--url", "http://192.0.2.1:8080"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert "not this machine" in run.stderr
