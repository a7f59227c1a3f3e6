"""`snatch simulate` on a stack of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_other_machines_are_never_played_on() -> None:
    command = [sys.executable, "-m", "stack.cli", "simulate", "--url", "http://192.0.2.1:8080"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert "not this machine" in run.stderr
