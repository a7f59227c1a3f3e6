"""deploy/rotate-secret.sh: whatever of two neighbouring rounds a service has read, it knows the players' tokens."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from servicekit.tokens import BadToken, Tokens

DEPLOY = Path(__file__).parents[2] / "deploy"
ROUNDS = ("begin", "swap", "end")


def script(name: str, folder: Path, *arguments: str) -> int:
    env = {**os.environ, "SNATCH_SECRETS": str(folder)}
    return subprocess.run([str(DEPLOY / name), *arguments], env=env, capture_output=True, check=False).returncode


def tokens(folder: Path) -> Tokens:
    """Of a service that starts now."""
    return Tokens((folder / "snatch_secret").read_text(), (folder / "snatch_secret_also").read_text())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert script("make-secrets.sh", tmp_path) == 0
    return tmp_path


def test_no_round_sends_anybody_home(folder: Path) -> None:
    before = [tokens(folder)]
    for which in ROUNDS:
        assert script("rotate-secret.sh", folder, which) == 0
        now = tokens(folder)
        token = now.sign("BCDFG", "b1", "p1")
        assert before[-1].read(token) == now.read(token)
        before.append(now)
    start, _, swapped, end = before
    assert swapped.read(start.sign("BCDFG", "b1", "p1")).player == "p1"
    with pytest.raises(BadToken):
        end.read(start.sign("BCDFG", "b1", "p1"))


def test_rounds_out_of_their_order_change_nothing(folder: Path) -> None:
    for done in ("", *ROUNDS):
        if done:
            assert script("rotate-secret.sh", folder, done) == 0
        wrong = [r for r in ROUNDS if r != ROUNDS[(ROUNDS.index(done) + 1) % 3 if done else 0]]
        held = {file.name: file.read_bytes() for file in folder.iterdir()}
        assert [script("rotate-secret.sh", folder, r) for r in wrong] == [1, 1]
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == held


def test_making_secrets_meanwhile_leaves_a_rotation_alone(folder: Path) -> None:
    assert script("rotate-secret.sh", folder, "begin") == 0
    held = {name: (folder / name).read_text() for name in ("snatch_secret", "snatch_secret_also")}
    assert script("make-secrets.sh", folder) == 0
    assert {name: (folder / name).read_text() for name in held} == held


def test_files_can_be_read_by_the_containers_user(folder: Path) -> None:
    assert script("rotate-secret.sh", folder, "begin") == 0
    assert (folder / "snatch_secret_also").stat().st_mode & 0o777 == 0o444
