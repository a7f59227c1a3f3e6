"""A link comes back by the page's own rules, whatever became of the server at its other end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve

from simulate import link
from simulate.link import Link


class Listener:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[bytes] = asyncio.Queue()
        self.downs = 0
        self.went_down = asyncio.Event()
        self.is_owed = False
        self.ended_as: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()

    def hello(self) -> bytes:
        return b'{"t":"hello"}'

    def heard(self, data: bytes) -> bool:
        self.messages.put_nowait(data)
        return True

    def owed(self) -> bool:
        return self.is_owed

    def down(self) -> None:
        self.downs += 1
        self.went_down.set()

    def ended(self, code: int, reason: str) -> None:
        self.ended_as.set_result((code, reason))


class TwinServer:
    """Greets each hello with what it is told to say, and closes with `code` when that is set."""

    def __init__(self) -> None:
        self.hellos = 0
        self.says: list[Any] = ['{"n":1}']
        self.code: int | None = None
        self.pongs = False
        self.others: asyncio.Queue[Any] = asyncio.Queue()
        """What came besides hellos."""
        self.server: Server | None = None

    async def serve(self, socket: ServerConnection) -> None:
        async for data in socket:
            if data != '{"t":"hello"}':
                self.others.put_nowait(data)
                if self.pongs:
                    await socket.send('{"t":"pong","at":0}')
                continue
            self.hellos += 1
            for words in self.says:
                await socket.send(words)
            if self.code is not None:
                await socket.close(self.code, "over")

    @property
    def url(self) -> str:
        assert self.server is not None
        return f"ws://127.0.0.1:{next(iter(self.server.sockets)).getsockname()[1]}/ws"


@pytest.fixture
async def twin() -> AsyncIterator[TwinServer]:
    twin = TwinServer()
    async with serve(twin.serve, "127.0.0.1", 0) as server:
        twin.server = server
        yield twin


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "FIRST_WAIT", 0.01)


@pytest.fixture
async def listener() -> Listener:
    return Listener()


def opened(url: str, listener: Listener) -> Link:
    made = Link(url, listener, Random(1))
    made.start()
    return made


async def test_messages_come_whole_whatever_their_size_and_however_they_are_cut(
    twin: TwinServer, listener: Listener
) -> None:
    sizes = [1, 125, 126, 4000, 65535, 65536, 200_000]
    twin.says = [*("x" * size for size in sizes), ["frag", "men", "ted"]]
    made = opened(twin.url, listener)
    async with asyncio.timeout(10):
        assert [len(await listener.messages.get()) for _ in sizes] == sizes
        assert await listener.messages.get() == b"fragmented"
    made.stop()


async def test_a_server_that_goes_is_tried_again_until_it_serves(twin: TwinServer, listener: Listener) -> None:
    twin.code = 1012
    made = opened(twin.url, listener)
    async with asyncio.timeout(10):
        for _ in range(3):
            await listener.messages.get()
        twin.code = None
        while not made.is_open or twin.hellos < 4:
            await listener.messages.get()
    assert listener.downs >= 3
    made.stop()


@pytest.mark.parametrize("code", sorted(link.FINAL))
async def test_after_a_final_code_nobody_comes_back(twin: TwinServer, listener: Listener, code: int) -> None:
    twin.code = code
    made = opened(twin.url, listener)
    async with asyncio.timeout(10):
        assert await listener.ended_as == (code, "over")
    assert (twin.hellos, listener.downs, made.is_open) == (1, 0, False)


async def test_a_stopped_server_whose_kernel_takes_the_connection_is_given_up_and_another_found(
    twin: TwinServer, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "OPEN_WITHIN", 0.2)
    silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    url = f"ws://127.0.0.1:{silent.sockets[0].getsockname()[1]}/ws"
    made = opened(url, listener)
    async with asyncio.timeout(10):
        await listener.went_down.wait()
        made._uri = Link(twin.url, listener, Random(1))._uri  # the next source port is another draw
        await listener.messages.get()
    assert listener.downs >= 1
    made.stop()
    silent.close()


async def test_opening_may_take_as_long_as_it_did_many_times_over_and_longer_after_each_try_in_vain(
    twin: TwinServer, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "OPEN_WITHIN_LEAST", 0.0)
    made = opened(twin.url, listener)
    assert made._open_within == link.OPEN_WITHIN
    before = time.monotonic()
    async with asyncio.timeout(10):
        await listener.messages.get()
    assert 0.0 < made._open_within <= link.OPEN_TIMES * (time.monotonic() - before)
    monkeypatch.setattr(link, "OPEN_WITHIN_LEAST", 5.0)
    async with asyncio.timeout(10):
        made._socket.end(abort=True)  # type: ignore[union-attr]
        await listener.messages.get()
    assert made._open_within == 5.0
    hellos = twin.hellos
    made._too_slow_to_open()
    assert made._open_within == 7.5
    assert "again" not in made._timers  # no wait beside the one that it was
    async with asyncio.timeout(10):
        await listener.messages.get()
    assert twin.hellos == hellos + 1
    made.stop()


async def test_silence_counts_as_death_though_the_socket_is_open(
    twin: TwinServer, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "SILENCE", 0.2)
    made = opened(twin.url, listener)
    async with asyncio.timeout(10):
        await listener.messages.get()
        await listener.went_down.wait()
        await listener.messages.get()
    assert twin.hellos >= 2
    made.stop()


async def test_a_silence_while_an_answer_is_owed_is_asked_about_and_given_up_long_before_it_is_death(
    twin: TwinServer, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "DOUBT_AFTER", 0.1)
    monkeypatch.setattr(link, "PONG_WITHIN", 0.1)
    made = opened(twin.url, listener)
    async with asyncio.timeout(8):  # SILENCE is longer
        await listener.messages.get()
        listener.is_owed = True
        made.send(b'{"t":"move"}')
        said = [(await twin.others.get())[:11] for _ in range(3)]
        assert said == ['{"t":"ping"', '{"t":"move"', '{"t":"ping"']
        await listener.went_down.wait()
        await listener.messages.get()
    assert made._pong_within == 0.2
    made.stop()


async def test_a_server_that_answers_the_ping_is_alive_though_it_owes_an_answer(
    twin: TwinServer, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "DOUBT_AFTER", 0.05)
    twin.pongs = True
    listener.is_owed = True
    made = opened(twin.url, listener)
    async with asyncio.timeout(20):
        for _ in range(4):
            await listener.messages.get()
    assert (listener.downs, twin.hellos) == (0, 1)
    made.stop()


async def test_a_hello_that_nobody_answers_is_said_to_another(
    twin: TwinServer, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "DOUBT_AFTER", 0.1)
    monkeypatch.setattr(link, "PONG_WITHIN", 0.1)
    twin.says = []
    made = opened(twin.url, listener)
    async with asyncio.timeout(8):
        await listener.went_down.wait()
        twin.says = ['{"n":1}']
        await listener.messages.get()
    made.stop()


async def test_what_is_said_while_it_is_down_is_not_sent_and_said_to_be_so(listener: Listener) -> None:
    made = opened("ws://127.0.0.1:1/ws", listener)
    assert made.send(b"{}") is False
    await asyncio.wait_for(listener.went_down.wait(), 10)
    assert made.send(b"{}") is False
    made.stop()
