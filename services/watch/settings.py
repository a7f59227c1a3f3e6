"""Settings of watch.  Its public port is `watch_port`."""

from __future__ import annotations

from pydantic import Field

from servicekit.web import WebSettings


class WatchSettings(WebSettings):
    port: int = Field(8080, ge=0, le=65535, description="The players' port, for the links that TVs show.")
    tvs_per_minute: float = Field(600, ge=0, description="TVs that one address may open a minute; 0: any.")
    hello_timeout: float = Field(5.0, gt=0, description="Seconds in which a TV must say which room it wants.")
