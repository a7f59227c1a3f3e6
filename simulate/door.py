"""The HTTP door of a gateway: host and join rooms, as the page does."""

from __future__ import annotations

import asyncio
import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx

PATIENCE = 90.0
"""Seconds that a refused or failed call is tried again for: the same request id makes it one."""


ANSWER_WITHIN = 10.0
"""Seconds that a gateway may take to say that it is there."""
ONE_ADDRESS = {
    "SNATCH_CREATE_PER_MINUTE": "0",
    "SNATCH_JOIN_PER_MINUTE": "0",
    "SNATCH_LOOK_PER_MINUTE": "0",
    "SNATCH_TVS_PER_MINUTE": "0",
}
"""Settings of a stack of one's own: all simulated players come from this machine's address, without a limit for it."""


class NotLoopback(Exception):
    """Simulated players only ever play on this machine."""


class Closed(Exception):
    """The gateway would not let us in, in words."""


class Ticket(NamedTuple):
    """What host and join give a player."""

    room: str
    player: str
    token: str


def check_loopback(url: str) -> None:
    """Raises NotLoopback unless the address can only be this machine's."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return
    try:
        if ipaddress.ip_address(host).is_loopback:
            return
    except ValueError:
        pass
    raise NotLoopback(f"{url} is not this machine: simulated players only play on 127.0.0.1, ::1 or localhost")


def silence(url: str) -> str | None:
    """Why nobody serves there, in words; None when somebody answers at all."""
    check_loopback(url)
    try:
        httpx.get(f"{url.rstrip('/')}/readyz", timeout=ANSWER_WITHIN, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return str(error) or type(error).__name__
    return None


class Door:
    """`async with Door(url) as door`."""

    def __init__(self, url: str) -> None:
        check_loopback(url)
        self.url = url.rstrip("/")
        limits = httpx.Limits(max_connections=8)
        self._http = httpx.AsyncClient(base_url=self.url, timeout=10, limits=limits, trust_env=False)

    async def __aenter__(self) -> Door:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def host(self, name: str, request: str) -> Ticket:
        return await self._enter("/api/rooms", name, request)

    async def join(self, room: str, name: str, request: str) -> Ticket:
        return await self._enter(f"/api/rooms/{room}/join", name, request)

    async def watch_url(self) -> str:
        """Where TVs go; the gateway's own address when it doesn't say."""
        try:
            said = (await self._http.get("/config.json")).json()
        except (httpx.HTTPError, ValueError):
            return self.url
        return str(said.get("watch_url") or self.url).removesuffix("/watch")

    async def _enter(self, path: str, name: str, request: str) -> Ticket:
        pause, why = 0.1, ""
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    try:
                        answer = await self._http.post(path, json={"name": name, "request_id": request})
                    except httpx.TransportError as error:
                        why = repr(error)
                    else:
                        if answer.status_code == 200:
                            said = answer.json()
                            return Ticket(said["room"], said["player"], said["token"])
                        why = f"{answer.status_code} {answer.text[:200]}"
                        if answer.status_code not in (429, 502, 503, 504):
                            raise Closed(f"{path}: {why}")
                    await asyncio.sleep(pause)
                    pause = min(2.0, pause * 2)
        except TimeoutError:
            raise Closed(f"{path}: {why}, for {PATIENCE:.0f} s") from None
