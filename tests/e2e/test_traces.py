"""One trace for each sampled move, from its socket to its frame, whichever processes it passes; none when off."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from servicekit.settings import Settings
from servicekit.tracing_spans import Traces
from services.engine.app import Engine
from services.gateway.app import Gateway
from services.watch.app import Watch
from simulate.phone import Phone
from tests.e2e.inprocess import Stack, stack_in_process
from tests.e2e.party import Party, must, party, until, within
from wire import client_in

pytestmark = pytest.mark.timeout(180)

SPANS = [
    ("move", "", "gateway"),
    ("send", "move", "gateway"),
    ("command", "move", "engine"),
    ("queue", "command", "engine"),
    ("decide", "command", "engine"),
    ("append", "command", "engine"),
    ("frame", "command", "engine"),
]
"""Name, parent and service of each, in order; then come those who hear the frame."""
HEARD = [("hear", "frame", "gateway"), ("socket", "hear", "gateway")]


class Kept(SimpleSpanProcessor):
    """Of a service that may end before the others: what it told stays, and theirs comes on."""

    def shutdown(self) -> None:
        """The test reads on."""


class Traced:
    """Where the services of a stack leave their spans."""

    def __init__(self) -> None:
        self.spans = InMemorySpanExporter()
        self.sampled = 0
        """So many of the next moves are; no other is."""

    def traces(self, service: str, settings: Settings) -> Traces:
        half = settings.model_copy(update={"trace_ratio": 0.5})
        return Traces(service, half, Kept(self.spans), self._chance)

    def _chance(self) -> float:
        self.sampled -= 1
        return 0.49 if self.sampled >= 0 else 0.5

    async def roots(self, number: int = 1) -> list[ReadableSpan]:
        """So many traces whose moves are answered."""
        async with asyncio.timeout(10):
            while len(found := self._roots()) < number:  # noqa: ASYNC110 - an exporter tells nobody
                await asyncio.sleep(0.01)
        assert len(found) == number
        return found

    def _roots(self) -> list[ReadableSpan]:
        return [span for span in self.spans.get_finished_spans() if span.parent is None]

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans.get_finished_spans() if span.name == name]

    def trace(self, root: ReadableSpan) -> list[tuple[str, str, str]]:
        """Its spans, as `SPANS` has them."""
        mine = [s for s in self.spans.get_finished_spans() if ids(s)[0] == ids(root)[0]]
        names = {ids(s)[1]: s.name for s in mine}
        mine.sort(key=lambda s: (s.start_time or 0, -(s.end_time or 0)))
        return [
            (s.name, names[s.parent.span_id] if s.parent is not None else "", _service(s).removeprefix("snatch-"))
            for s in mine
        ]


def ids(span: ReadableSpan) -> tuple[int, int]:
    """Of its trace, and its own."""
    assert span.context is not None
    return int(span.context.trace_id), int(span.context.span_id)


def said(span: ReadableSpan, name: str) -> object:
    return (span.attributes or {}).get(f"snatch.{name}")


def _service(span: ReadableSpan) -> str:
    return str(span.resource.attributes["service.name"])


@asynccontextmanager
async def traced_stack(folder: Path, *, gateways: int = 1, engines: int = 1) -> AsyncIterator[tuple[Stack, Traced]]:
    traced = Traced()
    async with stack_in_process(
        folder,
        gateways=gateways,
        engines=engines,
        engine=lambda settings: Engine(settings, traces=traced.traces("engine", settings)),
        gateway=lambda settings: Gateway(settings, traced.traces("gateway", settings)),
        watch=lambda settings: Watch(settings, traced.traces("watch", settings)),
    ) as stack:
        yield stack, traced


async def at_a_table(people: Party, *others: str) -> list[Phone]:
    phones = [await people.host("Ann"), *[await people.join(name) for name in others]]
    await people.start(phones[0])
    return phones


async def test_a_sampled_move_is_one_trace_from_its_socket_to_its_frame_and_no_other_move_is_any(
    tmp_path: Path,
) -> None:
    async with traced_stack(tmp_path) as (stack, traced), party(stack) as people:
        (ann,) = await at_a_table(people)
        await must(ann, client_in.SetOptions({"length": "to50"}))
        traced.sampled = 1
        await must(ann, client_in.SetOptions({"length": "one"}))
        written = last_record(stack, people.room)
        await must(ann, client_in.SetOptions({"length": "to50"}))
        (root,) = await traced.roots()
        assert traced.trace(root) == [*SPANS, *HEARD]
        assert (said(root, "room"), said(root, "seat"), said(root, "move")) == (people.room, ann.screen.seat, 2)
        spans = {span.name: span for span in traced.spans.get_finished_spans()}
        assert said(spans["decide"], "result") == "ok"
        assert said(spans["frame"], "subject") == f"f.{people.room}.table"
        assert said(spans["append"], "sequence") == written
        ends = {name: span.end_time or 0 for name, span in spans.items()}
        assert ends["append"] <= (spans["frame"].start_time or 0), "nothing is told before it is committed"
        assert ends["socket"] == ends["move"] <= ends["hear"]


def last_record(stack: Stack, room: str) -> int:
    """Of a room's partition: its sequence."""
    hall = stack.engines[0].hall
    assert hall is not None
    owner = hall.owner_of(room)
    assert owner is not None
    return owner.partition.last


async def test_whoever_hears_the_frame_is_in_the_trace_another_gateway_and_the_televisions(tmp_path: Path) -> None:
    async with traced_stack(tmp_path, gateways=2) as (stack, traced), party(stack) as people:
        ann = await people.host("Ann")
        people.url = f"http://127.0.0.1:{stack.gateways[1].port}"
        await people.join("Bo")
        tv = await people.tv()
        await people.start(ann)
        await until(tv, lambda t: t.screen.table is not None)
        traced.sampled = 1
        await must(ann, client_in.SetOptions({"length": "to50"}))
        await until(tv, lambda t: t.screen.table.options["length"] == "to50")
        (root,) = await traced.roots()
        heard = sorted(traced.trace(root)[len(SPANS) :])
        assert heard == sorted([*HEARD, ("hear", "frame", "gateway"), ("hear", "frame", "watch")])


async def test_moves_of_one_record_have_a_trace_each(tmp_path: Path) -> None:
    async with traced_stack(tmp_path) as (stack, traced), party(stack) as people:
        ann, bo = await at_a_table(people, "Bo")
        await must(ann, client_in.Deal())
        await people.live()
        traced.sampled = 6
        moves = [phone.begin(client_in.Pause()) for phone in (ann, bo, ann, bo, ann, bo)]
        results = [(await within(pending.answer)).no for pending in moves]
        roots = await traced.roots(6)
        for root in roots:
            names = [name for name, _, _ in traced.trace(root)]
            assert sorted(names) == sorted(name for name, _, _ in [*SPANS, *HEARD])
        decided = [said(s, "result") for s in traced.named("decide")]
        assert sorted(map(str, decided)) == sorted("ok" if no is None else no.code for no in results)
        assert len({ids(root)[0] for root in roots}) == 6


async def test_a_move_whose_seat_is_left_before_its_answer_is_told_of_as_a_failure(tmp_path: Path) -> None:
    async with traced_stack(tmp_path) as (stack, traced), party(stack) as people:
        (ann,) = await at_a_table(people)
        await asyncio.to_thread(stack.nats.stop)
        traced.sampled = 1
        ann.begin(client_in.SetOptions({"length": "to50"}))
        async with asyncio.timeout(10):
            while traced.sampled:  # noqa: ASYNC110 - it is the gateway that asks
                await asyncio.sleep(0.01)
        ann.stop()
        (root,) = await traced.roots()
        assert root.status.status_code is StatusCode.ERROR
        await asyncio.to_thread(stack.nats.start)


async def test_coming_to_a_table_is_a_trace_too_with_its_questions_to_engines(tmp_path: Path) -> None:
    async with traced_stack(tmp_path) as (stack, traced), party(stack) as people:
        (ann,) = await at_a_table(people)
        traced.sampled = 1
        again = people.tab(ann.token)
        await until(again, lambda p: p.screen.table is not None)
        (root,) = await traced.roots()
        assert traced.trace(root) == [
            ("attach", "", "gateway"),
            ("ask", "attach", "gateway"),
            ("call", "ask", "engine"),
            ("queue", "call", "engine"),
            ("decide", "call", "engine"),
            ("append", "call", "engine"),
        ]
        assert (said(root, "room"), said(root, "seat")) == (people.room, ann.screen.seat)


async def test_moves_that_are_sent_again_as_their_engine_goes_are_a_trace_each_and_whole(tmp_path: Path) -> None:
    async with traced_stack(tmp_path, engines=2) as (stack, traced), party(stack) as people:
        (ann,) = await at_a_table(people)
        serving = next(e for e in stack.engines if e.hall is not None and e.hall.owner_of(people.room) is not None)
        traced.sampled = 1_000_000
        going, moves = asyncio.create_task(serving.stop()), 0
        while not going.done() or moves < 3:
            await must(ann, client_in.SetOptions({"length": ("one", "to25", "to50")[moves % 3]}))
            moves += 1
        for root in await traced.roots(moves):
            assert root.status.status_code is not StatusCode.ERROR
            spans = traced.trace(root)  # every parent is there, else it raises
            decided = [s for s in traced.named("decide") if ids(s)[0] == ids(root)[0]]
            assert [said(s, "result") for s in decided if said(s, "result")] == ["ok"], "decided once, wherever"
            assert ("socket", "hear", "gateway") in spans or ("socket", "move", "gateway") in spans


PLAIN = """
import sys
from services.bots.app import Bots, BotsSettings
from services.engine.app import Engine, EngineSettings
from services.gateway.app import Gateway, GatewaySettings
from services.watch.app import Watch, WatchSettings
from servicekit import tracing
from servicekit.engine_link import CommandStream
from servicekit.seat import SeatSession
from services.engine.owner import Owner
from services.engine.service import EngineService
Bots(BotsSettings()), Watch(WatchSettings())
gateway, engine = Gateway(GatewaySettings(secret="a secret for the tests")), Engine(EngineSettings())
assert engine._makers() == (Owner, EngineService)
assert tracing.seat(gateway._traces) is SeatSession
print([name for name in sys.modules if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter"))])
"""


def test_off_as_it_is_unless_asked_for_moves_go_the_plain_way_and_opentelemetry_is_not_even_loaded() -> None:
    ran = subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, text=True, timeout=100)
    assert (ran.stdout, ran.returncode) == ("[]\n", 0), ran.stderr
