"""Settings of rooms."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from servicekit.settings import Credentials
from servicekit.tokens import TokenSettings
from services.rooms.room import Times


class RoomsSettings(TokenSettings):
    redis_url: str = Field(
        "redis://127.0.0.1:6379/0",
        validation_alias=AliasChoices("REDIS_URL", "redis_url"),
        description="REDIS_URL: where lobbies are kept.",
    )
    redis_user: str = Field(
        "default",
        validation_alias=AliasChoices("REDIS_USER", "redis_user"),
        description="REDIS_USER: who rooms is at Redis.",
    )
    redis_password: str = Field(
        "",
        validation_alias=AliasChoices("REDIS_PASSWORD", "redis_password"),
        repr=False,
        description="REDIS_PASSWORD: that user's password; empty: nobody asks.",
    )
    rooms_host: str = Field("127.0.0.1", description="Where the gRPC RoomsService listens.")
    rooms_port: int = Field(0, ge=0, le=65535, description="Its port; 0 takes a free one.")
    redis_patience: float = Field(1.0, gt=0, description="Seconds until Redis counts as away.")
    engine_patience: float = Field(5.0, gt=0, description="Seconds until an engine counts as away.")
    rooms_most: int = Field(
        0, ge=0, description="Rooms at once, beyond which no new one is hosted; 0: as many as engines say they hold."
    )
    host_grace: float = Field(15.0, ge=0, description="Seconds a host may be away in the lobby.")
    join_patience: float = Field(60.0, gt=0, description="Seconds in which who joined must come, to stay on the list.")
    room_idle: float = Field(600.0, gt=0, description="Seconds that a room outlives its last human.")
    request_memory: float = Field(600.0, gt=0, description="Seconds that a repeated call gets the first one's answer.")
    socket_stale: float = Field(50.0, gt=0, description="Seconds after which a silent socket is gone.")
    table_check: float = Field(
        120.0, gt=0, description="Seconds between looks at a live table, in case news of it was missed."
    )
    finished_kept: float = Field(1800.0, gt=0, description="Seconds that standings are shown, if nobody goes on.")
    reconcile_every: float = Field(
        30.0, gt=0, description="Seconds between two times that all rooms are held against all tables."
    )

    @property
    def redis_credentials(self) -> Credentials | None:
        return Credentials(self.redis_user, self.redis_password) if self.redis_password else None

    @property
    def times(self) -> Times:
        return Times(
            grace=round(self.host_grace * 1000),
            unseen=round(self.join_patience * 1000),
            idle=round(self.room_idle * 1000),
            stale=round(self.socket_stale * 1000),
            check=round(self.table_check * 1000),
            finished=round(self.finished_kept * 1000),
            opening=round(self.engine_patience * 2000),
            request=round(self.request_memory * 1000),
        )
