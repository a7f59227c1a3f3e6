"""`snatch soak`, shortly: whether all of many rooms is gone after them.  How memory does takes longer to see."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = [pytest.mark.stack, pytest.mark.timeout(240)]


def test_rooms_that_come_and_go_leave_no_table_no_key_no_subscription_and_a_short_log(tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k != "SNATCH_PORT"} | {"SNATCH_DATA": str(tmp_path / "none")}
    report, plot, table = tmp_path / "soak.json", tmp_path / "soak.svg", tmp_path / "soak.csv"
    command = [sys.executable, "-m", "stack.cli", "soak", "--minutes", "0.5", "--rooms", "8", "--counts-only"]
    command += ["--json", str(report), "--svg", str(plot), "--csv", str(table)]
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=220)
    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(report.read_text())
    assert found["broken"] == {}
    for invariant in (
        "after the last room everything is back where it was",
        "the log is as long as its tables need",
        "every room came and went",
        "no process died",
        "52 cards a seat",
        "one answer per move id",
    ):
        assert found["checks"][invariant] > 0, run.stdout
    assert found["rooms"] >= 8
    assert found["moves"] > 0
    last = found["last"]
    assert last["tables/engines"] == last["sockets/gateways"] == last["sockets/watches"] == last["seats/bots"] == 0
    rows = list(csv.DictReader(table.open()))
    assert max(float(row["tables/engines"]) for row in rows) > 0, "there was something to be left"
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")
    assert plot.stat().st_size < 100_000
