"""Who is alive, and who should hold what."""

from __future__ import annotations

from services.engine.claims import Claims, Placed, ranking, to_hand_over
from services.engine.lease import DEAD_AFTER, RENEW, Silence
from wire.news import Entry
from wire.places import PARTITIONS


def renewing(silence: Silence, start: float, seconds: float) -> float:
    """Renew for a while, without a word of anybody; the time at its end."""
    now = start
    while now < start + seconds:
        now += RENEW
        silence.renewed(now)
    return now


def test_a_peer_silent_for_a_second_of_own_renewals_is_dead() -> None:
    silence = Silence()
    silence.renewed(0.0)
    silence.heard("two", 0.0)
    now = renewing(silence, 0.0, DEAD_AFTER - RENEW)
    assert silence.alive() == {"two"}
    renewing(silence, now, RENEW)
    assert silence.alive() == set()


def test_a_peer_that_is_heard_of_stays_alive() -> None:
    silence = Silence()
    for tick in range(40):
        silence.renewed(tick * RENEW)
        silence.heard("two", tick * RENEW + 0.1)
    assert silence.alive() == {"two"}
    assert silence.quiet(0.4) == set()


def test_while_the_own_renewals_fail_nobody_is_judged() -> None:
    silence = Silence()
    silence.renewed(0.0)
    silence.heard("two", 0.0)
    for tick in range(1, 40):
        silence.not_renewed()
        silence.renewed(tick * 1.0)
    assert silence.alive() == {"two"}


def test_an_observer_that_slept_counts_half_a_second_at_most() -> None:
    silence = Silence()
    silence.renewed(0.0)
    silence.heard("two", 0.0)
    silence.renewed(60.0)
    assert silence.alive() == {"two"}
    assert silence.quiet(0.4) == {"two"}


def test_a_peer_that_says_it_ends_is_dead_at_once_and_may_come_back() -> None:
    silence = Silence()
    silence.gone("two")
    silence.renewed(1.0)
    silence.renewed(1.25)
    assert silence.alive() == set()
    silence.heard("two", 2.0)
    assert silence.alive() == {"two"}


def test_every_engine_ranks_alike_and_shares_are_fair() -> None:
    engines = ["a", "b", "c", "d"]
    first = [ranking(p, engines)[0] for p in range(PARTITIONS)]
    assert first == [ranking(p, reversed(engines))[0] for p in range(PARTITIONS)]
    assert all(8 <= first.count(e) <= 24 for e in engines)


def test_an_engine_that_comes_moves_only_its_own_share() -> None:
    for p in range(PARTITIONS):
        before, after = ranking(p, ["a", "b"])[0], ranking(p, ["a", "b", "c"])[0]
        assert after in (before, "c")


def placed(owner: str, state: str = "open", revision: int = 1) -> dict[int, Placed]:
    return {p: Placed(Entry(owner, "x:1", 3, state), revision) for p in range(PARTITIONS)}


def test_alone_an_engine_claims_everything_at_once() -> None:
    assert Claims("a").due({}, set(), set(), 0.0) == list(range(PARTITIONS))


def test_what_a_living_engine_owns_is_left_alone() -> None:
    assert Claims("a").due(placed("b"), {"b"}, set(), 100.0) == []
    assert Claims("a").due(placed("b", "opening"), {"b"}, set(), 100.0) == []


def test_what_is_held_here_is_not_claimed_again() -> None:
    assert Claims("a").due(placed("a"), set(), set(range(PARTITIONS)), 0.0) == []


def test_a_dead_engine_s_partitions_go_to_the_highest_rank_and_others_wait_200_ms_a_rank() -> None:
    claims = Claims("a")
    entries = placed("dead")
    first = claims.due(entries, {"b"}, set(), 0.0)
    assert first == [p for p in range(PARTITIONS) if ranking(p, {"a", "b"})[0] == "a"]
    assert claims.due(entries, {"b"}, set(first), 0.19) == []
    assert len(claims.due(entries, {"b"}, set(first), 0.21)) == PARTITIONS - len(first)


def test_nobody_waits_for_a_peer_that_is_leaving_and_what_it_still_has_is_left_alone() -> None:
    entries = placed("dead")
    assert Claims("a").due(entries, {"b"}, set(), 0.0, {"b"}) == list(range(PARTITIONS))
    assert Claims("a").due(placed("b"), {"b"}, set(), 100.0, {"b"}) == []


def test_an_offer_is_for_its_engine_and_after_half_a_second_of_silence_for_anybody() -> None:
    entries = placed("b", "offer")
    assert Claims("b").due(entries, {"a"}, set(), 0.0) == list(range(PARTITIONS))
    claims = Claims("a")
    assert claims.due(entries, {"b"}, set(), 0.0) == []
    assert claims.due(entries, {"b"}, set(), 0.4) == []
    assert claims.due(entries, {"b"}, set(), 0.6) != []


def test_an_offer_to_anybody_and_one_s_own_of_an_earlier_life_are_claimed_at_once() -> None:
    assert len(Claims("a").due(placed("", "offer"), set(), set(), 0.0)) == PARTITIONS
    assert len(Claims("a").due(placed("a"), set(), set(), 0.0)) == PARTITIONS


def test_an_engine_gives_away_what_a_newcomer_should_hold() -> None:
    moves = to_hand_over(range(PARTITIONS), "a", {"b"})
    assert moves == [(p, "b") for p in range(PARTITIONS) if ranking(p, {"a", "b"})[0] == "b"]
    assert to_hand_over(range(PARTITIONS), "a", set()) == []
