"""Codes, names and partitions: the same everywhere, forever."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.places import CODE_ALPHABET, PARTITIONS, clean_name, new_code, partition_of, tidy_code


@pytest.mark.parametrize("typed", ["BCDFG", "bcdfg", " bcd fg ", "BC-DFG", "b c d f g", "bcd\u00a0fg"])
def test_a_code_as_typed_is_the_code(typed: str) -> None:
    assert tidy_code(typed) == "BCDFG"


@pytest.mark.parametrize("typed", ["", "BCDF", "BCDFGH", "ABCDE", "BCD1G", "BCDFß", "LSLSL", "*.*.>"])
def test_what_is_no_code_is_none(typed: str) -> None:
    assert tidy_code(typed) is None


def test_new_codes_are_codes_without_vowels_and_look_alikes() -> None:
    for _ in range(200):
        code = new_code()
        assert tidy_code(code) == code
        assert not set(code) & set("AEIOULS0123456789")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("Ann", "Ann"),
        ("  Ann \n Lee ", "Ann Lee"),
        ("x" * 40, "x" * 16),
        ("\u202eAnn", "Ann"),
        ("A\u200bnn", "Ann"),
        ("Zoe\u0308", "Zo\u00eb"),
        ("<b>Ann</b>", "<b>Ann</b>"),
        ("", None),
        ("   ", None),
        ("\u200b\u202e", None),
        ("\x00\x01", None),
        ("\u3164\u2800", None),
        ("\u3164Ann\u2800", "Ann"),
        ("\u0301\ufe0f", None),
    ],
)
def test_a_name_is_cleaned(typed: str, shown: str | None) -> None:
    assert clean_name(typed) == shown


@given(st.text(max_size=64))
def test_a_clean_name_is_clean(typed: str) -> None:
    name = clean_name(typed)
    if name is not None:
        assert 1 <= len(name) <= 16
        assert name == name.strip()
        assert clean_name(name) == name


def test_a_room_hashes_onto_the_partition_that_logs_already_hold_it_in() -> None:
    assert [partition_of(room) for room in ("BCDFG", "ZZZZZ", "QRTVW")] == [11, 35, 38]


def test_partitions_are_used_evenly() -> None:
    counts = [0] * PARTITIONS
    for a in CODE_ALPHABET:
        for b in CODE_ALPHABET:
            for c in CODE_ALPHABET:
                counts[partition_of(f"BC{a}{b}{c}")] += 1
    mean = sum(counts) / PARTITIONS
    assert max(counts) < 1.6 * mean
    assert min(counts) > 0.5 * mean
