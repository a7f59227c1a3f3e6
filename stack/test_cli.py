"""What `snatch play` says of wishes that can't be, before anything runs: what is wrong, and a cure."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from stack import cli
from stack.ports import free_ports


@pytest.fixture
def usual(monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Two free ports, set as the stack's."""
    port, watch_port = free_ports(2)
    monkeypatch.setenv("SNATCH_PORT", str(port))
    monkeypatch.setenv("SNATCH_WATCH_PORT", str(watch_port))
    return port, watch_port


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What was said on the way to exit code 1."""
    assert cli.main(["play", "--plain", *arguments]) == 1
    said = capsys.readouterr().err
    assert said.startswith("✗ ")
    assert "\n→ " in said
    return said


@pytest.mark.parametrize("said", ["abc", "0", "-1", "65536", "8080.5"])
def test_a_port_that_is_none_is_named(
    said: str, usual: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("SNATCH_WATCH_PORT", said)
    assert f"SNATCH_WATCH_PORT is {said}" in refused(capsys, "--data", str(tmp_path))


def test_players_and_tvs_need_ports_of_their_own(
    usual: tuple[int, int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("SNATCH_WATCH_PORT", str(usual[0]))
    assert f"both {usual[0]}" in refused(capsys, "--data", str(tmp_path))


def test_a_taken_port_is_named(usual: tuple[int, int], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", usual[1])):
        assert f"port {usual[1]} of 127.0.0.1 is taken" in refused(capsys, "--data", str(tmp_path))


def test_a_host_that_is_not_this_machine_is_named(
    usual: object, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "203.0.113.7 is no address of this machine" in refused(
        capsys, "--host", "203.0.113.7", "--data", str(tmp_path)
    )


def test_a_data_folder_that_is_a_file_is_named(
    usual: object, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    assert "can't hold the data" in refused(capsys, "--data", str(tmp_path / "file"))


def test_data_of_another_number_of_nats_servers_are_not_started_over(
    usual: object, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "nats" / "jetstream").mkdir(parents=True)
    said = refused(capsys, "--nats", "3", "--data", str(tmp_path))
    assert "written by 1 NATS server, not by 3" in said
    assert "--nats 1" in said
    assert "--fresh" in said


def test_a_sync_that_nats_would_take_for_something_else_is_refused(
    usual: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("SNATCH_NATS_SYNC", "120")
    assert "SNATCH_NATS_SYNC is 120" in refused(capsys, "--data", str(tmp_path))


def test_nats_servers_of_somebody_else_are_not_ours_to_count(
    usual: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("NATS_URL", "nats://127.0.0.1:1")
    assert "NATS_URL" in refused(capsys, "--nats", "3", "--data", str(tmp_path))


def test_ctrl_c_ends_a_command_with_a_word_and_the_shell_s_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_status", interrupted)
    assert cli.main(["status", "--data", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "\n✗ interrupted\n"
