"""A log that is not one chain is found out; so are records that went away unread."""

from __future__ import annotations

from typing import Literal

from services.engine.records import VERSION, Record
from simulate.log_chain import Chain

Kind = Literal["claim", "data", "release"]


def record(epoch: int = 3, kind: Kind = "data", partition: int = 5) -> Record:
    return Record(VERSION, partition, epoch, kind, 0)


def slot(n: int, epoch: int = 3, partition: int = 5) -> str:
    return f"{partition}:{epoch}:{n}:abc"


def test_a_sound_chain_through_a_claim_has_nothing_wrong() -> None:
    chain = Chain(100)
    assert chain.take(101, 90, slot(4), record()) == []
    assert chain.take(102, 0, slot(0, 1, 6), record(1, "claim", 6)) == []
    assert chain.take(103, 101, slot(5), record()) == []
    assert chain.take(107, 103, slot(0, 4), record(4, "claim")) == []
    assert chain.take(108, 107, slot(1, 4), record(4)) == []
    assert (chain.records, chain.missed) == (5, 0)


def test_two_records_after_the_same_one_are_two_writers() -> None:
    chain = Chain(0)
    chain.take(1, 0, slot(0), record(kind="claim"))
    chain.take(2, 1, slot(1), record())
    (words,) = chain.take(3, 1, slot(2), record())
    assert "follows 1, but 2 lies between" in words


def test_an_epoch_that_falls_is_a_zombie_believed() -> None:
    chain = Chain(0)
    chain.take(1, 0, slot(0, 4), record(4, "claim"))
    (words,) = chain.take(2, 1, slot(9, 3), record(3))
    assert "epoch 3 after epoch 4" in words


def test_an_epoch_without_a_claim_was_never_fenced() -> None:
    chain = Chain(0)
    chain.take(1, 0, slot(0), record(kind="claim"))
    (words,) = chain.take(2, 1, slot(1, 4), record(4))
    assert "without a claim" in words


def test_a_slot_that_landed_twice_is_found() -> None:
    chain = Chain(0)
    chain.take(1, 0, slot(0), record(kind="claim"))
    chain.take(2, 1, slot(1), record())
    (words,) = chain.take(3, 2, slot(1), record())
    assert "twice" in words


def test_a_slot_id_that_lies_about_its_epoch_is_found() -> None:
    (words,) = Chain(0).take(1, 0, slot(0, 9), record(3, "claim"))
    assert "says epoch 3 inside" in words


def test_records_trimmed_before_they_were_read_are_missed_not_forgiven() -> None:
    chain = Chain(10)
    assert chain.take(20, 15, slot(7), record()) == []
    assert chain.missed == 1, "15 came after reading began"
    assert chain.take(24, 22, slot(9), record()) == []
    assert chain.missed == 2
