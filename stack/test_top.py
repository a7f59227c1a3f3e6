"""`snatch top` on twins: processes that tell what the real services' metrics tell, and a Prometheus that read them."""

from __future__ import annotations

import asyncio
import contextlib
import doctest
import io
import json
import os
import pty
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from rich.console import Console

from stack import metrics_table, top, top_figures, top_screen
from stack.data import ROOT, DataFolder
from stack.metrics_table import KINDS, registries
from stack.top_figures import Figure, Figures, Section, figures
from stack.top_readings import Between, Process, Reading, Series, parsed

Answer = Callable[[bytes], bytes]


@asynccontextmanager
async def http_twin(answer: Answer) -> AsyncIterator[int]:
    """Its port.  `answer`: the body, of a question's body."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
        body = answer(await reader.readexactly(length))
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def telling(registry: CollectorRegistry) -> Answer:
    return lambda _: generate_latest(registry)


@asynccontextmanager
async def stack_twin(folder: Path, told: Mapping[str, CollectorRegistry]) -> AsyncIterator[DataFolder]:
    """A folder that says that these processes run, one of each kind; this one is its `nats`."""
    data = DataFolder(folder)
    data.lock()
    parts: list[dict[str, Any]] = [{"kind": "nats", "name": "nats", "pid": os.getpid(), "ports": {}}]
    ending = []
    try:
        for kind, registry in told.items():
            twin = http_twin(telling(registry))
            port = await twin.__aenter__()
            ending.append(twin)
            parts.append({"kind": kind, "name": f"{kind}-1", "pid": 0, "ports": {"ops": port}})
        data.write_state({"parts": parts})
        yield data
    finally:
        for twin in ending:
            await twin.__aexit__(None, None, None)
        data.remove_state()
        data.unlock()


class Asked(Between):
    """Notes all that it is asked for."""

    def __init__(self, before: Reading, now: Reading) -> None:
        super().__init__(before, now)
        self.names: set[str] = set()
        self.labels: set[tuple[str, str, str]] = set()

    def levels(self, name: str, process: Process | None = None, **labels: str) -> list[float]:
        self._note(name, labels)
        return super().levels(name, process, **labels)

    def _grown(self, name: str, process: Process | None, labels: Mapping[str, str]) -> Any:
        self._note(name, labels)
        return super()._grown(name, process, labels)

    def rates(self, name: str, label: str, **labels: str) -> dict[str, float]:
        self.labels.add((name, label, ""))
        return super().rates(name, label, **labels)

    def _note(self, name: str, labels: Mapping[str, str]) -> None:
        self.names.add(name)
        self.labels |= {(name, label, value) for label, value in labels.items()}


def told_by_all() -> dict[Process, Any]:
    return {Process(kind, f"{kind}-1"): parsed(generate_latest(r).decode()) for kind, r in registries().items()}


def test_each_metric_and_label_that_is_shown_is_one_that_services_tell() -> None:
    said = told_by_all()
    asked = Asked(Reading(0, said), Reading(10, said))
    figures(asked)
    promised = metrics_table.series()
    assert asked.names <= promised.keys()
    entries = {name: entry for entry in metrics_table.catalogue().values() for name in entry.series}
    for name, label, value in asked.labels:
        assert label in promised[name], (name, label)
        values = entries[name].declared.labels.get(label, ())
        assert not value or not values or value in values, (name, label, value)


def test_every_kind_of_process_has_a_row_and_says_what_it_does() -> None:
    said = told_by_all()
    rows = figures(Between(Reading(0, said), Reading(10, said))).rows
    assert [row.process.kind for row in rows] == ["gateway", "rooms", "engine", "bots", "watch"]
    assert all(row.doing for row in rows)


def test_what_is_amiss_is_said_worst_first() -> None:
    engine, gone = Process("engine", "engine-1"), Process("gateway", "gateway-1")
    said = {
        "snatch_engine_partitions_open": [Series({}, 63.0)],
        "snatch_engine_partitions_halted": [Series({}, 1.0)],
        "snatch_rooms_open": [Series({}, 9.0)],
        "snatch_rooms_capacity": [Series({}, 10.0)],
        "snatch_event_loop_lag_recent_seconds": [Series({}, 0.2)],
    }
    now = Reading(10, {engine: said}, {gone: "no answer within 2 s"})
    amiss = figures(Between(now, now)).amiss()
    assert amiss == {
        "Engines and the log: partitions": "63 of 64",
        "Engines and the log: halted": "1",
        "gateway-1": "no answer within 2 s",
        "Capacity: rooms": "9 of 10",
        "engine-1": "its event loop is 200 ms late",
    }


def test_all_is_well_where_nobody_plays() -> None:
    said = told_by_all()
    said[Process("engine", "engine-1")]["snatch_engine_partitions_open"] = [Series({}, 64.0)]
    for process in said:
        said[process]["snatch_nats_connected"] = [Series({}, 1.0)]
    assert figures(Between(Reading(0, said), Reading(10, said))).amiss() == {}


@pytest.mark.parametrize("width", [40, 80, 200])
def test_figures_stand_on_a_grid_so_that_they_stay_where_they_are(width: int) -> None:
    figures_ = [Figure("at tables", "7"), Figure("refused/s", "8.8 no_fit, 6.3 stale"), Figure("p99", "49 ms")]
    shown = Figures([Section("Players", figures_)], [], 10.0)
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(top_screen.picture(shown, "top"))
    lines = console.export_text().splitlines()
    for figure in figures_:
        text = f"{figure.label} {figure.text}"
        assert [line.index(text) % top_screen.CELL for line in lines if text in line] == [0]
    assert max(map(len, lines)) <= width


def test_the_examples_of_numbers_in_words_are_true() -> None:
    assert doctest.testmod(top_figures).failed == 0
    assert doctest.testmod(top_figures).attempted > 0


# ---- the command --------------------------------------------------------------


async def test_one_picture_has_every_process_of_the_stack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with stack_twin(tmp_path, registries()) as data:
        assert await top.show(data.path, None, every=1, once=True, plain=False) == 0
    said = capsys.readouterr().out
    for kind in KINDS:
        assert f"\n{kind}-1 " in said
    assert "\nnats " in said
    for section in ("Players", "Engines and the log", "Sockets", "Bots", "Capacity"):
        assert f"── {section}" in said
    assert "partitions 0 of 64" in said


async def test_a_process_that_does_not_answer_is_a_row_that_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with stack_twin(tmp_path, registries()) as data:
        state = data.state()
        assert state is not None
        state["parts"].append({"kind": "bots", "name": "bots-2", "pid": 0, "ports": {"ops": 1}})
        data.write_state(state)
        assert await top.show(data.path, None, every=1, once=True, plain=False) == 0
    said = capsys.readouterr().out
    assert "✗ bots-2" in said
    assert "\nbots-2 " in said


async def test_without_a_terminal_there_is_a_line_a_look_until_the_stack_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with stack_twin(tmp_path, registries()) as data:
        shown = asyncio.create_task(top.show(data.path, None, every=0.2, once=False, plain=False))
        lines: list[str] = []
        async with asyncio.timeout(30):
            while sum("players=0" in line for line in lines) < 2:
                lines += capsys.readouterr().out.splitlines()
                await asyncio.sleep(0.05)
        data.remove_state()
        assert await shown == top.NONE_RUNS
    assert any("engine-1=0" in line for line in lines)
    assert sum("✗ Engines and the log: partitions 0 of 64" in line for line in lines) == 1, "said once, not each time"
    assert "✗ no stack runs on" in capsys.readouterr().err


async def test_where_nothing_runs_it_says_so_with_a_cure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert await top.show(tmp_path, None, every=1, once=True, plain=False) == top.NONE_RUNS
    said = capsys.readouterr().err
    assert said.startswith("✗ no stack runs on ")
    assert "\n→ " in said


def vector(at: float) -> Iterator[dict[str, Any]]:
    """What an instant query answers, of one process of each kind; another gateway is down."""
    for process, said in told_by_all().items():
        where = {"job": process.kind, "instance": "172.18.0.7:9000"}
        for name, series in said.items():
            for s in series:
                value = s.value + (10 * at if name == "snatch_engine_records_total" else 0)
                yield {"metric": {"__name__": name, **where, **s.labels}, "value": [at, str(value)]}
        yield {"metric": {"__name__": "up", **where}, "value": [at, "1"]}
    down = {"job": "gateway", "instance": "172.18.0.8:9000"}
    yield {"metric": {"__name__": "up", **down}, "value": [at, "0"]}


async def test_a_prometheus_is_asked_twice_and_shows_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[str] = []

    def answer(question: bytes) -> bytes:
        query = parse_qs(question.decode())["query"][0]
        asked.append(query)
        at = 1000.0 if query.endswith(" offset 30s") else 1030.0
        return json.dumps({"status": "success", "data": {"resultType": "vector", "result": list(vector(at))}}).encode()

    async with http_twin(answer) as port:
        assert await top.show(None, f"http://127.0.0.1:{port}/", every=1, once=True, plain=False) == 0
    said = capsys.readouterr().out
    assert len(asked) == 2
    assert "over 30 s" in said
    assert "records/s 10.0" in said
    assert "gateway 172.18.0.8:9000 not scraped" in said
    assert "\nengine 172.18.0.7:9000 " in said


async def test_an_address_that_is_no_prometheus_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    async with http_twin(lambda _: b"<html>") as port:
        url = f"http://127.0.0.1:{port}"
        assert await top.show(None, url, every=1, once=True, plain=False) == top.NONE_RUNS
    assert f"✗ {url} is no Prometheus that answers" in capsys.readouterr().err


async def test_a_prometheus_without_services_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    async with http_twin(lambda _: b'{"status":"success","data":{"resultType":"vector","result":[]}}') as port:
        url = f"http://127.0.0.1:{port}"
        assert await top.show(None, url, every=1, once=True, plain=False) == top.NONE_RUNS
    assert "knows of no service of Snatch" in capsys.readouterr().err


async def test_ctrl_c_is_a_way_to_leave_it_and_no_failure(tmp_path: Path) -> None:
    async with stack_twin(tmp_path, registries()) as data:
        command = (sys.executable, "-m", "stack.top", "--plain", "--every", "0.2", "--data", str(data.path))
        process = await asyncio.create_subprocess_exec(
            *command,
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
            # Whatever a shell starts in the background has it ignored, and so have these tests there.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert process.stdout is not None
        async with asyncio.timeout(60):
            assert b"players=0" in await process.stdout.readline()
            process.send_signal(signal.SIGINT)
            await process.communicate()
        assert process.returncode == 0


async def test_on_a_terminal_it_is_live_until_q(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    async with stack_twin(tmp_path, registries()) as data:
        command = (sys.executable, "-m", "stack.cli", "top", "--every", "0.2", "--data", str(data.path))
        env = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "60"}
        process = await asyncio.create_subprocess_exec(
            *command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=env, start_new_session=True
        )
        os.close(theirs)
        seen, loop = bytearray(), asyncio.get_running_loop()

        def read() -> None:
            with contextlib.suppress(OSError):  # Linux's word for: the other end is closed
                seen.extend(os.read(ours, 65536))

        loop.add_reader(ours, read)
        try:
            async with asyncio.timeout(60):
                while seen.count(b"snatch top") < 3 or b"watch-1" not in seen:  # noqa: ASYNC110 - nothing tells of it
                    await asyncio.sleep(0.05)
                assert seen.index(b"Capacity") < seen.index(b"watch-1")
                seen.clear()
                os.write(ours, b"p")
                while not any(0 < p.find(b"watch-1") < p.find(b"Capacity") for p in seen.split(b"snatch top")):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
                os.write(ours, b"q")
                assert await process.wait() == 0
        finally:
            loop.remove_reader(ours)
            os.close(ours)
            if process.returncode is None:
                process.send_signal(signal.SIGKILL)
                await process.wait()
