"""docs/client.md, and the lines that a run prints, of what it found and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from benchmarks.first_load import MOST
from benchmarks.trace_found import Hand, Traced
from benchmarks.trace_load import DOWN, LATENCY, Load


def made(found: Traced) -> str:
    """The page."""
    return "\n".join(_page(found)) + "\n"


def _page(found: Traced) -> Iterator[str]:
    yield from (
        "# The client, measured",
        "",
        "Made by `make trace`, which takes some five minutes; `snatch trace --screens phone` looks at one screen and"
        " writes nothing, `--keep DIR` keeps the traces for DevTools' Performance panel. A Chromium whose main thread"
        f" is {found.throttle:g} times slower than this machine's plays on a stack of its own.",
        "",
        f"{found.cpu}, {found.cores} cores, which browser, servers and the other players share; load average"
        f" {found.load_average} before; Chromium {found.chromium}, without a GPU: what a phone's would draw, these"
        f" cores do beside all else. {found.date}.",
        "",
        "## A hand of eight",
        "Three Hard bots and four simulated players as fast as they, and a finger that taps, drags (60 reports a"
        " second) and flicks every 0.45 s; from the tap on “Deal” through countdown and “Snatch!” to the scores.",
        "",
        "| screen | frames | shown, of 60 a second | longest frame | over 50 ms | main thread's frame, mean (p99) |"
        " longest task | tasks over 50 ms | busy |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    )
    for hand in found.hands:
        f = hand.frames
        yield (
            f"| {hand.screen}, {hand.width} × {hand.height} | {f.frames} | {f.per_second:.0f} | {f.longest:.0f} ms |"
            f" {f.over} | {f.task_mean} ms ({f.task_p99} ms) |"
            f" {f.task_longest:.0f} ms, CPU {f.task_longest_cpu:.0f} ms |"
            f" {f.tasks_over}, by CPU {f.tasks_over_cpu} | {f.busy:.0%} |"
        )
    yield from (
        "",
        "A *frame* is a beat of the screen, 60 a second, at which there was something new: a card that glides, or a"
        " change that the page was still computing. Its *length* is how long the picture before it stood. Tasks and"
        " frames of the main thread are as slow as the throttle makes them; *CPU* leaves out what it waited for"
        " a core. Reading the table for the finger is part of it.",
        "",
        "What the main thread did, CPU ms in a second of the hand:",
        "",
        "| screen | " + " | ".join(_kinds(found)) + " |",
        "| --- |" + " --- |" * len(_kinds(found)),
    )
    for hand in found.hands:
        f = hand.frames
        cells = [f"{f.work.get(kind, 0) / f.seconds:.0f}" for kind in _kinds(found)]
        yield f"| {hand.screen} | " + " | ".join(cells) + " |"
    yield from ("", "## The first load")
    yield f"A new phone each time, {LATENCY} ms there and back, {DOWN * 8 / 1e6:g} Mbit/s; median of {_visits(found)}."
    yield from (
        "",
        "| visit | first words | interactive | requests | bytes | of them scripts and styles |",
        "| --- | --- | --- | --- | --- | --- |",
    )
    for name, first in (("the first", True), ("the next", False)):
        of = [load for load in found.loads if load.first is first]
        if of:
            yield f"| {name} | " + " | ".join(_load(of)) + " |"
    yield from (
        "",
        "*Interactive*: what can be typed into shows, and no task longer than 50 ms follows. Scripts and styles of a"
        " first load, as gzip packs them; over the line they go as Brotli does:",
        "",
        "| page | bytes | at most |",
        "| --- | --- | --- |",
    )
    for page, size in found.packed.items():
        yield f"| `{page}` | {size / 1000:.1f} KB | {MOST / 1000:.0f} KB |"


def _kinds(found: Traced) -> list[str]:
    total: dict[str, float] = {}
    for hand in found.hands:
        for kind, ms in hand.frames.work.items():
            total[kind] = total.get(kind, 0) + ms
    return sorted(total, key=lambda kind: -total[kind])


def _visits(found: Traced) -> int:
    return sum(load.first for load in found.loads)


def _load(of: list[Load]) -> list[str]:
    return [
        f"{median(load.paint for load in of) / 1000:.2f} s",
        f"{median(load.interactive for load in of) / 1000:.2f} s",
        f"{median(load.requests for load in of):.0f}",
        f"{median(load.bytes for load in of) / 1000:.1f} KB",
        f"{median(load.code for load in of) / 1000:.1f} KB",
    ]


def loads(found: Traced) -> Iterator[str]:
    """What a run prints of them."""
    for load in found.loads:
        which = "first visit" if load.first else "next visit "
        yield (
            f"{which}: words after {load.paint:.0f} ms, interactive after {load.interactive:.0f} ms,"
            f" {load.requests} requests, {load.bytes / 1000:.1f} KB, scripts and styles {load.code / 1000:.1f} KB"
        )


def hand(of: Hand) -> Iterator[str]:
    """What a run prints of one."""
    f = of.frames
    yield f"{of.screen}: {f.seconds:.0f} s, {of.taps} taps, {of.drags} drags, {of.flicks} flicks"
    yield f"  {f.frames} frames, {f.per_second} a second shown, longest {f.longest:.0f} ms, {f.over} over 50 ms"
    yield (
        f"  main thread {f.busy:.0%} busy; a frame costs it {f.task_mean} ms, p99 {f.task_p99} ms; longest task"
        f" {f.task_longest:.0f} ms (CPU {f.task_longest_cpu:.0f} ms);"
        f" over 50 ms: {f.tasks_over} (by CPU {f.tasks_over_cpu})"
        + (f", at {', '.join(f'{at:.1f} s' for at in f.over_at)}" if f.over_at else "")
    )
    yield "  CPU ms: " + ", ".join(f"{kind} {ms:.0f}" for kind, ms in f.work.items())
