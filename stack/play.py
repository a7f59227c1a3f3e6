"""`snatch play`: everything on one machine, as child processes that are watched over."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from stack import orders, probes, servers
from stack.change import Change, NotDone
from stack.child import Child, Part, die_with_parent
from stack.data import DataFolder
from stack.layout import Layout
from stack.log_files import LogFile

SERVICES_END, SERVERS_END = 2.2, 2.7
"""Seconds after which what is left of them is killed."""
SETUP_SOON = 3.0
"""Seconds of setting NATS up after which it is said what is waited for."""
LOOK, LOOK_WHEN_READY = 0.1, 1.0
"""Seconds between two looks at a part."""
HEAD_START = {0: 0.5, 1: 0.3, 2: 0.3, 4: 0.2}
"""Seconds that a stage has for itself before the next one is asked to end too, if it takes so long."""


class Screen(Protocol):
    """What the person at the terminal sees."""

    def changed(self, child: Child) -> None: ...

    def say(self, text: str) -> None: ...

    def ready(self, stack: Stack) -> None: ...

    def tick(self, stack: Stack) -> None: ...


class NotUp(Exception):
    """The stack can't come up: which part, and the last it said."""


class Stack:
    """The parts of a layout, from start to end.  `stop` may be called at any time."""

    def __init__(self, layout: Layout, data: DataFolder, screen: Screen) -> None:
        self.layout = layout
        self.data = data
        self.screen = screen
        self.children: list[Child] = []
        self.ready = False
        self.began = time.monotonic()
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._stopping = asyncio.Event()
        self._stale_state = True
        self._unwritable = ""
        """Why the state could not be written the last time."""
        self._news = asyncio.Event()
        self._rounds = asyncio.Condition()
        self._lookers: dict[Child, asyncio.Task[None]] = {}
        self._was_ready = False
        self._answers: dict[str, dict[str, Any]] = {}
        self._orders: asyncio.Queue[orders.Order] = asyncio.Queue()

    # ---- start -------------------------------------------------------------

    async def run(self) -> int:
        """Until `stop`; 0, or 1 when it can't come up.  Leaves nothing running."""
        obeying = asyncio.create_task(self._obey(), name="orders")
        try:
            await self._bring_up()
            await self._watch_over()
        except NotUp as error:
            self.screen.say(f"✗ {error}")
            return 1
        finally:
            obeying.cancel()
            await asyncio.gather(obeying, return_exceptions=True)
            await self._end()
        return 0

    def stop(self) -> None:
        """End all; a second call ends all at once."""
        if self._stopping.is_set():
            for child in self.children:
                child.signal(signal.SIGKILL)
        self._stopping.set()
        self._news.set()

    async def _bring_up(self) -> None:
        for part in self.layout.servers:
            self.add(part)
        while not self._stopping.is_set() and not all(c.state == "ready" for c in self.children):
            await self._round()
        if self._stopping.is_set():
            return
        await self._set_up()
        if not self._stopping.is_set():
            for part in self.layout.services:
                self.add(part)

    def add(self, part: Part) -> Child:
        """Start it, and look after it from now on."""
        child = Child(part, LogFile(self.data.logs / f"{part.name}.log"), self._changed, self._has_heirs)
        self.children.append(child)
        self.children.sort(key=self._place)
        self._lookers[child] = asyncio.create_task(_look_after(child), name=f"look:{part.name}")
        child.start()
        self._stale_state = True
        return child

    def forget(self, child: Child) -> None:
        """It has ended, and is no part any more."""
        self._lookers.pop(child).cancel()
        self.children.remove(child)
        self._stale_state = True
        self._news.set()

    def _place(self, child: Child) -> int:
        order = [p.name for p in (*self.layout.servers, *self.layout.services)]
        return order.index(child.part.name) if child.part.name in order else len(order)

    async def _set_up(self) -> None:
        """The stream and the bucket, made once, before any engine runs."""
        log = LogFile(self.data.logs / "setup.log")
        me = os.getpid()
        with log.open() as out:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "services.engine.setup",
                env={**os.environ, **self.layout.setup_env},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=lambda: die_with_parent(me),
            )
        done = asyncio.create_task(process.wait())
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({done, stopping}, timeout=SETUP_SOON, return_when=asyncio.FIRST_COMPLETED)
            if not done.done() and not stopping.done():
                self.screen.say("waiting for: the NATS that NATS_URL names")
                await asyncio.wait({done, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not done.done():
                process.kill()
        if await done != 0 and not self._stopping.is_set():
            raise NotUp(f"setting up NATS failed:\n{log.quoted()}")

    # ---- while it runs -----------------------------------------------------

    async def _watch_over(self) -> None:
        rotated = time.monotonic()
        while not self._stopping.is_set():
            await self._round()
            if time.monotonic() - rotated > 10:
                rotated = time.monotonic()
                with contextlib.suppress(OSError):  # a full disk: again later
                    for child in self.children:
                        child.log.rotate()

    async def _round(self) -> None:
        """Judge, tell who watches, and rest until there is news, a second at most."""
        self._news.clear()
        for child in self.children:
            if child.hopeless and not self._was_ready:
                raise NotUp(f"{child.part.name} does not come up ({child.why}):\n{child.log.quoted()}")
        await self._judge()
        if self._stale_state:
            self._write_state()
        self.screen.tick(self)
        async with self._rounds:
            self._rounds.notify_all()
        pause = 1.0 if self.ready or not self._all_there() else LOOK
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._news.wait()

    def _all_there(self) -> bool:
        at_work = {c.part.name for c in self.children if c.state == "ready"}
        return at_work >= {p.name for p in (*self.layout.servers, *self.layout.services)}

    async def settled(self, within: float) -> bool:
        """Whether all are ready, asked anew, within so many seconds."""
        await asyncio.gather(*(child.look() for child in self.children))
        return await self.until(lambda: self.ready and self._all_there(), within)

    async def until(self, holds: Callable[[], bool], within: float | None = None) -> bool:
        """Wait until it holds; False when it doesn't, so many seconds later."""
        self._news.set()
        try:
            async with asyncio.timeout(within), self._rounds:
                await self._rounds.wait_for(holds)
        except TimeoutError:
            return False
        return True

    async def _judge(self) -> None:
        """Ready is what the players' port says, and that all are."""
        now = self._all_there()
        if now and not self.ready:
            port = next(c.part.ports["public"] for c in self.children if c.part.kind == "gateway")
            now = await probes.http(port, host=self.layout.host)() is None
        if now == self.ready:
            return
        self.ready = now
        self._was_ready |= now
        self._stale_state = True
        if now:
            self._write_state()
            self.screen.ready(self)

    def _has_heirs(self, dead: Child) -> bool:
        """Another of a service's kind is up: an engine that takes over is not ready just then.

        A server's own (NATS) are no heirs: it has a copy to catch up with.
        """
        return dead.part.stage < servers.FIRST_STAGE and any(
            c.part.kind == dead.part.kind and c.was_ready and c.state in ("ready", "not ready")
            for c in self.children
            if c is not dead
        )

    def _changed(self, child: Child) -> None:
        self._stale_state = True
        self._news.set()
        self.screen.changed(child)

    # ---- what is asked of it -------------------------------------------------

    def asked(self) -> None:
        """Somebody left orders in the folder."""
        for order in orders.take(self.data):
            self._answer(order.id, done=False)
            self._orders.put_nowait(order)

    async def _obey(self) -> None:
        """One order after another."""
        while True:
            order = await self._orders.get()
            await self.until(lambda: self._was_ready)
            change = Change(self)
            try:
                if order.do == "scale":
                    await change.scale(order.counts)
                else:
                    await change.restart(order.kinds)
            except NotDone as error:
                self.screen.say(f"✗ {error}")
                self._answer(order.id, done=True, why=error.what, cure=error.cure)
            except Exception as error:  # an order that can't be carried out ends no stack
                self.screen.say(f"✗ {order.do}: {error!r}")
                self._answer(order.id, done=True, why=repr(error), cure=f"look into {self.data.logs}")
            else:
                self._answer(order.id, done=True)

    def _answer(self, order: str, *, done: bool, why: str = "", cure: str = "") -> None:
        self._answers[order] = {"done": done, "why": why, "cure": cure}
        for old in list(self._answers)[: -orders.KEPT]:
            del self._answers[old]
        self._write_state()

    # ---- end ---------------------------------------------------------------

    async def _end(self) -> None:
        """In order, and within 3 s."""
        self._stopping.set()
        for looker in self._lookers.values():
            looker.cancel()
        if self.children:
            self.screen.say("ending …")
        began = time.monotonic()
        services = [c for c in self.children if c.part.stage < servers.FIRST_STAGE]
        await self._end_these(services, began + SERVICES_END)
        await self._end_these([c for c in self.children if c not in services], began + SERVERS_END)
        self.data.remove_state()
        killed = ", ".join(c.part.name for c in self.children if c.killed)
        self.screen.say(f"ended ({killed} had to be killed)" if killed else "ended")

    async def _end_these(self, children: Sequence[Child], until: float) -> None:
        """Stage by stage; what has not ended by then (monotonic) is killed."""
        for stage in sorted({c.part.stage for c in children}):
            at_this = [c for c in children if c.part.stage == stage]
            for child in at_this:
                child.ask_to_end()
            head_start = HEAD_START.get(stage, until - time.monotonic())
            await asyncio.gather(*(c.ended(head_start) for c in at_this))
        left = until - time.monotonic()
        done = await asyncio.gather(*(c.ended(left) for c in children))
        await asyncio.gather(*(c.kill() for c, ended in zip(children, done, strict=True) if not ended))

    # ---- told to others ----------------------------------------------------

    def _write_state(self) -> None:
        """A full disk ends nothing that runs: it is said, and tried again with the next round."""
        try:
            self.data.write_state(self.state())
        except OSError as error:
            self._stale_state = True
            if not self._unwritable:
                self.screen.say(f"✗ {self.data.path} can't be written ({error.strerror}): status is not up to date")
            self._unwritable = str(error.strerror)
            return
        if self._unwritable:
            self.screen.say(f"{self.data.path} can be written again")
        self._stale_state, self._unwritable = False, ""

    def state(self) -> dict[str, Any]:
        """What `.snatch/stack.json` holds."""
        layout = self.layout
        return {
            "pid": os.getpid(),
            "data": str(self.data.path),
            "started": self._started,
            "ready": self.ready,
            "url": layout.url,
            "watch_url": layout.watch_url,
            "network_url": layout.network_url,
            "network_watch_url": layout.network_watch_url,
            "nats_url": layout.nats_url,
            "redis_url": layout.redis_url,
            "answers": self._answers,
            "parts": [
                {
                    "name": c.part.name,
                    "kind": c.part.kind,
                    "state": c.state,
                    "why": c.why,
                    "pid": c.pid,
                    "restarts": c.restarts,
                    "ports": dict(c.part.ports),
                    "log": str(c.log.path),
                }
                for c in self.children
            ],
        }


async def _look_after(child: Child) -> None:
    """On its own, so that one which is stopped holds up nobody else's news."""
    while True:
        await child.look()
        await asyncio.sleep(LOOK_WHEN_READY if child.state == "ready" else LOOK)


async def play(layout: Layout, data: DataFolder, screen: Screen, attach: Callable[[Stack], None] | None = None) -> int:
    """Run the stack until SIGINT, SIGTERM or SIGHUP."""
    stack = Stack(layout, data, screen)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stack.stop)
    loop.add_signal_handler(orders.SIGNAL, stack.asked)
    if attach is not None:
        attach(stack)
    return await stack.run()
