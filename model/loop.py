"""A deterministic asyncio loop: virtual time, several processes ("nodes") in one thread, no I/O.

    loop = SimLoop(seed)
    engine = loop.node("engine-1")
    engine.spawn(hall.start())
    loop.run(until=5.0)             # virtual seconds
    loop.close()

Everything that a node's code starts (tasks, timers, callbacks) belongs to the node: by the
context it was made in, so also when another node completes the future that it waits for.
A node can be killed (nothing of it runs again), stalled (all of it runs later, in order),
and has a clock of its own, that may run fast or slow.

Order is decided by virtual time, then by the order of scheduling; never by a hash, an
address or a real clock: the same seed gives the same `trace`, in every process.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import sys
import zlib
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from random import Random
from typing import Any, TypeVar, TypeVarTuple

MOST_STEPS = 100_000
"""Of one `run`; the busiest of worlds takes some 4,000 in all its life."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Endless(Exception):
    """Callbacks that only bring about one another: time hardly goes on."""


class Node:
    """A process of the modelled world.  Made by `SimLoop.node`.

    `drift`: how fast its clock runs, 1.0 is right.  `on_kill` and `on_stall` hear of it before
    it takes effect: what is on its way from here may then be held or lost.  `on_resume` runs first
    of all when a stall is over.
    """

    __slots__ = (
        "_base",
        "_since",
        "context",
        "dead",
        "deferred",
        "drift",
        "halted",
        "loop",
        "name",
        "on_kill",
        "on_resume",
        "on_stall",
        "stalled_until",
        "tasks",
    )

    def __init__(self, loop: SimLoop, name: str, drift: float, clock: float) -> None:
        self.loop, self.name, self.drift = loop, name, drift
        self.dead = False
        self.halted = False
        """Dead or stalled: nothing of it runs."""
        self.stalled_until = 0.0
        self.deferred: deque[Handle] = deque()
        self.tasks: list[asyncio.Task[Any]] = []
        """Those that were spawned: kept, so that none is collected at a chance moment."""
        self.on_kill: list[Callable[[], None]] = []
        self.on_stall: list[Callable[[], None]] = []
        self.on_resume: list[Callable[[], None]] = []
        self._base, self._since = clock, loop.now
        self.context = copy_context()
        self.context.run(_node.set, self)

    def __repr__(self) -> str:
        return f"<node {self.name}>"

    def clock(self) -> float:
        """This node's monotonic clock in seconds: what `loop.time()` says inside."""
        return self._base + (self.loop.now - self._since) * self.drift

    def spawn(self, coro: Coroutine[Any, Any, T], name: str = "") -> asyncio.Task[T]:
        """Run a coroutine in this node."""
        task: asyncio.Task[T] = self.context.run(lambda: asyncio.Task(coro, loop=self.loop, name=name or self.name))
        self.tasks.append(task)
        self.loop._tasks.append(task)
        return task

    def soon(self, callback: Callable[..., Any], *args: Any) -> Handle:
        """Run a callback in this node, after all that is ready now."""
        handle = Handle(callback, args, self.context, self)
        self.loop.ready.append(handle)
        return handle

    def at(self, when: float, callback: Callable[..., Any], *args: Any) -> Handle:
        """Run a callback in this node at a true time; later, if it is stalled then."""
        handle = Handle(callback, args, self.context, self)
        loop = self.loop
        loop.pushed += 1
        heapq.heappush(loop.heap, (when if when > loop.now else loop.now, loop.pushed, handle))
        return handle

    def after(self, delay: float, callback: Callable[..., Any], *args: Any) -> Handle:
        """Run a callback in this node after true seconds."""
        return self.at(self.loop.now + delay, callback, *args)

    def kill(self) -> None:
        """SIGKILL: from now on nothing of this node runs, not even its clean-up."""
        if self.dead:
            return
        self.dead = self.halted = True
        for heard in self.on_kill:
            heard()
        self.deferred.clear()

    def stall(self, seconds: float) -> None:
        """SIGSTOP for true seconds, then SIGCONT: what became ready meanwhile runs then, in order."""
        if self.dead:
            return
        until = self.loop.now + seconds
        if not self.halted:
            self.halted = True
            for heard in self.on_stall:
                heard()
        if until > self.stalled_until:
            self.stalled_until = until
            self.loop.root.at(until, self._resume, until)

    def resume(self) -> None:
        """SIGCONT before its time."""
        if self.halted and not self.dead:
            self.stalled_until = self.loop.now
            self._resume(self.loop.now)

    def _resume(self, until: float) -> None:
        if self.dead or until < self.stalled_until:
            return
        self.halted = False
        for heard in self.on_resume:
            heard()
        waiting, self.deferred = self.deferred, deque()
        self.loop.ready.extend(waiting)


class Handle(asyncio.TimerHandle):
    """A callback that is to run: asyncio's Handle and TimerHandle, as far as anybody uses them."""

    __slots__ = ("args", "callback", "context", "node", "off")

    def __init__(self, callback: Callable[..., Any], args: tuple[Any, ...], context: Context, node: Node) -> None:
        self.callback, self.args, self.context, self.node = callback, args, context, node
        self.off = False

    def cancel(self) -> None:
        self.off = True

    def cancelled(self) -> bool:
        return self.off

    def __repr__(self) -> str:
        return f"<handle {self.callback!r} of {self.node.name}>"


_node: ContextVar[Node] = ContextVar("node")


class SimLoop(asyncio.BaseEventLoop):
    """`now`: true virtual seconds; `dice`: all chance of this world; `root`: the node of whatever is outside all nodes.

    `errors` holds what callbacks raised and what tasks died of unheard: a world must end without any.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        self.dice = Random(seed)
        self.now = 0.0
        self.steps = 0
        self.ready: deque[Handle] = deque()
        self.errors: list[str] = []
        self.nodes: list[Node] = []
        self.heap: list[tuple[float, int, Handle]] = []
        """(true time, order of scheduling, handle) of what is to come."""
        self.pushed = 0
        self._crc = 0
        self._over = False
        self._observers: list[Callable[[], None]] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self.root = Node(self, "root", 1.0, 0.0)
        self.running = self.root
        """The node whose callback runs now."""

    # ---- for the model ----

    def node(self, name: str, drift: float = 1.0, clock: float = 1000.0) -> Node:
        """A new process; `clock`: what its monotonic clock says now."""
        node = Node(self, name, drift, clock)
        self.nodes.append(node)
        return node

    def observe(self, callback: Callable[[], None]) -> None:
        """Called each time before virtual time moves on: all that happens at an instant has happened."""
        self._observers.append(callback)

    def note(self, data: bytes) -> None:
        """Put something that happened into the trace."""
        self._crc = zlib.crc32(data, self._crc)

    @property
    def trace(self) -> str:
        """A hash of all that happened: what was noted, the number of steps, and the time."""
        return f"{self._crc:08x}-{self.steps}-{self.now.hex()}"

    def run(self, until: float) -> None:
        """Run till a true time; nothing after it.  Raises what an observer raises, and Endless."""
        if asyncio._get_running_loop() is not None:
            raise RuntimeError("a loop is running already")
        hooks = sys.get_asyncgen_hooks()
        asyncio._set_running_loop(self)
        sys.set_asyncgen_hooks(firstiter=None, finalizer=self._finalize)
        try:
            self._run(until)
        finally:
            sys.set_asyncgen_hooks(*hooks)
            asyncio._set_running_loop(None)
            self.running = self.root

    def _run(self, until: float) -> None:
        ready, heap, pop = self.ready, self.heap, heapq.heappop
        observers = self._observers
        steps = 0
        try:
            while True:
                while ready:
                    handle = ready.popleft()
                    if handle.off:
                        continue
                    node = handle.node
                    if node.halted:
                        if not node.dead:
                            node.deferred.append(handle)
                        continue
                    self.running = node
                    steps += 1
                    if steps > MOST_STEPS:
                        raise Endless(f"{steps:,} steps by {self.now:.3f} s, the last one at {node.name}")
                    try:
                        handle.context.run(handle.callback, *handle.args)
                    except Exception as error:
                        self._failed(handle, error)
                for observer in observers:
                    observer()
                while heap and heap[0][2].off:
                    pop(heap)
                if not heap or heap[0][0] > until:
                    self.now = float(until)
                    return
                self.now = when = heap[0][0]
                while heap and heap[0][0] == when:
                    ready.append(pop(heap)[2])
        finally:
            self.steps += steps

    def close(self) -> None:
        """The world ends: all coroutines are closed where they stand, and nothing they do then counts."""
        if self._over:
            return
        self._over = True
        self.ready.clear()
        self.heap.clear()
        asyncio._set_running_loop(self)
        try:
            for task in self._tasks:
                if not task.done():
                    task._log_destroy_pending = False  # type: ignore[attr-defined]
                    with contextlib.suppress(Exception):  # it wants to wait: there is no more time
                        task.get_coro().close()
        finally:
            asyncio._set_running_loop(None)
        self.ready.clear()
        self.heap.clear()

    def _failed(self, handle: Handle, error: Exception) -> None:
        self.errors.append(f"{handle.node.name}: {handle.callback!r}: {error!r}")

    def _finalize(self, generator: AsyncGenerator[Any, Any]) -> None:
        if not self._over:
            self.create_task(generator.aclose())

    # ---- asyncio's ----

    def time(self) -> float:
        node = self.running
        return node._base + (self.now - node._since) * node.drift

    def call_soon(self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None) -> Handle:
        if context is None:
            node = self.running
            context = node.context
        else:
            node = context.get(_node, self.root)
        handle = Handle(callback, args, context, node)
        self.ready.append(handle)
        return handle

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> Handle:
        node = self.running
        handle = Handle(callback, args, context or node.context, node)
        when = self.now + delay / node.drift
        self.pushed += 1
        heapq.heappush(self.heap, (when if when > self.now else self.now, self.pushed, handle))
        return handle

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> Handle:
        return self.call_later(when - self.running.clock(), callback, *args, context=context)

    def create_task(self, coro: Any, *, name: object = None, context: Context | None = None) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(
            coro, loop=self, name=None if name is None else str(name), context=context
        )
        self._tasks.append(task)
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self._over:
            error = context.get("exception")
            self.errors.append(f"{context.get('message')}: {error!r}")

    def is_running(self) -> bool:
        return asyncio._get_running_loop() is self

    def is_closed(self) -> bool:
        return self._over

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Raises: a thread's time is not ours to tell."""
        raise RuntimeError("a deterministic world has no threads")
