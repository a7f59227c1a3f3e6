"""Settings of the gateway."""

from __future__ import annotations

from pydantic import Field

from servicekit.tokens import TokenSettings
from servicekit.web import WebSettings


class GatewaySettings(WebSettings, TokenSettings):
    port: int = Field(8080, ge=0, le=65535, description="The players' port; 0 takes a free one.")
    create_per_minute: float = Field(120, ge=0, description="Rooms that one address may host a minute; 0: any.")
    join_per_minute: float = Field(600, ge=0, description="Joins of one address a minute; 0: any.")
    look_per_minute: float = Field(600, ge=0, description="Looks at rooms by one address a minute; 0: any.")
    moves_per_second: float = Field(30, gt=0, description="Moves of one socket a second, twice as many in a burst.")
    felt_every: int = Field(
        30, ge=0, le=3600, description="Seconds between two reports of what a page felt; 0: none is asked for."
    )
    hello_timeout: float = Field(5.0, gt=0, description="Seconds in which a socket must say hello.")
