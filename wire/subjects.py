"""Every NATS subject there is, as functions."""

from __future__ import annotations

import re


def table(room: str) -> str:
    """Frames for everyone at a table, and its TVs."""
    return f"f.{room}.table"


def seat(room: str, seat: int) -> str:
    """Frames for one seat alone."""
    return f"f.{room}.seat.{seat}"


def beacon(room: str) -> str:
    """The (epoch, number) of each of a room's subjects, when it has been quiet."""
    return f"f.{room}.beacon"


def room_frames(room: str) -> str:
    """One subscription for all of a room's frames: several would arrive out of order."""
    return f"f.{room}.>"


def open_frames(room: str) -> str:
    """The same without the seats' own: what a TV's server may hear."""
    return f"f.{room}.*"


def lobby(room: str) -> str:
    """A lobby, whole, at every change."""
    return f"l.{room}"


def log(partition: int) -> str:
    """A partition's log.  JetStream only; nobody subscribes to it with core NATS."""
    return f"log.{partition}"


LOG_STREAM = "LOG"
LOG_SUBJECTS = "log.*"
OWN_BUCKET = "own"
OWN_REPUBLISH = "own.>"
"""Placement and leases, republished from the bucket: `own.p.<partition>`, `own.e.<engine>`."""


def lease_key(engine: str) -> str:
    return f"e.{engine}"


def placement_key(partition: int) -> str:
    return f"p.{partition}"


def engine_alive(engine: str) -> str:
    """A request here is answered by that engine, or by nobody."""
    return f"engine.{engine}.alive"


ENGINE_SUSPECTED = "engine.suspected"
"""From whoever's stream to an engine broke: its peers ask at once whether it is there.  Never proof."""

ENGINE_LOAD = "engine.load"
"""From each engine, for rooms, every 500 ms: how many tables it holds and can hold.  Every worker hears each."""

TABLE_NEWS = "news.table"
"""From engines, for rooms: a table closed, a member left, the host changed.  Every worker hears each."""

CALLERS_BEAT = "callers.beat"
"""From each process that attached players, every second: its id, and `gone` when it stops.

When it is silent for long, its sockets closed without a word: engines detach its players.
"""

BOTS_WANTED = "bots.wanted"
"""From engines, for one of the bot workers: this seat wants a driver."""
BOTS_QUEUE = "bots"


def bots_wanted_of(worker: str) -> str:
    """From engines, for this very worker: another one is silent, and may sit in the queue group all the same."""
    return f"{BOTS_WANTED}.{re.sub('[^A-Za-z0-9_-]', '_', worker)}"


BOTS_BEAT = "bots.beat"
"""From each bot worker, every 500 ms, for engines and rooms: its id, its free seats, and `gone` when it stops."""
