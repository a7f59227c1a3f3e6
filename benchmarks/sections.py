"""The page's sections, as Markdown: each says how its part was measured, then what it found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks import peer
from benchmarks.path import OURS
from benchmarks.results import (
    MemoryFigures,
    PathFigures,
    PathRun,
    RecoveryFigures,
    Result,
    StartFigures,
)
from benchmarks.summary import Series, cpu, figure, kb_per_player, moves, p50, p99, ratio, series, spread


def path(result: Result | None, plotted: bool) -> Iterator[str]:
    if result is None or not isinstance(result.figures, PathFigures):
        return
    runs = result.figures.runs
    yield from (
        "## A move’s path",
        "Rooms of four, each player due a move a second by a schedule that waits for nobody; delays count from when a"
        " move was due to the frame that shows it at its sender's. *Flat out*: each player moves as soon as it sees its"
        " last move. Ours by `snatch load`: real rules, the log written before anybody is told, CPU of all processes,"
        " NATS and Valkey included. The peer is Colyseus in one Node process, in memory, without rules, with a room"
        f" such as its guide has ([benchmarks/peers/{peer.NAME}](../benchmarks/peers/{peer.NAME})): *broadcast* tells"
        " the room of each move at once, *patches* sends what changed every 50 ms and answers the sender. Memory is"
        " what the servers grew by since before the first player. In brackets: lowest and highest round.",
        "",
    )
    if plotted:
        yield from ("![CPU per move and delays over players](benchmarks-path.svg)", "")
    yield "| players | server | moves/s | µs CPU a move | of the peer's | p50 ms | p99 ms | kB a player | void |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for which in _ordered(runs):
        base = Series(peer.NAME, "broadcast", 0, which.players, which.rate)
        against = ratio(runs, which, base, cpu) if which != base else None
        of = [figure(runs, which, read) for read in (moves, cpu, p50, p99, kb_per_player)]
        digits = (0, 0, 1, 1, 0)
        shown = [found.shown(d) if found else "–" for found, d in zip(of, digits, strict=True)]
        void = sum(run.void for run in runs if series(run) == which)
        pace = f"{which.players:,}" if which.rate else f"{which.players:,} flat out"
        yield (
            f"| {pace} | {_server(which)} | {shown[0]} | {shown[1]} | {f'{against.shown()} ×' if against else ''} |"
            f" {shown[2]} | {shown[3]} | {shown[4]} | {void or ''} |"
        )
    yield ""


def _ordered(runs: Sequence[PathRun]) -> list[Series]:
    return sorted(
        {series(run) for run in runs},
        key=lambda s: (s.rate == 0, s.players, s.who != OURS, s.engines, s.mode),
    )


def _server(which: Series) -> str:
    if which.who == OURS:
        return "one engine" if which.engines == 1 else f"{which.engines} engines"
    return "peer, broadcast" if which.mode == "broadcast" else "peer, patches"


def _dict(result: Result | None) -> dict[str, Any]:
    return result.figures if result is not None and isinstance(result.figures, dict) else {}


def watch(result: Result | None) -> Iterator[str]:
    found = _dict(result)
    if not found:
        return
    yield from (
        "## Spectators of one room",
        "CPU and memory of the watch process alone, all of its system calls included; spectators in a process of their"
        " own hold every byte against what was told. *Stopped*: ten of them read nothing. *Flat out*: frames as fast as"
        " NATS takes them, which go out joined.",
        "",
        "| spectators | how | frames/s | deliveries per CPU second | µs each | p50 ms | p99 ms | KB idle | wrong |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    )
    for run in found["runs"]:
        steady = run["steady"]
        rows = [("all read", steady["reading"]), ("some stopped", steady["stopped"]), ("flat out", [run["flat_out"]])]
        for how, rounds in rows:
            yield (
                f"| {run['spectators']:,} | {how} | {_of(rounds, 'per_second', 0)} |"
                f" {_of(rounds, 'deliveries_per_cpu_s', 0)} | {_of(rounds, 'cpu_us', 1)} | {_of(rounds, 'p50_ms', 1)} |"
                f" {_of(rounds, 'p99_ms', 1)} | {run['idle_kb']:.1f} | {sum(one['wrong'] for one in rounds)} |"
            )
    yield ""


def _of(rounds: Sequence[Mapping[str, Any]], key: str, digits: int) -> str:
    found = spread([float(one[key]) for one in rounds])
    return found.shown(digits) if found else "–"


def rules(result: Result | None) -> Iterator[str]:
    found = _dict(result)
    if not found:
        return
    yield from (
        "## Rules",
        "Bots' hands, played once and then decided again move by move, in one process without I/O. µs.",
        "",
        "| step | p50 | p99 | mean |",
        "| --- | --- | --- | --- |",
    )
    steps = {
        "decide_evolve_encode": "decide, evolve, encode for both audiences",
        "decode": "decode the message",
        "record": "encode the record",
        "path": "all of it, as the engine's batch does it",
    }
    for key, words in steps.items():
        took = found[key]
        yield f"| {words} | {took['p50']:.1f} | {took['p99']:.1f} | {took['mean']:.1f} |"
    per = ", ".join(f"{of['hands_per_s']:,.0f} of {seats}" for seats, of in found["hands_per_s"].items())
    yield from ("", f"Whole bot hands decided per second and core, by seats: {per}.", "")


def deals(result: Result | None) -> Iterator[str]:
    of = _dict(result).get("by_seats", [])
    if not of:
        return
    yield from (
        "## Checked deals",
        "Each is shuffled, searched for a line that empties every snatch pile, and that line held against the rules."
        " One process of plain Python; ms of CPU.",
        "",
        "| seats | a second | median | p99 | p99.9 | slowest |",
        "| --- | --- | --- | --- | --- | --- |",
    )
    for one in of:
        times = " | ".join(f"{one[key]:.1f}" for key in ("median_ms", "p99_ms", "p999_ms", "max_ms"))
        yield f"| {one['seats']} | {one['deals_per_s']:,.0f} | {times} |"
    yield ""


def recovery(result: Result | None) -> Iterator[str]:
    if result is None or not isinstance(result.figures, RecoveryFigures):
        return
    yield from (
        "## Recovery",
        "All rooms play on one engine; it is killed, and another takes its partitions. A room's gap is the longest that"
        " one of its moves waited for its answer. Seconds.",
        "",
        "| rooms | gap, median room | p99 | slowest room | first claim | all open | never back |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    )
    for run in result.figures.runs:
        yield (
            f"| {run.rooms:,} | {run.gap_p50_s:.2f} | {run.gap_p99_s:.2f} | {run.gap_max_s:.2f} |"
            f" {run.first_claim_s:.2f} | {run.last_open_s:.2f} | {run.not_back} |"
        )
    yield ""


def memory(result: Result | None) -> Iterator[str]:
    if result is None or not isinstance(result.figures, MemoryFigures):
        return
    found = result.figures
    yield from (
        "## Memory",
        "What all servers together grow by, from stacks that hold more of one thing: rooms of one, rooms of four, rooms"
        " of four with two TVs each.",
        "",
        "| one more | kB |",
        "| --- | --- |",
        f"| room at a live hand | {_whole(found.per_room_kb)} |",
        f"| player in it | {_whole(found.per_player_kb)} |",
        f"| spectator | {_whole(found.per_spectator_kb)} |",
        "",
    )


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def start(result: Result | None) -> Iterator[str]:
    if result is None or not isinstance(result.figures, StartFigures):
        return
    yield from (
        "## Start",
        "From the command until a room can be hosted and dealt; the peer until it listens. Seconds.",
        "",
        "| what | s |",
        "| --- | --- |",
    )
    names = {"empty": "`snatch play`, nothing there yet", "again": "`snatch play`, on data of before"}
    for what in dict.fromkeys(run.what for run in result.figures.runs):
        took = spread([run.seconds for run in result.figures.runs if run.what == what])
        if took:
            yield f"| {names.get(what, 'the peer')} | {took.shown(1)} |"
    yield ""


def machine_in_short(results: Mapping[str, Result]) -> str:
    """One line, for the README."""
    result = results.get("path") or next(iter(results.values()), None)
    if result is None:
        return "Nothing was measured yet: `make bench`."
    m = result.machine
    return (
        f"{m.cpu}, {m.cores} cores, players and servers beside each other; Python {m.python}, Node {m.node},"
        f" NATS {m.nats}. All figures, plots and how they are made: [docs/benchmarks.md](docs/benchmarks.md)."
    )


def machines(results: Mapping[str, Result]) -> Iterator[str]:
    yield from (
        "## The machine",
        "| part | plan, day | processor | cores | GB | kernel | Python | Node | NATS | load before |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    )
    for result in results.values():
        m = result.machine
        yield (
            f"| {result.part} | {result.plan}, {result.day} | {m.cpu} | {m.cores} | {m.memory_gb:g} | {m.kernel} |"
            f" {m.python} | {m.node} | {m.nats} | {m.load_average:g} |"
        )
    yield ""


def left_out(results: Mapping[str, Result]) -> Iterator[str]:
    """What could not be run, and which runs are void and why."""
    words = [f"{result.part}: {why}" for result in results.values() for why in result.left_out]
    path = results.get("path")
    if path is not None and isinstance(path.figures, PathFigures):
        for run in path.figures.runs:
            if run.void:
                pace = f"{run.players:,} players{'' if run.rate else ' flat out'}"
                words.append(f"void: {pace}, {_server(series(run))}, round {run.round}: {run.void_why}")
    if words:
        yield from ("## Left out, and void", *(f"- {line}" for line in words), "")
