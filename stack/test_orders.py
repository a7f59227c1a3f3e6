"""Orders reach the stack that runs, are answered there, and say plainly why not."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from stack import cli, orders, scale
from stack.data import DataFolder
from stack.orders import Order, Refused, give, take


@pytest.fixture
def data(tmp_path: Path) -> Iterator[DataFolder]:
    """Of a stack that this process plays."""
    data = DataFolder(tmp_path)
    data.lock()
    yield data
    data.unlock()


class Obeying:
    """Answers orders beside the signal's handler, as the stack does from its loop: two handlers may nest."""

    def __init__(self, data: DataFolder, why: str = "") -> None:
        self.data, self.why = data, why
        self.taken: list[Order] = []
        self.state: dict[str, Any] = {"pid": os.getpid(), "answers": {}, "parts": [{"kind": "engine"}] * 3}
        self._asked, self._over = threading.Event(), False
        self._thread = threading.Thread(target=self._obey)
        data.write_state(self.state)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over = True
        self._asked.set()
        self._thread.join()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self._asked.set()

    def _obey(self) -> None:
        while self._asked.wait() and not self._over:
            self._asked.clear()
            for order in take(self.data):
                self.taken.append(order)
                self.state["answers"][order.id] = {"done": True, "why": self.why, "cure": "try again"}
            self.data.write_state(self.state)


@pytest.fixture
def obeying(data: DataFolder) -> Iterator[Obeying]:
    obeying = Obeying(data)
    before = signal.signal(orders.SIGNAL, obeying)
    obeying.start()
    yield obeying
    obeying.stop()
    signal.signal(orders.SIGNAL, before)


def test_an_order_is_given_once_and_its_answer_waited_for(data: DataFolder, obeying: Obeying) -> None:
    state = give(data, Order("restart", kinds=["engine"]), 10)
    assert [(o.do, o.kinds) for o in obeying.taken] == [("restart", ["engine"])]
    assert obeying.taken[0].id in state["answers"]
    assert take(data) == []


def test_raising_asks_for_as_many_as_there_are_already_or_more(data: DataFolder, obeying: Obeying) -> None:
    scale.raise_to(data.path, {"engine": 2, "gateway": 2}, 10)
    assert obeying.taken[0].counts == {"engine": 3, "gateway": 2}


def test_what_was_not_done_is_said_with_the_cure(
    data: DataFolder, obeying: Obeying, capsys: pytest.CaptureFixture[str]
) -> None:
    obeying.why = "engine-2 does not come up"
    assert cli.main(["scale", "--engines", "2", "--data", str(data.path)]) == 1
    assert capsys.readouterr().err == "✗ engine-2 does not come up\n→ try again\n"


def test_orders_of_two_at_once_are_both_taken_and_rubbish_is_passed_over(data: DataFolder, obeying: Obeying) -> None:
    data.orders.mkdir()
    (data.orders / "rubbish.json").write_text("{")
    (data.orders / "other.json").write_text('{"do": "scale", "colour": 1}')
    with_thread = threading.Thread(target=give, args=(data, Order("restart"), 10))
    with_thread.start()
    give(data, Order("scale", counts={"bots": 2}), 10)
    with_thread.join()
    assert sorted(o.do for o in obeying.taken) == ["restart", "scale"]
    assert list(data.orders.iterdir()) == []


def test_where_no_stack_runs_or_an_older_one_nothing_is_signalled(tmp_path: Path, data: DataFolder) -> None:
    with pytest.raises(Refused, match=r"no stack runs on .*\n→ start one"):
        give(tmp_path / "nowhere", Order("restart"), 1)
    data.write_state({"pid": os.getpid()})
    with pytest.raises(Refused, match="earlier release"):
        give(data, Order("restart"), 1)


def test_nothing_to_change_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scale", "--data", str(tmp_path)]) == 1
    assert "--engines N" in capsys.readouterr().err


def test_a_folder_that_is_named_like_an_order_keeps_no_order_from_being_taken(data: DataFolder) -> None:
    (data.orders / "a.json").mkdir(parents=True)
    orders._put(data.orders, Order("restart", kinds=["bots"], id="b"))
    assert [order.id for order in take(data)] == ["b"]
    assert [entry.name for entry in data.orders.iterdir()] == ["a.json"]
