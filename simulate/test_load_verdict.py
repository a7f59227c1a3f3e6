from __future__ import annotations

import msgspec
import pytest

from simulate.load_record import Generator, Rate, Result, from_json, to_json
from simulate.load_verdict import BadLevel, check_levels, missed, void_why, well
from simulate.test_load_report import a_result, changed

CALM = Generator(400, 0.4, 60.0, 0.2, 2.0, 9.0)
FULL = Rate(400.0, 396.0, 395.0, 3950, 2)


def test_a_run_whose_generators_kept_up_is_not_void() -> None:
    assert void_why([CALM, CALM], FULL) == []


@pytest.mark.parametrize(
    ("generator", "words"),
    [
        (msgspec.structs.replace(CALM, lag_p99_ms=25.1), "generator 2 was late: p99 25.1 ms"),
        (msgspec.structs.replace(CALM, cpu=0.95), "generator 2 used 0.95 of a core"),
    ],
)
def test_one_saturated_generator_voids_the_run(generator: Generator, words: str) -> None:
    (why,) = void_why([CALM, generator], FULL)
    assert words in why


def test_moves_that_were_due_and_not_sent_void_the_run() -> None:
    (why,) = void_why([CALM], msgspec.structs.replace(FULL, achieved=380.0, moves=3800))
    assert "380 moves a second were sent, 396 were due" in why


def test_moves_that_nobody_could_make_are_not_the_generators_fault() -> None:
    assert void_why([CALM], Rate(400.0, 396.0, 380.0, 3800, 160)) == []


def test_a_rate_far_below_the_one_asked_for_voids_the_run() -> None:
    (why,) = void_why([CALM], Rate(400.0, 350.0, 350.0, 3500, 0))
    assert "of 400 aimed at" in why


def test_a_flat_out_run_has_no_target_to_miss_but_must_move() -> None:
    assert void_why([CALM], Rate(0.0, 9000.0, 9000.0, 90_000, 0)) == []
    assert void_why([CALM], Rate(0.0, 0.0, 0.0, 0, 0)) == ["not one move was made in the hold"]


def test_a_level_names_a_key_of_the_result_and_says_what_was_measured() -> None:
    result = a_result()
    held = ["p99_ms<=50", "delays.own.p50_ms<4", "rate.achieved>=390", "checks.gaps==0"]
    assert missed(result, held) == []
    assert missed(result, ["p99_ms<=45", *held]) == ["p99_ms<=45: 45.6"]


@pytest.mark.parametrize("level", ["p99_ms", "p99_ms=<50", "p99_ms<=fast", ""])
def test_what_is_no_level_is_refused_before_the_run(level: str) -> None:
    with pytest.raises(BadLevel):
        check_levels([level])


@pytest.mark.parametrize("level", ["speed<=5", "delays<=5", "began<=5", "delays.own.p42_ms<=1"])
def test_a_level_that_names_no_figure_is_refused(level: str) -> None:
    with pytest.raises(BadLevel):
        missed(a_result(), [level])


def test_a_run_with_nothing_amiss_is_well() -> None:
    assert well(changed(lost=0, doubled=0, void=False, missed=[]))


@pytest.mark.parametrize(
    "amiss",
    [
        changed(lost=1),
        changed(doubled=1),
        changed(void=True),
        changed(missed=["p99_ms<=1: 2"]),
        changed(checks=msgspec.structs.replace(a_result().checks, unanswered=1)),
        *(
            changed(checks=msgspec.structs.replace(a_result().checks, hashes={"engine": 8, what: 1}))
            for what in ("unequal", "unreachable", "not in the log", "log unread")
        ),
    ],
)
def test_one_thing_amiss_fails_the_run(amiss: Result) -> None:
    assert not well(amiss)


def test_the_first_keys_of_the_json_are_what_a_run_is_judged_by() -> None:
    keys = list(msgspec.json.decode(to_json(a_result())))
    assert keys[:6] == ["cpu_us_per_move", "p50_ms", "p99_ms", "lost", "doubled", "void"]


def test_a_result_is_the_same_after_it_was_written_and_read() -> None:
    result = changed(lost=3, void=True, void_why=["late"])
    assert from_json(to_json(result)) == result
