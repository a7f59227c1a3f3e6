"""What a public service asks and hears: NATS, rooms, engines, and with them each room's lobby and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from servicekit import bus, tracing
from servicekit.ending import in_order
from servicekit.engines import Engines
from servicekit.feed import Feeds
from servicekit.lobby_feed import LobbyFeeds
from servicekit.rooms_client import RoomsClient
from servicekit.web import WebSettings

if TYPE_CHECKING:
    from servicekit.tracing_spans import Traces


class Upstream:
    """Made by `connect`; `stop` ends everything in reverse order, NATS last."""

    def __init__(self, nc: bus.Bus, rooms: RoomsClient, engines: Engines, feeds: Feeds, lobbies: LobbyFeeds) -> None:
        self.nc = nc
        self.rooms = rooms
        self.engines = engines
        self.feeds = feeds
        self.lobbies = lobbies

    @classmethod
    async def connect(
        cls, settings: WebSettings, service: str, *, seats: bool = True, traces: Traces | None = None
    ) -> Upstream:
        """Waits for NATS, and for nobody else.  `seats` False: only what a TV's server may hear."""
        name = f"{service} {settings.instance}"
        nc = await bus.connect(settings.nats_url, name, credentials=settings.nats_credentials)
        tracing.listen(nc, traces)
        rooms = RoomsClient(settings.rooms_addr)
        engines = Engines(nc, name, links=tracing.links(traces))
        upstream = cls(nc, rooms, engines, Feeds(nc, engines, seats=seats), LobbyFeeds(nc, rooms))
        try:
            rooms.start()
            await engines.start()
            await upstream.feeds.start()
            await upstream.lobbies.start()
        except BaseException:
            await upstream.stop()
            raise
        return upstream

    async def stop(self) -> None:
        await in_order(
            ("lobbies", self.lobbies.stop),
            ("feeds", self.feeds.stop),
            ("engines", self.engines.stop),
            ("rooms", self.rooms.stop),
            ("NATS", self.nc.close),
        )
