"""A token is its player, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from itsdangerous import URLSafeSerializer

from servicekit.tokens import MAX_LENGTH, BadToken, Claims, Tokens

SECRET = "a secret for the tests"
tokens = Tokens(SECRET)


def test_a_token_says_room_birth_and_player() -> None:
    assert tokens.read(tokens.sign("BCDFG", "b1", "p1")) == Claims("BCDFG", "b1", "p1")


def test_a_token_can_go_into_an_address() -> None:
    assert all(c.isalnum() or c in "-_." for c in tokens.sign("BCDFG", "b1", "p1"))


@given(st.text(max_size=MAX_LENGTH + 10))
def test_no_text_is_a_token(text: str) -> None:
    with pytest.raises(BadToken):
        tokens.read(text)


@given(st.data())
def test_a_token_with_another_character_anywhere_is_none(data: st.DataObject) -> None:
    token = tokens.sign("BCDFG", "b1", "p1")
    at = data.draw(st.integers(0, len(token) - 2))  # the last character's low bits may mean nothing
    other = data.draw(st.sampled_from("ABCabc123-_.").filter(lambda c: c != token[at]))
    with pytest.raises(BadToken):
        tokens.read(token[:at] + other + token[at + 1 :])


def test_another_secret_s_token_is_none() -> None:
    with pytest.raises(BadToken):
        tokens.read(Tokens("another secret, as long").sign("BCDFG", "b1", "p1"))


@pytest.mark.parametrize("claims", [None, [], "p1", {"r": "BCDFG"}, {"r": 1, "b": "b", "p": "p"}])
def test_something_else_signed_with_our_secret_is_none(claims: object) -> None:
    forged = URLSafeSerializer(SECRET, salt="snatch.player").dumps(claims)
    with pytest.raises(BadToken):
        tokens.read(str(forged))


def test_something_signed_for_another_purpose_is_none() -> None:
    other = URLSafeSerializer(SECRET, salt="snatch.other").dumps({"r": "BCDFG", "b": "b1", "p": "p1"})
    with pytest.raises(BadToken):
        tokens.read(str(other))


def test_without_a_secret_nothing_is_signed() -> None:
    with pytest.raises(ValueError, match="SNATCH_SECRET"):
        Tokens("")
