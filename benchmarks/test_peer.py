"""The peer's own part: fetched once, or left out with a cure."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks import path, peer
from benchmarks.plan import TINY, Clock
from benchmarks.programs import LeftOut
from benchmarks.twins import run
from stack.ports import free_ports


@pytest.fixture
def unreachable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone that has not fetched the peer yet, and a registry where nobody listens."""
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(peer.FOLDER / name, tmp_path)
    monkeypatch.setattr(peer, "FOLDER", tmp_path)
    monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{free_ports(1)[0]}/")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))


@pytest.mark.usefixtures("unreachable")
def test_without_a_registry_the_peer_is_left_out_with_a_cure() -> None:
    with pytest.raises(LeftOut, match=r"no network.*npm ping"):
        peer.install()


def nowhere() -> Path:
    raise LeftOut("the peer could not be installed: get a network")


def test_the_path_is_measured_without_a_peer_that_cant_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "install", nowhere)
    monkeypatch.setattr(path, "ours", lambda turn, plan: run(players=turn.players))
    said: list[str] = []
    found, left_out = path.measure(TINY, Clock(1), said.append)
    assert [one.who for one in found.runs] == [path.OURS]
    assert left_out[0].startswith("all of the peer: ")
    assert "measured without it" in said[0]
