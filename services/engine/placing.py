"""What an owner writes into its placement when it won't serve: that it halted, or that a later release should."""

from __future__ import annotations

from servicekit import logs
from services.engine.floor import Floor
from services.engine.partition import Partition
from services.engine.stream import StreamAway
from wire.news import Entry


def entry(floor: Floor, partition: Partition, state: str) -> Entry:
    """The placement of a partition at this engine."""
    return Entry(floor.name, floor.addr, partition.epoch, state)


async def say_halted(floor: Floor, partition: Partition) -> None:
    """Callers need not ask here, and no other engine takes it as long as this one lives."""
    board, number = floor.board, partition.number
    try:
        at = await board.entry(number)
        if at is None or (at.entry.owner, at.entry.epoch) == (floor.name, partition.epoch):
            await board.place(number, entry(floor, partition, "halted"), at.revision if at is not None else 0)
    except StreamAway as error:
        logs.logger(__name__).warning("nobody could be told", partition=number, error=str(error))


async def step_back(floor: Floor, number: int, version: int, epoch: int, revision: int) -> None:
    """The log is of a later release: leave it to an engine that reads it, and don't come back."""
    heir, addr = floor.heir(number, version)
    log = logs.logger(__name__).bind(partition=number)
    log.warning("a log of a later release is left to its engines", version=version, to=heir or "anybody")
    try:
        await floor.board.place(number, Entry(heir, addr, epoch + 1, "offer", version), revision)
    except StreamAway as error:
        log.warning("stepping back waits for NATS", error=str(error))
