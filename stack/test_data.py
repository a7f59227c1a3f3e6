"""One stack a folder; its state is told whole; its secret is kept."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from stack.data import DataFolder, InUse
from stack.layout import Wishes, lay_out
from stack.log_files import LogFile


def test_a_second_stack_on_the_same_folder_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    first, second = DataFolder(tmp_path), DataFolder(tmp_path)
    first.lock()
    with pytest.raises(InUse):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()


def test_the_state_of_a_stack_that_has_ended_is_not_believed(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    data.lock()
    data.write_state({"url": "http://127.0.0.1:1"})
    assert DataFolder(tmp_path).state() == {"url": "http://127.0.0.1:1"}
    data.unlock()
    assert DataFolder(tmp_path).state() is None


def test_the_next_stack_is_not_taken_for_one_that_was_killed_before_it(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    data.write_state({"pid": 1})
    data.lock()
    assert DataFolder(tmp_path).state() is None
    data.unlock()


def test_the_secret_is_made_once_and_for_this_user_alone(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    secret = data.secret()
    assert len(secret) >= 32
    assert data.secret() == secret
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_empty_forgets_all_that_a_stack_writes_but_the_lock(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    data.lock()
    lay_out(Wishes(), data)
    data.write_state({"pid": 1})
    LogFile(data.logs / "engine-1.log").open().close()
    assert {p.name for p in tmp_path.iterdir()} > {"nats", "nats.conf", "valkey", "secret", "stack.json", "logs"}
    data.empty()
    assert [p.name for p in tmp_path.iterdir()] == ["lock"]
    with pytest.raises(InUse):
        DataFolder(tmp_path).lock()
    data.unlock()


def test_empty_leaves_what_it_did_not_write(tmp_path: Path) -> None:
    """A folder given by mistake, somebody's home say, loses nothing."""
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter 1").touch()
    (tmp_path / "photo").touch()
    data = DataFolder(tmp_path)
    data.lock()
    data.secret()
    data.empty()
    data.unlock()
    assert {p.name for p in tmp_path.iterdir()} == {"lock", "thesis", "photo"}
    assert (tmp_path / "thesis" / "chapter 1").exists()
