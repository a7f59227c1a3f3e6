"""A load run while it runs: a live view on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Iterable
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from simulate.load_record import Asked, Delay, Event, Sample
from simulate.load_report import ms
from simulate.load_verdict import GENERATOR_CPU, LAG_P99_MS

LINE_EVERY = 5.0
"""Seconds between two lines where there is no terminal."""
KEPT = 40
"""Seconds of which a line's height tells."""
TOLD = 6
"""Events that stay in sight."""
BLOCKS = "▁▂▃▄▅▆▇█"


class View(Protocol):
    """`with a_view(asked) as view`: what a run tells while it runs.

    `at` of what it is told counts from the hold, before it from the ramp.
    """

    def __enter__(self) -> View: ...

    def __exit__(self, *_: object) -> None: ...

    def say(self, words: str) -> None:
        """A step before or after the seconds."""
        ...

    def show(self, sample: Sample) -> None:
        """A second is over."""
        ...

    def tell(self, event: Event) -> None:
        """Something happened."""
        ...


def a_view(asked: Asked) -> View:
    """What fits where the output goes."""
    return LiveView(asked) if sys.stdout.isatty() else PlainView()


class PlainView:
    """Lines."""

    def __init__(self) -> None:
        self._told = float("-inf")
        self._phase = ""

    def __enter__(self) -> PlainView:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def say(self, words: str) -> None:
        print(words, flush=True)

    def show(self, sample: Sample) -> None:
        if sample.at - self._told >= LINE_EVERY or sample.phase != self._phase:
            self._told, self._phase = sample.at, sample.phase
            self.say(line(sample))

    def tell(self, event: Event) -> None:
        self.say(f"{event.at:6.0f} s  {event.kind}: {event.words}")


def line(sample: Sample) -> str:
    """One second in a line."""
    cpu = sum(service.cpu for service in sample.services.values())
    parts = [
        f"{round(sample.at):6} s  {sample.phase:<5} {sample.players:,} players",
        f"{sample.answered:,} of {sample.due:,} moves/s",
        f"own p50 {ms(sample.own.p50_ms)} p99 {ms(sample.own.p99_ms)}",
        f"{sample.refused:,} refused, {sample.errors:,} errors",
        f"stack {cpu:.2f} cores" if sample.services else "",
        f"generators {sample.generator_cpu:.2f}, late {ms(sample.lag_p99_ms)}",
    ]
    return " · ".join(part for part in parts if part)


class LiveView:
    """The second that has just ended, and how it was before."""

    def __init__(self, asked: Asked, console: Console | None = None) -> None:
        self._asked = asked
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._recent: deque[Sample] = deque(maxlen=KEPT)
        self._events: deque[Event] = deque(maxlen=TOLD)
        self._errors = self._reconnects = 0

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def say(self, words: str) -> None:
        self._live.console.print(words, markup=False, highlight=False)

    def show(self, sample: Sample) -> None:
        self._recent.append(sample)
        self._errors += sample.errors
        self._reconnects += sample.reconnects
        self._live.update(self.picture(), refresh=True)

    def tell(self, event: Event) -> None:
        self._events.append(event)

    def picture(self) -> RenderableType:
        """Of the newest second; nothing before there is one."""
        if not self._recent:
            return Text()
        now = self._recent[-1]
        return Group(
            self._progress(now),
            Text(),
            self._rates(now),
            Text(),
            self._delays(now),
            Text(),
            self._services(now),
            Text(),
            *(Text(f"{event.at:7.1f} s  {event.words}", "yellow") for event in self._events),
        )

    def _progress(self, now: Sample) -> RenderableType:
        """Of the ramp by the players who are in, of the hold by its time."""
        asked = self._asked
        if now.phase == "ramp":
            done, words = now.players / max(1, asked.players), f"{now.players:,} of {asked.players:,} players are in"
        else:
            done = now.at / max(1.0, asked.duration)
            words = f"{now.at:.0f} of {asked.duration:.0f} s" if now.phase == "hold" else "the hold is over"
        row = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=1.0, completed=max(0.0, min(1.0, done)), width=30)
        rate = f"{asked.rate:g} moves/s each" if asked.rate else "flat out"
        row.add_row(Text(now.phase, "bold"), bar, words, Text(f"{asked.players:,} players, {rate}", "dim"))
        return row

    def _rates(self, now: Sample) -> RenderableType:
        table = _table("a second", "players", "TVs", "due", "sent", "answered", "refused", "received", "errors", "back")
        table.add_row(
            "",
            f"{now.players:,}",
            f"{now.spectators:,}",
            f"{now.due:,}",
            f"{now.moves:,}",
            Text(f"{now.answered:,}", "green"),
            f"{now.refused:,}",
            f"{now.received_bytes / 1e3:,.0f} kB",
            Text(f"{self._errors:,} in all", "red" if self._errors else "dim"),
            f"{self._reconnects:,} in all",
        )
        return table

    def _delays(self, now: Sample) -> RenderableType:
        table = _table("delay", "p50", "p90", "p99", "max", f"p99, {KEPT} s")
        named: tuple[tuple[str, list[Delay]], ...] = (
            ("move → own frame", [s.own for s in self._recent]),
            ("move → a rival", [s.rival for s in self._recent]),
            ("move → TV", [s.tv for s in self._recent]),
        )
        for name, delays in named:
            newest = delays[-1]
            if any(d.count for d in delays):
                cells = [ms(v) for v in (newest.p50_ms, newest.p90_ms, newest.p99_ms, newest.max_ms)]
                table.add_row(name, *cells, Text(bars(math.log10(1 + d.p99_ms) for d in delays), "cyan"))
        return table

    def _services(self, now: Sample) -> RenderableType:
        table = _table("CPU", "cores", "memory", "processes", f"cores, {KEPT} s")
        most = max((service.cpu for sample in self._recent for service in sample.services.values()), default=0.0)
        most = max(most, self._recent[-1].generator_cpu)
        for name in sorted(now.services):
            service = now.services[name]
            before = (s.services[name].cpu for s in self._recent if name in s.services)
            busy = "red" if service.cpu > 0.9 * service.processes else ""
            alive = Text(str(service.processes)) if service.processes else Text("down", "red")
            cores, recent = Text(f"{service.cpu:.2f}", busy), Text(bars(before, most), "cyan")
            table.add_row(name, cores, f"{service.memory_mb:,.0f} MB", alive, recent)
        saturated = "red" if now.generator_cpu > GENERATOR_CPU or now.lag_p99_ms > LAG_P99_MS else ""
        table.add_row(
            "busiest generator",
            Text(f"{now.generator_cpu:.2f}", saturated),
            Text(f"{ms(now.lag_p99_ms)} late", saturated),
            "",
            Text(bars((s.generator_cpu for s in self._recent), most), "cyan"),
        )
        if now.machine_cpu:
            recent = Text(bars(s.machine_cpu for s in self._recent), "cyan")
            table.add_row("the machine", f"{now.machine_cpu:.2f}", "", "", recent)
        return table


def bars(values: Iterable[float], most: float = 0.0) -> str:
    """One letter each; the highest of them, or `most` if that is more, is full.

    >>> bars([0, 1, 2, 4]), bars([0, 1, 2, 4], 8)
    ('▁▃▅█', '▁▂▃▅')
    """
    found = list(values)
    most = max([most, *found]) or 1.0
    return "".join(BLOCKS[round(max(0.0, v) / most * (len(BLOCKS) - 1))] for v in found)


def _table(title: str, *columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(title, min_width=18)
    for column in columns:
        table.add_column(column, justify="left" if column.endswith(" s") else "right")
    return table
