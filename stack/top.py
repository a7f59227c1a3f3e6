"""`snatch top`: what the dashboards show, live in a terminal."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import datetime
import os
import sys
import termios
import tty
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx

from stack import top_screen
from stack.data import DataFolder, default_folder
from stack.top_figures import figures
from stack.top_sources import NothingThere, Prometheus, Source, Stack

FIRST = 1.0
"""Seconds between the first two readings: rates are wanted soon."""
KEYS = "p processes first · q ends"
NONE_RUNS = 4
"""The exit code when there is nobody to ask, as `snatch status`."""


def main(argv: Sequence[str]) -> int:
    told = _parsed(argv)
    try:
        return asyncio.run(show(told.data, told.prometheus, every=told.every, once=told.once, plain=told.plain))
    except KeyboardInterrupt:  # which is how one leaves it
        return 0


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="snatch top", description=__doc__)
    p.add_argument("--every", type=_pause, default=2.0, metavar="S", help="seconds between two looks (2)")
    p.add_argument("--once", action="store_true", help="one picture, and no more")
    p.add_argument("--plain", action="store_true", help="a line a look, on a terminal too")
    p.add_argument("--prometheus", metavar="URL", help="read there, not at the processes of a stack on this machine")
    p.add_argument("--data", type=Path, metavar="DIR", help="that stack's data (.snatch, or SNATCH_DATA)")
    return p.parse_args(argv)


def _pause(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.2 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is not 0.2 to 3600 seconds")
    return seconds


async def show(data: Path | None, prometheus: str | None, *, every: float, once: bool, plain: bool) -> int:
    """Until `q` or Ctrl-C, or whoever is read ends; `once`: one picture.  The exit code."""
    async with _source(data, prometheus) as source:
        try:
            if once:
                await _once(source)
            elif plain or not (sys.stdout.isatty() and sys.stdin.isatty()):
                await _lines(source, every)
            else:
                await _live(source, every)
        except NothingThere as nothing:
            print(f"✗ {nothing}\n→ {_cure(prometheus)}", file=sys.stderr)
            return NONE_RUNS
    return 0


def _cure(prometheus: str | None) -> str:
    if prometheus is not None:
        return "name one that reads Snatch's services; compose has its own: docker compose run --rm top"
    return "start one (snatch play), name its folder (--data DIR), or ask a Prometheus (--prometheus URL)"


@asynccontextmanager
async def _source(data: Path | None, prometheus: str | None) -> AsyncIterator[Source]:
    async with httpx.AsyncClient(trust_env=False) as http:
        if prometheus is not None:
            yield Prometheus(prometheus, http)
        else:
            yield Stack(DataFolder(data or default_folder()), http)


async def _once(source: Source) -> None:
    """With rates: of a second, where the source has no past."""
    from rich.console import Console

    between = await source.read()
    if not between.seconds:
        await asyncio.sleep(FIRST)
        between = await source.read()
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print(top_screen.picture(figures(between), _title(source)))


async def _lines(source: Source, every: float) -> None:
    """A line each time; what is amiss when it begins, and when it is over."""
    known: set[str] = set()
    pause = FIRST
    while True:
        between = await source.read()
        if between.seconds:
            now = figures(between)
            print(top_screen.line(now, _clock()), flush=True)
            amiss = now.amiss()
            for what in amiss.keys() - known:
                print(f"{_clock()} ✗ {what} {amiss[what]}", flush=True)
            for what in known - amiss.keys():
                print(f"{_clock()} ✓ {what} is as it should be", flush=True)
            known = set(amiss)
        await asyncio.sleep(pause)
        pause = every


class _Live:
    """A terminal's picture, and the keys that change it."""

    def __init__(self) -> None:
        self.over, self._pressed = False, asyncio.Event()
        self.processes_first = False

    def key(self) -> None:
        keys = os.read(sys.stdin.fileno(), 16)
        self.over |= b"q" in keys
        self.processes_first ^= b"p" in keys
        self._pressed.set()

    async def pressed(self, within: float) -> bool:
        """Whether a key was, within so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._pressed.wait()
        pressed = self._pressed.is_set()
        self._pressed.clear()
        return pressed


async def _live(source: Source, every: float) -> None:
    from rich.live import Live

    terminal, pause = _Live(), FIRST
    with Live(auto_refresh=False, screen=True) as live, _keys(terminal.key):
        while not terminal.over:
            now = figures(await source.read())
            again = True
            while again and not terminal.over:
                first = terminal.processes_first
                picture = top_screen.picture(now, _title(source), KEYS, processes_first=first)
                live.update(picture, refresh=True)
                again = await terminal.pressed(pause)
            pause = every


@contextmanager
def _keys(key: Callable[[], None]) -> Iterator[None]:
    """`key` is called for each that is pressed."""
    settings = termios.tcgetattr(sys.stdin)
    loop = asyncio.get_running_loop()
    tty.setcbreak(sys.stdin)
    loop.add_reader(sys.stdin, key)
    try:
        yield
    finally:
        loop.remove_reader(sys.stdin)
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, settings)


def _title(source: Source) -> str:
    return f"snatch top   {_clock()}   {source.name}"


def _clock() -> str:
    return datetime.datetime.now().astimezone().strftime("%H:%M:%S")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
