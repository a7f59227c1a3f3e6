"""What a player's socket stands on."""

from __future__ import annotations

from dataclasses import dataclass

from servicekit.feed import Feeds
from servicekit.lobby_feed import LobbyFeeds
from servicekit.rooms_client import RoomsClient
from servicekit.seat import MakeSeat
from servicekit.tokens import Tokens
from services.gateway.lobby_watch import LobbyWatch
from services.gateway.metrics import GatewayMetrics
from services.gateway.presence import Presence
from services.gateway.settings import GatewaySettings


@dataclass(frozen=True)
class Parts:
    """Shared by all players' sockets of this gateway."""

    settings: GatewaySettings
    tokens: Tokens
    rooms: RoomsClient
    lobbies: LobbyFeeds
    feeds: Feeds
    presence: Presence
    lobby_watch: LobbyWatch
    metrics: GatewayMetrics
    seat: MakeSeat
