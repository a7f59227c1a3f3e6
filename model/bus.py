"""A node's connection to the modelled NATS: to everybody's eyes a `servicekit.bus.Bus`.

    bus = SimBus(nats, node, "engine-1", on_disconnect=asker.lost)
    await bus.connected()

Like nats-py's: a lost connection is made again by itself, every 0.1 s; what is published
meanwhile is kept (2 MiB) and sent then; callbacks of one subscription run one after another.
A node that is stalled may have written less than it believes; one that is killed, too.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import coroutine
from typing import Any

import msgspec
import nats.errors
import nats.js.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from model.loop import Node
from model.nats import Link, Parcel, Publish, SimNats
from servicekit.bus import Bus
from services.engine.stream import parse_headers

MOST_KEPT = 2 * 1024 * 1024
RECONNECT = 0.1
Callback = Callable[[Msg], Awaitable[None]]


class SimSubscription(Subscription):
    """One subscription of a bus.  `over`: unsubscribed."""

    def __init__(self, bus: SimBus, subject: str, queue: str, callback: Callback | None) -> None:
        self.bus, self.callback = bus, callback
        self._subject, self._queue = subject, queue
        self.is_inbox = subject.startswith("_INBOX.")
        self.over = False
        self.free_at = 0.0
        """True time of its last delivery: the next one is not before."""
        self._waiting: deque[Msg] = deque()
        self._busy = False
        self._reader: asyncio.Future[None] | None = None

    def receive(self, link: Link, message: Msg) -> None:
        """A message arrives at the node."""
        if self.over or link is not self.bus.link:
            return
        if self.callback is None:
            self._waiting.append(message)
            if self._reader is not None and not self._reader.done():
                self._reader.set_result(None)
        elif self._busy:
            self._waiting.append(message)
        else:
            self._call(message)

    def _call(self, message: Msg) -> None:
        """Run the callback here and now; only one that waits needs a task."""
        assert self.callback is not None
        running: Any = self.callback(message)
        try:
            waits_for = running.send(None)
        except StopIteration:
            return
        except Exception as error:
            self.bus.failed(error)
            return
        self._busy = True
        rest: Any = _go_on(running, waits_for)
        task = self.bus.node.loop.create_task(rest)
        task.add_done_callback(self._called)

    def _called(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.bus.failed(error)
        self._busy = False
        while self._waiting and not self._busy and not self.over:
            self._call(self._waiting.popleft())

    async def next_msg(self, timeout: float | None = 1.0) -> Msg:
        """Raises nats.errors.TimeoutError, ConnectionClosedError."""
        if not self._waiting:
            loop = self.bus.node.loop
            self._reader = loop.create_future()
            timer = loop.call_later(timeout or 1e9, _done, self._reader)
            try:
                await self._reader
            finally:
                timer.cancel()
        if self.bus.is_closed:
            raise nats.errors.ConnectionClosedError
        if not self._waiting:
            raise nats.errors.TimeoutError
        return self._waiting.popleft()

    async def unsubscribe(self, limit: int = 0) -> None:
        self.over = True
        self.bus.ended(self)


@coroutine
def _go_on(running: Coroutine[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    """The rest of a coroutine that has taken its first step outside a task."""
    while True:
        value, raised = None, None
        try:
            value = yield waits_for
        except BaseException as error:
            raised = error
        try:
            waits_for = running.send(value) if raised is None else running.throw(raised)
        except StopIteration:
            return


def _done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class SimBus(Bus):
    """`link` is the connection there is now; `deaf`: (prefix, until) of what does not come through."""

    def __init__(self, nats: SimNats, node: Node, name: str, on_disconnect: Callable[[], None] | None = None) -> None:
        # Nothing of nats-py's client is used: its connection is this one.
        self.nats, self.node, self.name = nats, node, name
        self.on_disconnect = on_disconnect
        self.reconnect_listeners: list[Callable[[], None]] = []
        self.slow_listeners: list[Callable[[Subscription], None]] = []
        self.subscriptions: list[SimSubscription] = []
        self.link: Link | None = None
        self.deaf: tuple[str, float] | None = None
        self._up = False
        self._over = False
        self._kept: Parcel = []
        self._kept_size = 0
        self._unsent: list[Parcel] = []
        self._pongs: list[asyncio.Future[None]] = []
        self._inboxes = 0
        self._number = nats.clients
        self._answers: dict[str, asyncio.Future[Msg]] = {}
        self._answers_on: SimSubscription | None = None
        self._first: asyncio.Future[None] | None = None
        nats.clients += 1
        nats.buses.append(self)
        node.on_kill.append(self._killed)
        node.on_stall.append(self._stalled)
        node.on_resume.append(self._resumed)
        node.soon(self._try)

    # ---- nats-py's ----

    @property
    def is_connected(self) -> bool:
        return self._up

    @property
    def is_closed(self) -> bool:
        return self._over

    async def connected(self) -> None:
        """Wait for the first connection."""
        if not self._up:
            self._first = self.node.loop.create_future()
            await self._first

    async def publish(
        self, subject: str, payload: bytes = b"", reply: str = "", headers: dict[str, str] | None = None
    ) -> None:
        """Raises ConnectionClosedError, OutboundBufferLimitError."""
        if self._over:
            raise nats.errors.ConnectionClosedError
        self._write((subject, reply, headers, payload), len(payload))

    async def subscribe(
        self,
        subject: str,
        queue: str = "",
        cb: Callback | None = None,
        future: asyncio.Future[Msg] | None = None,
        max_msgs: int = 0,
        pending_msgs_limit: int = 0,
        pending_bytes_limit: int = 0,
    ) -> SimSubscription:
        if self._over:
            raise nats.errors.ConnectionClosedError
        subscription = SimSubscription(self, subject, queue, cb)
        self.subscriptions.append(subscription)
        if self._up:
            self._write(subscription, 0)
        return subscription

    async def listen(self, subject: str, hear: Callable[[str, bytes], None]) -> SimSubscription:
        async def here(message: Msg) -> None:
            hear(message.subject, message.data)

        return await self.subscribe(subject, cb=here)

    async def unlisten(self, subscription: Subscription) -> None:
        if not self._over:
            await subscription.unsubscribe()

    def new_inbox(self) -> str:
        self._inboxes += 1
        return f"_INBOX.{self._number}-{self._inboxes}"

    async def request(
        self,
        subject: str,
        payload: bytes = b"",
        timeout: float = 0.5,
        old_style: bool = False,
        headers: dict[str, Any] | None = None,
    ) -> Msg:
        """Raises NoRespondersError, nats.errors.TimeoutError."""
        if self._answers_on is None:
            self._answers_on = await self.subscribe(self.new_inbox() + ".*", cb=self._hear)
        self._inboxes += 1
        token = f"{self._answers_on.subject[:-1]}{self._inboxes}"
        loop = self.node.loop
        future = self._answers[token] = loop.create_future()
        timer = loop.call_later(timeout, _give_up, future)
        try:
            await self.publish(subject, payload, token, headers)
            answer: Msg = await future
        finally:
            timer.cancel()
            self._answers.pop(token, None)
        if not answer.data and (answer.headers or {}).get("Status") == "503":
            raise nats.errors.NoRespondersError
        return answer

    async def _hear(self, message: Msg) -> None:
        future = self._answers.get(message.subject)
        if future is not None and not future.done():
            future.set_result(message)

    async def flush(self, timeout: int = 10) -> None:
        """Raises ConnectionClosedError, FlushTimeoutError."""
        if self._over:
            raise nats.errors.ConnectionClosedError
        loop = self.node.loop
        pong = loop.create_future()
        if self._up and self.link is not None:
            self.nats.ping(self.link, lambda: _done(pong))
        timer = loop.call_later(timeout, _give_up, pong)
        try:
            await pong
        except nats.errors.TimeoutError:
            raise nats.errors.FlushTimeoutError from None
        finally:
            timer.cancel()

    def jetstream(self, **options: Any) -> Any:
        return SimJetStream(self, options.get("timeout", 5.0))

    async def close(self) -> None:
        """What was published goes out first."""
        if self._over:
            return
        self._over, self._up = True, False
        if self.link is not None and self.link.open:
            self.nats.leave(self.link, keep=True)
        self.link = None
        for subscription in self.subscriptions:
            subscription.over = True
        self.subscriptions.clear()

    # ---- the connection ----

    def ended(self, subscription: SimSubscription) -> None:
        if subscription in self.subscriptions:
            self.subscriptions.remove(subscription)
            if self._up:
                self._write(subscription, 0)

    def _write(self, message: Publish | SimSubscription, size: int) -> None:
        if self._up and self.link is not None:
            self.nats.send(self.link, message)
            return
        if self._kept_size + size > MOST_KEPT:
            raise nats.errors.OutboundBufferLimitError
        self._kept.append(message)
        self._kept_size += size

    def _try(self) -> None:
        """Connect, or try again in a moment."""
        if self._over or self._up:
            return
        link = self.nats.connect(self)
        if link is None:
            self.node.after(RECONNECT, self._try)
            return
        self.link, self._up = link, True
        for subscription in self.subscriptions:
            self.nats.send(link, subscription)
        kept, self._kept, self._kept_size = self._kept, [], 0
        for message in kept:
            self.nats.send(link, message)
        if self._first is not None:
            _done(self._first)
            self._first = None
        elif self._unheard_of:
            self.nats.ping(link, self._back)
        self._unheard_of = True

    _unheard_of = False

    def _back(self) -> None:
        for back in list(self.reconnect_listeners):
            back()

    def on_broken(self, link: Link) -> None:
        """The client notices that its connection is gone."""
        if self._over or link is not self.link:
            return
        self.link, self._up = None, False
        if self.on_disconnect is not None:
            self.on_disconnect()
        self.node.after(RECONNECT * (0.2 + 0.8 * self.nats.dice.random()), self._try)

    def on_slow(self, subscription: SimSubscription) -> None:
        """Messages of this subscription were dropped, and the client knows."""
        for slow in list(self.slow_listeners):
            slow(subscription)

    def failed(self, error: BaseException) -> None:
        self.node.loop.errors.append(f"{self.node.name}: a callback of NATS: {error!r}")

    def _killed(self) -> None:
        if self.link is not None and self.link.open:
            chance = self.nats.dice.random()
            if chance < 0.1:
                # With its machine: the server learns of it when its pings are not answered.
                self.node.loop.root.after(20 * chance, self.nats.leave, self.link, True)
            else:
                self.nats.leave(self.link, keep=chance < 0.55)
        self._over = True
        self.nats.buses.remove(self)

    def _stalled(self) -> None:
        if self.link is not None and self.link.open and self.link.flying:
            self._unsent = self.nats.take_back(self.link)

    def _resumed(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self.link is None:
            return
        for parcel in unsent:
            if self.link.open:
                self.nats.post(self.link, parcel)


def _give_up(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_exception(nats.errors.TimeoutError())


class _Read(msgspec.Struct):
    """Of a stream's message, what readers here look at."""

    seq: int
    subject: str
    data: bytes
    headers: dict[str, str]


class SimJetStream:
    """What placement asks of a stream."""

    def __init__(self, bus: SimBus, timeout: float) -> None:
        self._bus, self._timeout = bus, timeout

    async def get_last_msg(self, stream_name: str, subject: str, direct: bool = False) -> _Read:
        """From the leader.  Raises NotFoundError, ServiceUnavailableError, nats.errors.TimeoutError."""
        payload = msgspec.json.encode({"last_by_subj": subject})
        try:
            answer = await self._bus.request(f"$JS.API.STREAM.MSG.GET.{stream_name}", payload, self._timeout)
        except nats.errors.NoRespondersError:
            raise nats.js.errors.ServiceUnavailableError from None
        found = msgspec.json.decode(answer.data)
        if "error" in found:
            raise nats.js.errors.NotFoundError(code=404, err_code=10037, description="no message found")
        message = found["message"]
        headers = parse_headers(_bytes(message["hdrs"]))
        return _Read(message["seq"], message["subject"], _bytes(message["data"]), headers)


def _bytes(text: str) -> bytes:
    return msgspec.convert(text, bytes)
