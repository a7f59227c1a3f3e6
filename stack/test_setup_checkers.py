"""The checkers of rules are brought where there are none, and named with a cure where they can't be."""

from __future__ import annotations

from pathlib import Path

import pytest

from stack import setup_checkers, steps
from stack.steps import Failed


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose only programs lie in the folder `bin`, `cp` and `sh` among them; nothing was brought yet."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.delenv("SNATCH_PROMTOOL", raising=False)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(setup_checkers, "PROMTOOL", tmp_path / "promtool")
    monkeypatch.setattr(steps, "LOG", tmp_path / "setup.log")
    return programs


def program(folder: Path, name: str, script: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
    file.chmod(0o755)
    return file


def test_a_machine_without_promtool_and_apt_is_told_where_to_get_one(machine: Path) -> None:
    with pytest.raises(Failed, match="there is no promtool") as failed:
        setup_checkers.promtool()
    assert "SNATCH_PROMTOOL" in failed.value.cure


def test_the_machines_own_promtool_is_taken_if_it_runs(machine: Path) -> None:
    there = program(machine, "promtool", "exit 1")
    assert setup_checkers.find_promtool() is None
    program(machine, "promtool", "exit 0")
    assert setup_checkers.promtool() == str(there)


def test_promtool_is_taken_out_of_debians_package_without_installing_it(machine: Path) -> None:
    program(machine, "apt-get", 'test "$1" = download && touch prometheus_2.42_amd64.deb')
    unpacked = '"$3/usr/bin"'
    program(
        machine,
        "dpkg-deb",
        f"mkdir -p {unpacked}; printf '#!/bin/sh\\nexit 0\\n' >{unpacked}/promtool; chmod 755 {unpacked}/promtool",
    )
    assert setup_checkers.promtool() == str(setup_checkers.PROMTOOL)
    (machine / "apt-get").unlink()
    assert setup_checkers.promtool() == str(setup_checkers.PROMTOOL)


def test_lists_of_packages_are_fetched_first_where_there_are_none(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = machine / "lists"
    program(
        machine,
        "apt-get",
        f"case $1 in update) touch {lists};; download) test -e {lists} && touch prometheus_2.42_amd64.deb;; esac",
    )
    folder = machine / "downloaded"
    folder.mkdir()
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(Failed):
        setup_checkers.download(folder)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    setup_checkers.download(folder)
    assert [file.name for file in folder.iterdir()] == ["prometheus_2.42_amd64.deb"]
