"""What the parts found, as JSON under benchmarks/results/: one file a part, its keys documented where they are made.

Structs of this project say what a key holds by `Meta(description=…)`; a program with a
JSON of its own (watch, rules, deals) says it in its docstring.  docs/benchmarks.md lists
both.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from benchmarks.machine import Machine

VERSION = 1


class PathRun(msgspec.Struct):
    """One run of players on one server."""

    who: Annotated[str, Meta(description="`snatch`, or the peer's name")]
    mode: Annotated[str, Meta(description="of the peer: `broadcast` tells a move at once, `schema` every 50 ms")]
    engines: Annotated[int, Meta(description="engines of Snatch; 0: the peer, one process")]
    players: Annotated[int, Meta(description="players, four in a room")]
    rate: Annotated[float, Meta(description="moves a second that each player is due; 0: flat out, upon its own frame")]
    round: Annotated[int, Meta(description="rounds are in turns: what is compared has the same number")]
    cpu_us_per_move: Annotated[float, Meta(description="µs of CPU of all servers for each move sent")]
    p50_ms: Annotated[float, Meta(description="from when a move was due to its frame at its sender's, median")]
    p99_ms: Annotated[float, Meta(description="… 99 of 100 moves were no slower")]
    p999_ms: Annotated[float, Meta(description="… 999 of 1,000 moves were no slower")]
    max_ms: Annotated[float, Meta(description="… the slowest move")]
    lost: Annotated[int, Meta(description="moves acknowledged and not in the log; of the peer: never answered")]
    doubled: Annotated[int, Meta(description="moves decided or told twice")]
    void: Annotated[bool, Meta(description="the load was not what it should be: the run counts for nothing")]
    void_why: Annotated[str, Meta(description="why it is void")]
    amiss: Annotated[list[str], Meta(description="the first things that were lost, doubled or unlike, in words")]
    moves_per_s: Annotated[float, Meta(description="moves sent a second")]
    server_cores: Annotated[float, Meta(description="cores that the servers used")]
    server_mb: Annotated[float, Meta(description="memory of all servers at the end, in 10^6 bytes")]
    grown_mb: Annotated[float, Meta(description="what it grew by since before the first player")]
    cpu_by_kind: Annotated[dict[str, float], Meta(description="µs a move by kind of server")]
    generator_cores: Annotated[float, Meta(description="cores that the busiest generator of players used")]
    generator_lag_p99_ms: Annotated[float, Meta(description="how late the worst generator's own loop was")]
    load_before: Annotated[float, Meta(description="load average of the last minute, before the run")]


class PathFigures(msgspec.Struct):
    runs: list[PathRun]


class MemoryRun(msgspec.Struct):
    """One stack with so many of each, at rest but for a move now and then."""

    rooms: Annotated[int, Meta(description="rooms at a live hand")]
    players: Annotated[int, Meta(description="players in them")]
    spectators: Annotated[int, Meta(description="TVs, spread over the rooms")]
    grown_mb: Annotated[float, Meta(description="memory of all servers, less what it was before the first player")]
    grown_by_kind: Annotated[dict[str, float], Meta(description="the same by kind of server")]


class MemoryFigures(msgspec.Struct):
    runs: list[MemoryRun]
    per_room_kb: Annotated[float | None, Meta(description="of a room by itself, in 10^3 bytes; null: not known")]
    per_player_kb: Annotated[float | None, Meta(description="of one player more in a room")]
    per_spectator_kb: Annotated[float | None, Meta(description="of one TV more")]


class StartRun(msgspec.Struct):
    """From the command to a stack on which a room can be hosted and dealt."""

    what: Annotated[str, Meta(description="`empty`: nothing there yet; `again`: on data of before; or the peer's name")]
    seconds: Annotated[float, Meta(description="how long it took")]


class StartFigures(msgspec.Struct):
    runs: list[StartRun]


class RecoveryRun(msgspec.Struct):
    """One of two engines got a signal while all rooms played on it."""

    rooms: Annotated[int, Meta(description="rooms of one player and a bot, a move every other second")]
    signal: Annotated[str, Meta(description="KILL, TERM or STOP")]
    first_claim_s: Annotated[float, Meta(description="from the signal to the first claim by the other engine")]
    last_open_s: Annotated[float, Meta(description="… until all partitions are open there")]
    last_answer_s: Annotated[float, Meta(description="… until each room had an answer")]
    gap_p50_s: Annotated[float, Meta(description="the longest wait for an answer, of the median room")]
    gap_p99_s: Annotated[float, Meta(description="… of 99 of 100 rooms")]
    gap_max_s: Annotated[float, Meta(description="… of the room that waited longest")]
    not_back: Annotated[int, Meta(description="rooms that never went on: must be 0")]


class RecoveryFigures(msgspec.Struct):
    runs: list[RecoveryRun]


Figures = PathFigures | MemoryFigures | StartFigures | RecoveryFigures | dict[str, Any]


class Result(msgspec.Struct):
    """One part, as its file has it."""

    part: Annotated[str, Meta(description="the part's name, and its file's")]
    version: Annotated[int, Meta(description="of this form; grows when a key goes or changes its meaning")]
    plan: Annotated[str, Meta(description="`full`, `quick` or `tiny`")]
    day: Annotated[str, Meta(description="the day of the run, UTC")]
    seconds: Annotated[float, Meta(description="how long the part took")]
    machine: Machine
    left_out: Annotated[list[str], Meta(description="what could not be run, and why")]
    figures: Any


FORMS: dict[str, type[msgspec.Struct]] = {
    "path": PathFigures,
    "memory": MemoryFigures,
    "start": StartFigures,
    "recovery": RecoveryFigures,
}
"""Of parts whose figures are made here; the others' are as their program wrote them."""


def write(folder: Path, result: Result) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{result.part}.json"
    file.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    return file


def read(folder: Path) -> dict[str, Result]:
    """By part, in the order of their names.  Raises msgspec.ValidationError."""
    found: dict[str, Result] = {}
    for file in sorted(folder.glob("*.json")):
        result = msgspec.json.decode(file.read_bytes(), type=Result)
        if (form := FORMS.get(result.part)) is not None:
            result.figures = msgspec.convert(result.figures, form)
        found[result.part] = result
    return found


class Key(typing.NamedTuple):
    """One key of a file: `figures.runs[].players`."""

    name: str
    words: str


def keys(form: type[msgspec.Struct], prefix: str = "") -> Iterator[Key]:
    """All keys of a struct, those of structs in it too.  Raises TypeError for one that says nothing of itself."""
    hints = typing.get_type_hints(form, include_extras=True)
    for name, hint in hints.items():
        words = next((m.description for m in getattr(hint, "__metadata__", ()) if isinstance(m, Meta)), None)
        inner, suffix = _struct_in(hint)
        if inner is not None:
            yield from keys(inner, f"{prefix}{name}{suffix}.")
        elif words:
            yield Key(f"{prefix}{name}", words)
        elif hint is not Any:
            raise TypeError(f"{form.__name__}.{name} has no description")


def _struct_in(hint: Any) -> tuple[type[msgspec.Struct] | None, str]:
    if typing.get_origin(hint) is list:
        (item,) = typing.get_args(hint)
        return _struct_in(item)[0], "[]"
    if isinstance(hint, type) and not isinstance(hint, types.GenericAlias) and issubclass(hint, msgspec.Struct):
        return hint, ""
    return None, ""
