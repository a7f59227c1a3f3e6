"""The stock of deals: who is served first, what is made ahead, and that it stays bounded."""

from __future__ import annotations

import pytest

from services.engine import deal_stock
from services.engine.deal_stock import BATCH, KEPT, KINDS_KEPT, Stock
from services.engine.deal_worker import Kind

TWO = Kind("snatch_solitaire", (0, 1), "{}")
FOUR = Kind("snatch_solitaire", (0, 1, 2, 3), "{}")
EIGHT = Kind("snatch_solitaire", tuple(range(8)), "{}")


class Worker:
    """Makes what is due; every deal has a number of its own."""

    def __init__(self, stock: Stock) -> None:
        self.stock = stock
        self.number = 0
        self.made: list[tuple[Kind, int]] = []

    def once(self) -> list[tuple[str, bytes]] | None:
        due = self.stock.next()
        if due is None:
            return None
        self.made.append(due)
        return self.stock.made(*due, self.deals(due[1]))

    def deals(self, count: int) -> list[bytes]:
        self.number += count
        return [b"%d" % n for n in range(self.number - count, self.number)]

    def all(self) -> list[tuple[str, bytes]]:
        given: list[tuple[str, bytes]] = []
        while (some := self.once()) is not None:
            given += some
        return given


@pytest.fixture
def stock() -> Stock:
    return Stock()


@pytest.fixture
def worker(stock: Stock) -> Worker:
    return Worker(stock)


def test_a_table_that_is_foreseen_finds_its_deal_ready(stock: Stock, worker: Worker) -> None:
    stock.foresee(TWO, soon=True)
    assert worker.all() == []
    assert len(stock) == 1
    assert stock.ask(TWO, "ROOM") == b"0"
    assert (len(stock), stock.waiting) == (0, 0)


def test_as_many_deals_are_there_as_tables_that_may_ask_at_once(stock: Stock, worker: Worker) -> None:
    for _ in range(100):
        stock.foresee(FOUR, soon=True)
    worker.all()
    got = [stock.ask(FOUR, f"R{n}") for n in range(100)]
    assert None not in got
    assert len(set(got)) == 100, "no two tables have one deal"


def test_a_table_that_nobody_foresaw_waits_and_is_told_in_its_turn(stock: Stock, worker: Worker) -> None:
    assert [stock.ask(kind, room) for kind, room in ((TWO, "A"), (FOUR, "B"), (TWO, "C"))] == [None] * 3
    assert stock.waiting == 3
    assert [room for room, _ in worker.all()] == ["A", "C", "B"], "one go makes all of a kind that are waited for"
    assert stock.waiting == 0


def test_who_waits_is_served_before_anything_is_made_ahead(stock: Stock, worker: Worker) -> None:
    for _ in range(50):
        stock.foresee(EIGHT, soon=True)
    worker.once()
    assert stock.ask(TWO, "LATE") is None
    worker.once()
    assert worker.made[-1] == (TWO, 1)


def test_tables_that_may_ask_at_any_moment_come_before_those_that_play(stock: Stock, worker: Worker) -> None:
    stock.foresee(EIGHT, soon=False)
    stock.foresee(FOUR, soon=True)
    worker.all()
    assert worker.made == [(FOUR, 1), (EIGHT, 1)]


def test_a_rare_kind_is_not_starved_by_a_thousand_tables_of_another(stock: Stock, worker: Worker) -> None:
    for _ in range(1000):
        stock.foresee(FOUR, soon=True)
    worker.once()
    stock.foresee(TWO, soon=True)
    worker.once()
    assert worker.made == [(FOUR, BATCH), (TWO, 1)]


def test_what_is_made_ahead_is_given_to_who_came_to_wait_meanwhile(stock: Stock) -> None:
    stock.foresee(TWO, soon=True)
    due = stock.next()
    assert due == (TWO, 1)
    stock.foresee(TWO, soon=True, by=-1)
    assert stock.ask(TWO, "ROOM") is None
    assert stock.next() is None, "one is on its way"
    assert stock.made(*due, [b"deal"]) == [("ROOM", b"deal")]


def test_who_gives_up_waiting_gets_nothing_and_the_deal_stays_for_another(stock: Stock) -> None:
    assert stock.ask(TWO, "GONE") is None
    due = stock.next()
    assert due is not None
    stock.no_longer(TWO, "GONE")
    assert stock.made(*due, [b"deal"]) == []
    assert stock.ask(TWO, "NEXT") == b"deal"


def test_a_kind_that_cannot_be_made_comes_again_after_the_others_who_wait(stock: Stock, worker: Worker) -> None:
    assert stock.ask(TWO, "A") is None
    assert stock.ask(FOUR, "B") is None
    due = stock.next()
    assert due == (TWO, 1)
    assert stock.made(*due, []) == []
    assert [room for room, _ in worker.all()] == ["B", "A"]


def test_a_base_is_there_before_any_table_and_is_filled_up_again(stock: Stock, worker: Worker) -> None:
    stock.keep(TWO, 2)
    worker.all()
    assert len(stock) == 2
    assert stock.ask(TWO, "ROOM") is not None
    worker.all()
    assert len(stock) == 2


def test_deals_of_tables_that_went_elsewhere_are_kept_for_the_next_but_not_all(stock: Stock, worker: Worker) -> None:
    for _ in range(3 * KEPT):
        stock.foresee(TWO, soon=True)
    worker.all()
    for _ in range(3 * KEPT):
        stock.foresee(TWO, soon=True, by=-1)
    assert len(stock) == KEPT
    stock.foresee(TWO, soon=True)
    assert worker.once() is None


def test_kinds_that_nobody_wants_any_more_are_let_go_the_oldest_first(stock: Stock, worker: Worker) -> None:
    kinds = [Kind("snatch_solitaire", (0, n), "{}") for n in range(1, 10 * KINDS_KEPT)]
    for kind in kinds:
        stock.foresee(kind, soon=True)
        worker.all()
        stock.foresee(kind, soon=True, by=-1)
    assert len(stock) == KINDS_KEPT
    assert stock.ask(kinds[-1], "ROOM") is not None
    assert stock.ask(kinds[0], "OTHER") is None


def test_the_stock_is_bounded_and_who_waits_is_served_all_the_same(
    stock: Stock, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deal_stock, "MOST", 20)
    for _ in range(100):
        stock.foresee(TWO, soon=True)
    worker.all()
    assert len(stock) == 20
    assert stock.ask(FOUR, "ROOM") is None
    assert [room for room, _ in worker.all()] == ["ROOM"]
    assert len(stock) == 20


def test_nothing_is_made_for_later_while_that_has_to_rest(stock: Stock) -> None:
    stock.foresee(EIGHT, soon=False)
    assert stock.next(later=False) is None
    stock.foresee(TWO, soon=True)
    assert stock.next(later=False) == (TWO, 1)
    assert stock.ask(FOUR, "ROOM") is None
    assert stock.next(later=False) == (FOUR, 1)
    assert stock.next() == (EIGHT, 1)
