"""`snatch load` on a stack of its own: small, and all of it looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from simulate.load_record import Result, from_json

pytestmark = [pytest.mark.stack, pytest.mark.timeout(240)]


def load(tmp_path: Path, *arguments: str) -> tuple[Result, subprocess.CompletedProcess[str]]:
    env = {k: v for k, v in os.environ.items() if k != "SNATCH_PORT"} | {"SNATCH_DATA": str(tmp_path / "none")}
    report = tmp_path / "load.json"
    command = [sys.executable, "-m", "stack.cli", "load", *arguments, "--json", str(report)]
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=230)
    assert report.exists(), run.stdout + run.stderr
    return from_json(report.read_bytes()), run


def test_sixteen_players_lose_and_double_nothing_and_all_see_what_the_engine_and_the_log_have(tmp_path: Path) -> None:
    result, run = load(tmp_path, "--players", "16", "--rate", "4", "--duration", "5s", "--processes", "2", "--tvs", "4")
    said = run.stdout + run.stderr
    assert (result.lost, result.doubled) == (0, 0), said
    checks = result.checks
    assert checks.hashes["unequal"] == 0, said
    assert checks.hashes["engine"] == checks.hashes["log"] == 16, said
    assert checks.hashes["public"] == 4
    assert checks.answered == checks.moves == checks.word_for_word + checks.by_snapshot > 0, said
    assert checks.unanswered == checks.gaps == 0, said
    assert {name for name, delay in result.delays.items() if delay.count} >= {"connect", "join", "own", "rival", "tv"}
    assert [generator.players for generator in result.generators] == [8, 8]
    assert result.cpu_us_per_move > 0
    assert {service.kind for service in result.services.values()} >= {"engine", "gateway", "nats", "valkey", "watch"}
    assert run.returncode == (0 if result.ok else 1), said
    first = list(json.loads((tmp_path / "load.json").read_text()))[:6]
    assert first == ["cpu_us_per_move", "p50_ms", "p99_ms", "lost", "doubled", "void"]


def test_flat_out_with_lost_sockets_sleeping_tabs_and_slow_tvs_nothing_is_lost_and_a_missed_level_fails_the_run(
    tmp_path: Path,
) -> None:
    result, run = load(
        tmp_path,
        *("--players", "8", "--rate", "0", "--duration", "5", "--tvs", "4"),
        *("--reconnects", "0.5", "--sleepers", "0.5", "--slow", "0.5", "--level", "rate.moves<=1"),
    )
    said = run.stdout + run.stderr
    assert (result.lost, result.doubled, result.checks.hashes["unequal"]) == (0, 0, 0), said
    assert result.checks.unanswered == 0, said
    assert result.closes["dropped"] == result.delays["resume"].count > 0, said
    assert result.rate.moves > 100, said
    assert [level.split(":")[0] for level in result.missed] == ["rate.moves<=1"], said
    assert run.returncode == 1


def test_an_address_that_is_not_this_machine_is_refused() -> None:
    command = [sys.executable, "-m", "stack.cli", "load", "--url", "http://192.0.2.1:8080", "--players", "4"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert "not this machine" in run.stderr
