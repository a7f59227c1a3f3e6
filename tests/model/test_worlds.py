"""Whole worlds of the model: a seed is a seed in every process, broken rules are found, sound ones are not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from model.cli import WITHIN, main
from model.planted import PLANTED
from model.run import many, until_found
from model.schedule import KINDS, schedule
from model.world import run

ROOT = Path(__file__).parents[2]
FEW = 40


def test_some_seeds_are_clean_and_see_claims_hand_overs_resends_and_takeovers() -> None:
    totals = many(50_000, FEW, jobs=1)
    assert [str(result.broken) for result in totals.broken] == []
    for what in ("claims", "releases", "resent appends", "takeovers", "trims", "snapshots", "accepted", "refused"):
        assert totals.counts[what], what


def test_every_kind_of_fault_is_drawn_and_can_befall() -> None:
    drawn = {fault.kind for seed in range(300) for fault in schedule(seed).faults}
    assert drawn == set(KINDS)


def test_a_seed_lives_the_same_life_in_every_process_whatever_its_hashes() -> None:
    script = "from model.world import run\nprint([run(seed).trace for seed in (11, 12, 13, 14, 15)])"
    lives = set()
    for hashes in ("0", "1", "77"):
        env = {**os.environ, "PYTHONHASHSEED": hashes}
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=env, capture_output=True, check=True)
        lives.add(done.stdout)
    assert len(lives) == 1


def test_a_seed_lives_the_same_life_after_others_and_while_it_is_traced() -> None:
    alone = run(21).trace
    run(22)
    told: list[str] = []
    assert run(21, tell=told.append).trace == alone
    assert any("committed log." in line for line in told)


@pytest.mark.parametrize("plant", PLANTED)
def test_a_broken_rule_is_found(plant: str) -> None:
    totals = until_found(plant, WITHIN, jobs=1)
    assert totals.broken, f"{plant} was not found in {totals.seeds} seeds"


def test_a_broken_rule_does_no_harm_once_it_is_mended() -> None:
    for plant in PLANTED:
        run(3, plant)
    assert run(3).broken is None


def test_a_broken_seed_is_told_with_the_command_that_replays_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = until_found("frames_before_commit", WITHIN, jobs=1).broken[0]
    assert main(["--seed", str(found.seed), "--planted", "frames_before_commit"]) == 1
    said = capsys.readouterr().out
    assert f"snatch model --seed {found.seed} --planted frames_before_commit --trace" in said


def test_a_planted_fault_that_there_is_not_is_said_plainly(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--planted", "nonsense"]) == 2
    assert "frames_before_commit" in capsys.readouterr().err


def test_spawned_processes_find_what_one_finds() -> None:
    alone, together = many(60_000, 60, jobs=1), many(60_000, 60, jobs=2)
    assert alone.counts == together.counts
    assert alone.steps == together.steps


@pytest.mark.parametrize("wish", [["--seeds", "0"], ["--seeds", "-5"], ["--jobs", "0"]])
def test_no_worlds_at_all_is_asked_wrongly(wish: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(wish)


def test_a_world_that_never_comes_to_rest_is_broken_and_no_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.loop.MOST_STEPS", 50)
    assert "all is well once faults stop: it never comes to rest" in str(run(0, "").broken)
