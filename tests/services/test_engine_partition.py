"""Who may write a partition, and whether a write is in: the fence, case by case."""

from __future__ import annotations

import pytest

from services.engine.partition import EMPTY, Last, Partition, Phase, Verdict, WrongState, epoch_of


def opened(last: Last = EMPTY, nonce: str = "me") -> Partition:
    """A partition at the end of its replay, its claim record at `last.sequence + 2`."""
    partition = Partition(5, nonce)
    partition.claim(last, 0)
    partition.won(b"claim")
    assert partition.acked(last.sequence + 2) is Verdict.COMMITTED
    partition.replayed()
    return partition


def test_a_claim_s_epoch_is_above_both_the_log_s_and_the_placement_s() -> None:
    assert Partition(5, "me").claim(Last(40, "5:7:3:x", 7), 2) == 8
    assert Partition(5, "me").claim(EMPTY, 9) == 10
    assert Partition(5, "me").claim(EMPTY, 0) == 1


def test_the_claim_record_is_the_fence_and_expects_the_last_record_seen() -> None:
    partition = Partition(5, "me")
    partition.claim(Last(40, "5:7:3:x", 7), 7)
    slot = partition.won(b"claim")
    assert (slot.expected, slot.body) == (40, b"claim")
    assert epoch_of(slot.id) == 8
    assert partition.acked(44) is Verdict.COMMITTED
    assert (partition.phase, partition.fence) == (Phase.REPLAYING, 44)


def test_each_record_says_the_oldest_that_is_needed_and_a_claim_what_the_last_one_said() -> None:
    partition = Partition(5, "me")
    partition.claim(Last(40, "5:7:3:x", 7, needed=31), 7)
    assert partition.won(b"claim").needed == 31
    assert partition.judge(Last(42, "5:7:4:x", 7, needed=38)) is Verdict.NEW_FENCE
    assert partition.fence_again().needed == 31
    partition.acked(44)
    partition.replayed()
    assert partition.stage(b"moves").needed == 31
    partition.acked(45)
    partition.needed = 45
    assert partition.stage(b"more").needed == 45


def test_a_zombie_s_append_before_the_fence_is_taken_in_and_the_fence_goes_behind_it() -> None:
    partition = Partition(5, "me")
    partition.claim(Last(40, "5:7:3:x", 7), 7)
    first = partition.won(b"claim")
    assert partition.judge(Last(42, "5:7:4:x", 7)) is Verdict.NEW_FENCE
    again = partition.fence_again()
    assert (again.expected, again.id, again.body) == (42, first.id, first.body)


def test_a_claimant_that_is_overtaken_by_a_higher_epoch_resigns() -> None:
    partition = Partition(5, "me")
    partition.claim(Last(40, "5:7:3:x", 7), 7)
    partition.won(b"claim")
    assert partition.judge(Last(42, "5:9:0:other", 9)) is Verdict.DEPOSED


def test_a_rival_with_the_same_epoch_is_told_apart_by_its_nonce() -> None:
    partition = Partition(5, "me")
    partition.claim(EMPTY, 0)
    slot = partition.won(b"claim")
    rival = slot.id.replace(":me", ":other")
    assert partition.judge(Last(2, rival, 1)) is Verdict.DEPOSED


def test_a_lost_acknowledgement_is_found_at_the_leader() -> None:
    partition = opened()
    slot = partition.stage(b"moves")
    assert partition.judge(Last(9, slot.id, 1)) is Verdict.COMMITTED
    assert partition.last == 9
    assert partition.stage(b"more").expected == 9


def test_busy_or_not_there_means_the_same_bytes_again_and_never_deposed() -> None:
    partition = opened()
    slot = partition.stage(b"moves")
    for _ in range(5):
        assert partition.judge(Last(2, "5:1:0:me", 1)) is Verdict.AGAIN
        assert partition.slot == slot
    assert partition.acked(7) is Verdict.COMMITTED


def test_a_foreign_record_of_a_higher_epoch_deposes() -> None:
    partition = opened()
    partition.stage(b"moves")
    assert partition.judge(Last(9, "5:2:0:other", 2)) is Verdict.DEPOSED
    assert partition.phase is Phase.DEPOSED
    assert partition.slot is None


def test_a_foreign_record_at_the_own_epoch_halts() -> None:
    partition = opened()
    partition.stage(b"moves")
    assert partition.judge(Last(9, "5:1:1:other", 1)) is Verdict.HALTED


@pytest.mark.parametrize("last", [EMPTY, Last(1, "5:0:9:x", 0)])
def test_a_log_that_went_backwards_halts(last: Last) -> None:
    partition = opened()
    partition.stage(b"moves")
    assert partition.judge(last) is Verdict.HALTED
    assert "after 2" in partition.why
    partition.dropped()
    assert partition.phase is Phase.HALTED


def test_a_log_that_went_backwards_under_a_claim_halts() -> None:
    partition = Partition(5, "me")
    partition.claim(Last(40, "5:7:3:x", 7), 7)
    partition.won(b"claim")
    assert partition.judge(Last(12, "5:6:3:x", 6)) is Verdict.HALTED


def test_an_acknowledgement_below_what_was_expected_halts() -> None:
    partition = opened(Last(40, "5:7:3:x", 7))
    partition.stage(b"moves")
    assert partition.acked(41) is Verdict.HALTED


def test_one_append_in_flight_at_most_and_its_bytes_stay() -> None:
    partition = opened()
    slot = partition.stage(b"moves")
    with pytest.raises(WrongState):
        partition.stage(b"others")
    assert partition.slot == slot


def test_slot_ids_are_never_used_twice() -> None:
    partition = opened()
    ids = set()
    for sequence in range(10, 20):
        ids.add(partition.stage(b"moves").id)
        partition.acked(sequence)
    assert len(ids) == 10


def test_nothing_is_staged_before_the_replay_is_done_or_after_the_end() -> None:
    partition = Partition(5, "me")
    with pytest.raises(WrongState):
        partition.stage(b"moves")
    partition.claim(EMPTY, 0)
    with pytest.raises(WrongState):
        partition.stage(b"moves")
    partition.won(b"claim")
    partition.acked(2)
    with pytest.raises(WrongState):
        partition.stage(b"moves")
    partition.replayed()
    partition.deposed()
    with pytest.raises(WrongState):
        partition.stage(b"moves")


def test_a_handed_over_partition_still_takes_its_release_record() -> None:
    partition = opened()
    partition.hand()
    assert partition.stage(b"release").expected == 2


def test_the_epoch_of_a_message_that_no_engine_wrote_is_0() -> None:
    assert epoch_of("") == epoch_of("garbage") == epoch_of("1:x:2:y") == 0
