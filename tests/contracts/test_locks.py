"""What the images install is what was tested: the same versions, each with its hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted((ROOT / "deploy" / "locks").glob("*.txt"))
PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", re.M)


def pins(path: Path) -> dict[str, str]:
    return dict(PIN.findall(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_a_lock_has_the_versions_that_are_tested_each_with_a_hash(lock: Path) -> None:
    tested = pins(ROOT / "requirements.txt")
    assert pins(lock).items() <= tested.items(), "run `make locks`"
    entries = re.split(r"^(?=\S)", lock.read_text(encoding="utf-8"), flags=re.M)[1:]
    assert entries
    assert all("--hash=sha256:" in entry for entry in entries)


def test_the_checkers_have_no_other_versions_of_what_is_tested_for_they_share_its_environment() -> None:
    tested, checkers = pins(ROOT / "requirements.txt"), ROOT / "tools" / "checkers.txt"
    shared = pins(checkers).keys() & tested.keys()
    assert "pyyaml" in shared
    assert {name: pins(checkers)[name] for name in shared} == {name: tested[name] for name in shared}, "run `make lock`"
    entries = re.split(r"^(?=\S)", checkers.read_text(encoding="utf-8"), flags=re.M)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)


@pytest.mark.parametrize("service", ["gateway", "rooms", "engine", "bots", "watch"])
def test_a_services_lock_has_all_that_it_asks_for(service: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"][service]]
    names = {re.split(r"[^A-Za-z0-9._-]", line)[0].lower().replace("_", "-") for line in wanted}
    assert names <= pins(ROOT / "deploy" / "locks" / f"{service}.txt").keys(), "run `make locks`"
