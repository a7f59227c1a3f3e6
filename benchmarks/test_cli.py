"""The command, at its smallest: nothing is lost, and the page is made."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from benchmarks import cli
from benchmarks.results import read


def test_parts_that_need_no_servers_run_and_their_page_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--plan", "tiny", "--parts", "deals,rules", "--into", str(tmp_path)]) == 0
    assert sorted(read(tmp_path)) == ["deals", "rules"]
    assert "## Checked deals" in (tmp_path / "benchmarks.md").read_text()
    said = capsys.readouterr().out
    assert said.index("── rules") < said.index("── deals")
    assert cli.main(["--page", "--into", str(tmp_path)]) == 0


def test_a_part_that_breaks_is_told_and_the_others_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> NoReturn:
        raise ZeroDivisionError("of a part")

    monkeypatch.setitem(cli.PARTS, "rules", breaks)
    assert cli.main(["--plan", "tiny", "--parts", "deals,rules", "--into", str(tmp_path)]) == 1
    assert sorted(read(tmp_path)) == ["deals"]
    said = capsys.readouterr().err
    assert "ZeroDivisionError: of a part" in said
    assert "broken, see above: rules" in said


def test_a_part_that_is_none_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--parts", "path,teapots"])
    assert ended.value.code == 2
    assert "there is no teapots: parts are rules, deals" in capsys.readouterr().err
