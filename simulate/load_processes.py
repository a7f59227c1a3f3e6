"""The generator processes of a run, seen from the run: started, told what to do, and heard second by second."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from simulate.load_orders import Drained, Final, Order, Ready, Say, Second, line, tell_decoder

ROOT = Path(__file__).resolve().parent.parent
LONGEST_LINE = 256 << 20
"""Bytes: a final holds every seat's ledger."""
GOODBYE = 10.0


class Failed(Exception):
    """A generator ended before its time, in words."""


class Process:
    """One generator; `seconds` are handed to `heard`."""

    def __init__(self, order: Order, heard: Callable[[int, Second], None]) -> None:
        self.order = order
        self._heard = heard
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[Ready] = loop.create_future()
        self.drained: asyncio.Future[Drained] = loop.create_future()
        self.final: asyncio.Future[Final] = loop.create_future()

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "simulate.load_generator",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            cwd=ROOT,
            start_new_session=True,  # Ctrl-C is the run's; a generator ends when its input does
        )
        self._write(line(self.order))
        self._reading = asyncio.create_task(self._read(), name=f"generator {self.order.index}")

    def say(self, message: Say) -> None:
        self._write(line(message))

    def _write(self, data: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(data)

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        while data := await self._process.stdout.readline():
            match tell_decoder.decode(data):
                case Second() as second:
                    self._heard(self.order.index, second)
                case Ready() as ready:
                    self.ready.set_result(ready)
                case Drained() as drained:
                    self.drained.set_result(drained)
                case Final() as final:
                    self.final.set_result(final)
        for future in (self.ready, self.drained, self.final):
            if not future.done():
                future.set_exception(Failed(f"generator {self.order.index} ended before its time"))
                future.exception()  # nobody may be waiting for it

    async def end(self) -> None:
        """By itself when it is done, else killed."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), GOODBYE if self.final.done() else 0.5)
        except TimeoutError:
            process.kill()
            await process.wait()
        if self._reading is not None:
            await self._reading


def share(total: int, processes: int, index: int) -> tuple[int, int]:
    """The first of this process's things, and how many it has.

    >>> [share(10, 3, index) for index in range(3)]
    [(0, 4), (4, 3), (7, 3)]
    """
    each, over = divmod(total, processes)
    return index * each + min(index, over), each + (index < over)


async def every(processes: Sequence[Process], what: str) -> list[object]:
    """What all of them say.  Raises Failed."""
    return list(await asyncio.gather(*(getattr(process, what) for process in processes)))
