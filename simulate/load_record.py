"""What a load run found, as it is written to JSON: the final result, its samples second by second, its events.

The order of the fields is the order of the keys.  Times are milliseconds and memory is
MB (10**6 bytes) where a name says so; `at` is seconds since the hold began, negative
before it.  A share of CPU is 1.0 for one whole core.
"""

from __future__ import annotations

from typing import Literal

import msgspec

VERSION = 1

Phase = Literal["ramp", "hold", "drain", "check"]
DelayName = Literal["connect", "join", "own", "rival", "tv", "resume"]
"""
- connect: opening a socket, to its `welcome`
- join: the call that hosts or joins a room, to its answer
- own: from when a move was due to the frame that answers it at its player's
- rival: … to the same frame at another player's of the room
- tv: … to the same frame at a TV
- resume: from the loss of a socket to the snapshot on the next one
"""


class Delay(msgspec.Struct):
    """One HDR histogram, in ms."""

    count: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    p999_ms: float
    max_ms: float


class ServiceSample(msgspec.Struct):
    """One part of the stack in one second."""

    cpu: float
    """Share of a core."""
    memory_mb: float
    processes: int = 1


class Sample(msgspec.Struct):
    """One second of a run, over all generators."""

    at: float
    phase: Phase
    players: int
    """Seats at a live hand."""
    spectators: int
    due: int
    """Moves that fell due in this second."""
    moves: int
    """Moves sent."""
    answered: int
    refused: int
    errors: int
    reconnects: int
    own: Delay
    rival: Delay
    tv: Delay
    received_bytes: int
    lag_p99_ms: float
    """How late the generators' own loops were, the worst of them."""
    generator_cpu: float
    """Share of a core, of the busiest generator."""
    services: dict[str, ServiceSample] = {}
    """By part: engine-1, gateway-1, nats, …"""
    machine_cpu: float = 0.0
    """Cores busy with anything at all, strangers included."""


class Event(msgspec.Struct):
    """Something that a plot marks: a phase that begins, a spike, a kill."""

    at: float
    kind: str
    """phase, spike, kill, stop, note; or part: what befell a part of the stack, as its supervisor tells it"""
    words: str


class Asked(msgspec.Struct):
    """What the command line said."""

    players: int
    seats: int
    """Players a room."""
    rate: float
    """Moves a second and player; 0: the next one upon the own frame."""
    duration: float
    ramp: float
    spike: float
    """The rate is multiplied by this in the middle tenth of the hold; 1: no spike."""
    processes: int
    tvs: int
    reconnects: float
    """The share of players that lose their socket in the hold."""
    sleepers: float
    slow: float
    seed: int
    levels: list[str]


class Rate(msgspec.Struct):
    """Of the hold, in moves a second."""

    target: float
    """The spike included."""
    due: float
    """What fell due: less than the target while rooms are between two hands."""
    achieved: float
    moves: int
    idle: int
    """Moves that were due to a player who had none to make."""


class Contested(msgspec.Struct):
    """Spots in the middle that at least two players sent a card for."""

    won: int
    refused: int


class Checks(msgspec.Struct):
    """What was lost, doubled or unlike, and how much was looked at."""

    moves: int
    """Moves sent, in all phases."""
    answered: int
    unanswered: int
    lost: int
    """Acknowledged, and not in the log as acknowledged."""
    doubled: int
    """Decided or told twice."""
    gaps: int
    """Numbers of frames that never came."""
    word_for_word: int
    """Answers held against the log's own record of the move."""
    by_snapshot: int
    """Answers whose records were trimmed: held against what a snapshot in the log says of their seat."""
    hashes: dict[str, int]
    """Final states compared: clients, engine, log, phones; and `unequal`."""
    log: str
    """How the log was read, or why not."""
    told: list[str]
    """The first things that were amiss, in words."""


class Bytes(msgspec.Struct):
    """Payloads of WebSocket messages, in the hold."""

    sent_per_move: float
    received_per_move: float
    received_per_player_s: float


class Service(msgspec.Struct):
    """One part of the stack, over the hold."""

    kind: str
    cpu_us_per_move: float
    cpu: float
    memory_mb: float
    """At the end of the hold, its child processes included."""
    memory_mb_per_1000_players: float
    """What it grew by from before the first player to the end of the hold: of memory that it shares with nobody."""


class Deals(msgspec.Struct):
    """Deals that tables asked for, from the engines' start on."""

    asked: int
    waited: int
    """Whose deal was not there yet."""
    wait_mean_ms: float
    """Of those that waited."""
    wait_most_ms: float
    """No table waited longer than this, the bound of a histogram's bucket."""


class Generator(msgspec.Struct):
    """One generator process, over the hold."""

    players: int
    cpu: float
    cpu_us_per_move: float
    lag_p50_ms: float
    lag_p99_ms: float
    lag_max_ms: float


class Result(msgspec.Struct):
    """A whole run."""

    cpu_us_per_move: float
    """Of all parts of the stack, NATS and Valkey included, over the hold; 0: not known."""
    p50_ms: float
    """From when a move was due to its player's own frame."""
    p99_ms: float
    lost: int
    doubled: int
    void: bool
    """The generators were saturated, so the times are theirs: `void_why` says how."""
    void_why: list[str]
    missed: list[str]
    """Service levels that were asked for and not held."""
    ok: bool
    """The exit code is 0."""
    version: int
    began: str
    """UTC, ISO 8601."""
    asked: Asked
    versions: dict[str, str]
    hardware: dict[str, str]
    topology: dict[str, int]
    durability: str
    settings: dict[str, str]
    """What the own stack's environment was given beyond the defaults."""
    rate: Rate
    delays: dict[str, Delay]
    contested: Contested
    refusals: dict[str, int]
    errors: dict[str, int]
    closes: dict[str, int]
    hands: dict[str, int]
    checks: Checks
    bytes: Bytes
    services: dict[str, Service]
    generators: list[Generator]
    samples: list[Sample]
    events: list[Event]
    deals: Deals | None = None
    """None: the engines could not be asked."""


def to_json(result: Result) -> bytes:
    """Indented, with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"


def from_json(data: bytes) -> Result:
    """Raises msgspec.ValidationError."""
    return msgspec.json.decode(data, type=Result)
