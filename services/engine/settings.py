"""What an engine can be told, from the environment."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from servicekit.settings import Settings


class EngineSettings(Settings):
    engine_host: str = Field("127.0.0.1", description="Where the engine's gRPC listens.")
    engine_port: int = Field(0, ge=0, le=65535, description="Its port; 0 takes a free one.")
    engine_commands_port: int = Field(
        0, ge=0, le=65535, description="Where gateways' streams of commands come in; 0 takes a free port."
    )
    engine_advertise: str = Field(
        "", description="host or host:port that others reach this engine at; empty: where it listens."
    )
    trim_after: float = Field(
        5.0, ge=0, le=60, description="Seconds that records which no table needs stay in the log for who checks it."
    )
    deal_workers: int = Field(1, ge=1, le=16, description="Processes that make checked deals.")
    engine_tables: int = Field(
        2000, ge=1, description="Tables that one engine is to hold: beyond those of all engines no new room is hosted."
    )
    engine_busy: float = Field(
        0.95,
        ge=0,
        le=1,
        description="Share of a core, over 10 s, at which an engine asks for no more rooms; 0: it never does.",
    )

    @field_validator("instance")
    @classmethod
    def _instance_is_a_token(cls, value: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", value):
            raise ValueError("letters, digits, - and _ only, at most 32: it becomes part of a subject")
        return value


class SetupSettings(Settings):
    log_replicas: int = Field(1, ge=1, le=5, description="Copies of the log and of the placement bucket.")
    log_max_bytes: int = Field(
        8 * 1024**3, ge=1024**2, description="The log refuses new records beyond this size, rather than lose old ones."
    )
