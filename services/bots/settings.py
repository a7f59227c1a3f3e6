"""Settings of bots."""

from __future__ import annotations

from pydantic import Field

from servicekit.settings import Settings


class BotsSettings(Settings):
    bots_seats: int = Field(400, ge=1, le=10_000, description="Seats that one bots worker drives at most.")
    engine_patience: float = Field(5.0, gt=0, description="Seconds until an engine counts as away.")
