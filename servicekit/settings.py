"""Settings that every service has, read from the environment and validated at start."""

from __future__ import annotations

import secrets
from typing import Literal

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Each field is the variable SNATCH_<FIELD>, unless it says otherwise."""

    model_config = SettingsConfigDict(env_prefix="SNATCH_", extra="ignore", frozen=True, populate_by_name=True)

    instance: str = Field(default_factory=lambda: secrets.token_hex(4), description="This process's own id.")
    nats_url: str = Field(
        "nats://127.0.0.1:4222",
        validation_alias=AliasChoices("NATS_URL", "nats_url"),
        description="NATS_URL: the NATS servers, comma-separated.",
    )
    ops_host: str = Field("127.0.0.1", description="Where /healthz, /readyz and /metrics listen.")
    ops_port: int = Field(0, ge=0, le=65535, description="Their port; 0 takes a free one.")
    log_format: Literal["auto", "json", "text"] = Field("auto", description="auto: text on a terminal, else JSON.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="What is logged.")
    build: str = Field("dev", description="The release's name, shown to clients and in metrics.")
