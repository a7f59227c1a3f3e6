"""Where simulated players play, and that nobody's being there is said at once."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from simulate import cli
from simulate.vigil import Stack

NOBODY = "http://127.0.0.1:1"
"""Port 1: nothing of ours ever listens there."""


def test_an_address_where_nobody_answers_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--url", NOBODY, "--rooms", "1"]) == 2
    assert f"nobody answers at {NOBODY}" in capsys.readouterr().err


def test_a_usual_port_where_nobody_listens_is_no_stack_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNATCH_PORT", "1")
    own = {"url": "http://127.0.0.1:2"}
    with cli.target("", lambda _: None, lambda: nullcontext(own)) as stack:
        assert stack == own


STACK = {"url": "http://127.0.0.1:8080", "nats_url": "nats://127.0.0.1:4222", "data": "/data", "pid": 7}


def test_the_data_folder_names_the_stack_and_an_address_must_be_its_own() -> None:
    def running(data: Path | None) -> Stack | None:
        return STACK if data == Path("/data") else None

    with cli.target("", running, None, Path("/data")) as stack:
        assert stack == STACK
    with cli.target("http://localhost:8080", running, None, Path("/data")) as stack:
        assert stack == {**STACK, "url": "http://localhost:8080"}
    with pytest.raises(cli.NoStack, match=r"not at http://127\.0\.0\.1:9"):
        cli.target("http://127.0.0.1:9", running, None, Path("/data"))
    with pytest.raises(cli.NoStack, match="no stack runs on /other"):
        cli.target("", running, None, Path("/other"))


@pytest.mark.parametrize("option", ["--rooms", "--hands"])
def test_no_rooms_and_no_hands_are_no_wish(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([option, "0"])
    assert "at least 1" in capsys.readouterr().err
