"""Cells as they are asked for, and what each of them may cost."""

from __future__ import annotations

import pytest

from simulate import chaos_cells as cells
from simulate.chaos import parser, planned
from simulate.chaos_cells import BadCell, Cell
from simulate.faults import FAULTS


def asked(*words: str) -> list[Cell]:
    (its,) = planned(parser().parse_args(words)).values()
    return its


def test_the_issues_own_command_is_twelve_kills_of_engines() -> None:
    (cell,) = asked("--rooms", "100", "--kill", "engine", "--every", "10s", "--duration", "120s")
    assert (cell.name, cell.hits(), cell.every) == ("engine KILL", 12, 10.0)


@pytest.mark.parametrize(("said", "meant"), [("nats-server", "nats"), ("nats", "nats"), ("redis", "valkey")])
def test_servers_go_by_their_programs_names_too(said: str, meant: str) -> None:
    assert asked("--kill", said)[0].kind == meant


def test_a_stop_comes_every_fifteen_seconds_unless_told_otherwise() -> None:
    assert asked("--signal", "STOP")[0].every == 15.0
    assert asked("--signal", "SIGSTOP", "--every", "20s")[0].every == 20.0
    assert asked("--signal", "stop", "--hold", "30s")[0].every > 30.0


@pytest.mark.parametrize(
    "words", [("--kill", "cat"), ("--signal", "HUP"), ("--signal", "STOP", "--every", "5s", "--hold", "10s")]
)
def test_what_is_no_cell_is_refused_in_words(words: tuple[str, ...]) -> None:
    with pytest.raises(BadCell):
        asked(*words)


@pytest.mark.parametrize("words", ["", "0", "-1s", "1h", "s", "nans", "infs"])
def test_no_time_is_none(words: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - float's own words
        cells.seconds(words)


def test_the_matrix_is_every_part_with_every_fault_and_three_nats_servers() -> None:
    plan = planned(parser().parse_args(["--matrix"]))
    assert {(c.kind, c.fault) for c in plan[1]} == {(k, f) for k in cells.KINDS for f in FAULTS}
    assert [c.name for c in plan[3]] == ["nats ×3 KILL", "nats ×3 STOP", "nats ×3 TERM"]


def test_limits_are_the_issues() -> None:
    by_name = {c.name: c.limits for c in (*cells.matrix(), *cells.cluster(), *cells.failover())}
    assert by_name["engine KILL"].gap_p99 == by_name["engine STOP"].gap_p99 == 2.0
    assert by_name["engine TERM"].gap_p99 == 0.25
    assert by_name["engine TERM"].quiet
    assert not by_name["engine KILL"].quiet
    assert by_name["gateway KILL"].sockets == 2.0
    assert by_name["bots STOP"].bots == 3.0
    assert by_name["nats KILL"].gap_max is None, "one server that is away is away"
    assert by_name["nats ×3 STOP"].gap_max == 10.0
    assert by_name["engine failover"].last_back == 3.0
