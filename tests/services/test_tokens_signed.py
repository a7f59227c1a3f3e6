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


OLD, NEW = "the secret of last year", "the secret of this year"
ROUNDS = [Tokens(OLD), Tokens(OLD, also=NEW), Tokens(NEW, also=OLD), Tokens(NEW)]
"""A secret is changed: every service is of one round or of the next, in any mixture."""


@pytest.mark.parametrize(("one", "next_one"), [(ROUNDS[n], ROUNDS[n + 1]) for n in range(3)])
def test_neighbouring_rounds_of_a_change_of_secret_read_each_others_tokens(one: Tokens, next_one: Tokens) -> None:
    # But for the last round, where the old secret's tokens are let go of on purpose.
    signed_by_both = [next_one] if one is ROUNDS[2] else [one, next_one]
    for signer in signed_by_both:
        token = signer.sign("BCDFG", "b1", "p1")
        assert one.read(token) == next_one.read(token) == Claims("BCDFG", "b1", "p1")


def test_a_seat_taken_before_the_change_is_kept_until_the_old_secret_goes() -> None:
    token = ROUNDS[0].sign("BCDFG", "b1", "p1")
    assert [during.read(token).player for during in ROUNDS[:3]] == ["p1"] * 3
    with pytest.raises(BadToken):
        ROUNDS[3].read(token)


def test_a_change_of_secret_needs_all_its_rounds() -> None:
    with pytest.raises(BadToken):
        ROUNDS[0].read(ROUNDS[2].sign("BCDFG", "b1", "p1"))


def test_no_other_secret_means_none_not_an_empty_one() -> None:
    with pytest.raises(BadToken):
        tokens.read(str(URLSafeSerializer("", salt="snatch.player").dumps({"r": "BCDFG", "b": "b1", "p": "p1"})))
