"""What the run and its generator processes tell each other: one JSON object a line, over pipes.

Times are seconds of the machine's monotonic clock, the same in every process.
"""

from __future__ import annotations

import msgspec


class Order(msgspec.Struct):
    """What a generator is asked for when it starts."""

    url: str
    tv_url: str
    """Empty: where the gateway says."""
    index: int
    first_room: int
    rooms: int
    seats: int
    rate: float
    ramp: float
    tvs: int
    reconnects: float
    sleepers: float
    slow: float
    ping: float
    """Seconds between a page's pings; 0: none."""
    seed: int
    abreast: int
    """Rooms that are opened at once."""


class Hold(msgspec.Struct, tag=True):
    """Delays of moves due between these two times count."""

    start: float
    end: float
    spike: float
    """The rate is multiplied by this from `spike_from` to `spike_to`."""
    spike_from: float
    spike_to: float


class Stop(msgspec.Struct, tag=True):
    """Nobody moves any more; say `Drained` when all is answered."""

    within: float


class Compare(msgspec.Struct, tag=True):
    """Open every player's page once more, compare, and say `Final`."""


Say = Hold | Stop | Compare


class Second(msgspec.Struct, tag=True):
    """What a generator counted since the last one."""

    at: float
    players: int
    spectators: int
    due: int
    moves: int
    answered: int
    refused: int
    errors: int
    reconnects: int
    received: int
    lag: dict[int, int]
    cpu: float
    """Share of a core."""
    delays: dict[str, dict[int, int]]
    """Buckets of `load_delays`, by name."""


class Ready(msgspec.Struct, tag=True):
    """All rooms that could be opened are at their first live hand."""

    rooms: int
    failed: int
    why: str


class Drained(msgspec.Struct, tag=True):
    unanswered: int


class Ledger(msgspec.Struct):
    """What one seat was told: all moves up to `told`, but for `open`, and those in `refused` came back."""

    tab: int
    told: int
    open: list[int]
    refused: dict[int, tuple[str, int | None, int | None]]
    view: str
    """Hash of what its page shows."""


class RoomEnd(msgspec.Struct):
    room: str
    seats: dict[int, Ledger]
    public: str
    """Hash of what everybody sees."""


class Final(msgspec.Struct, tag=True):
    """The whole of it, of one generator."""

    players: int
    moves: int
    answered: int
    hold_due: int
    hold_moves: int
    hold_idle: int
    lost: int
    doubled: int
    gaps: int
    hold_received: int
    hold_sent: int
    won: int
    snatched: int
    refusals: dict[str, int]
    errors: dict[str, int]
    closes: dict[str, int]
    hands: dict[str, int]
    compared: dict[str, int]
    told: list[str]
    delays: dict[str, str]
    """HDR histograms as text, of the hold."""
    cpu: float
    """Seconds in the hold."""
    lag: str
    rooms: list[RoomEnd]


Tell = Second | Ready | Drained | Final

say_decoder = msgspec.json.Decoder(Say)
tell_decoder = msgspec.json.Decoder(Tell)
order_decoder = msgspec.json.Decoder(Order)
_encoder = msgspec.json.Encoder()


def line(message: Order | Say | Tell) -> bytes:
    """One message, ready to be written."""
    return _encoder.encode(message) + b"\n"
