"""Settings that every service has, read from the environment and validated at start.

What nobody else may see comes from a file as well: one per variable, named like it, in the
folder that SNATCH_SECRETS_DIR names (Docker's /run/secrets, a Kubernetes Secret mounted).
The environment counts more than a file.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import AliasChoices, Field, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

SECRETS_DIR = "SNATCH_SECRETS_DIR"


class Credentials(NamedTuple):
    """What a server wants to know of its client."""

    user: str
    password: str


class Settings(BaseSettings):
    """Each field is the variable SNATCH_<FIELD>, unless it says otherwise.

    Raises SettingsError for a folder of secrets that isn't there or can't be read.
    """

    model_config = SettingsConfigDict(
        env_prefix="SNATCH_",
        extra="ignore",
        frozen=True,
        populate_by_name=True,
        hide_input_in_errors=True,  # errors are printed, and what is wrong may be beside a password
    )

    instance: str = Field(default_factory=lambda: secrets.token_hex(4), description="This process's own id.")
    nats_url: str = Field(
        "nats://127.0.0.1:4222",
        validation_alias=AliasChoices("NATS_URL", "nats_url"),
        description="NATS_URL: the NATS servers, comma-separated.",
    )
    nats_user: str = Field(
        "",
        validation_alias=AliasChoices("NATS_USER", "nats_user"),
        description="NATS_USER: who this service is at NATS; empty: nobody asks.",
    )
    nats_password: str = Field(
        "",
        validation_alias=AliasChoices("NATS_PASSWORD", "nats_password"),
        repr=False,
        description="NATS_PASSWORD: that user's password.",
    )
    secrets_dir: str = Field(
        "", description="A folder with a file for each setting that is a secret, named like its variable."
    )
    ops_host: str = Field("127.0.0.1", description="Where /healthz, /readyz and /metrics listen.")
    ops_port: int = Field(0, ge=0, le=65535, description="Their port; 0 takes a free one.")
    log_format: Literal["auto", "json", "text"] = Field("auto", description="auto: text on a terminal, else JSON.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="What is logged.")
    trace_ratio: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of moves that are traced; 0: none. Where to: OTEL_EXPORTER_OTLP_ENDPOINT and its like.",
    )
    build: str = Field("dev", description="The release's name, shown to clients and in metrics.")
    commit: str = Field("unknown", description="The commit that it was built from, shown in metrics.")

    @property
    def nats_credentials(self) -> Credentials | None:
        return Credentials(self.nats_user, self.nats_password) if self.nats_user else None

    @model_validator(mode="after")
    def _nobody_without_a_password(self) -> Settings:
        if bool(self.nats_user) != bool(self.nats_password):
            raise ValueError("NATS_USER and NATS_PASSWORD go together: one of them is missing")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        folder = os.environ.get(SECRETS_DIR)
        if not folder:
            return init_settings, env_settings
        if not Path(folder).is_dir():
            raise SettingsError(f"{SECRETS_DIR} is {folder}, which is no folder")
        return init_settings, env_settings, SecretsSettingsSource(settings_cls, secrets_dir=folder)
