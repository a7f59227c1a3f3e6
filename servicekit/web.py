"""What gateway and watch serve over HTTP alike: pages, files, headers, links, QR codes."""

from __future__ import annotations

import ipaddress
import mimetypes
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from servicekit import qr
from servicekit.settings import Settings
from wire.places import tidy_code

WEB_DIST = Path(__file__).resolve().parent.parent / "web" / "dist"

_HOST = re.compile(r"^[A-Za-z0-9._-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$")
_POLICY = (
    "default-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_SECURITY = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_MISSING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Snatch</title>
<h1>The browser client is not built</h1>
<p>Build it with <code>make play</code> (which builds and starts everything), or with
<code>npm ci &amp;&amp; npm run build</code> in <code>web/</code>, then load this page again.</p>
<p>Somewhere else? Say where with <code>SNATCH_WEB_DIR</code>.</p>
"""


class WebSettings(Settings):
    """Of a service with a public port."""

    web_dir: Path = Field(WEB_DIST, description="The built browser client.")
    public_url: str = Field("", pattern=r"^(https?://\S+)?$", description="What links and QR codes say.")
    watch_url: str = Field(
        "",
        pattern=r"^(https?://\S+|/\S*)?$",
        description="Where TVs go: an address, or a path of the public one. Else the host asked, on the TVs' port.",
    )
    watch_port: int = Field(8081, ge=0, le=65535, description="The TVs' port.")
    host: str = Field("127.0.0.1", description="Where the public port listens.")
    reuse_port: bool = Field(False, description="Several processes share the public port.")
    rooms_addr: str = Field("127.0.0.1:7000", min_length=1, description="The rooms workers' gRPC, comma-separated.")
    trusted_proxies: str = Field("", description="Networks whose X-Forwarded-For and -Proto are believed.")
    max_sockets: int = Field(10000, ge=1, description="Sockets at once; more are closed with 1013.")
    max_sockets_per_address: int = Field(500, ge=0, description="The same for one address, loopback apart; 0: any.")


class Site:
    """Where this service is for the outside, judged by settings and the request."""

    def __init__(self, settings: WebSettings, *, players_port: int | None = None) -> None:
        """`players_port`: where players go, for a service that listens elsewhere itself."""
        self._settings = settings
        self._players_port = players_port
        self._trusted = [ipaddress.ip_network(n.strip()) for n in settings.trusted_proxies.split(",") if n.strip()]

    def public_url(self, request: HTTPConnection) -> str:
        """Without a slash at its end."""
        if self._settings.public_url:
            return self._settings.public_url.rstrip("/")
        if self._players_port is not None and not self._settings.watch_url.startswith("/"):
            return self._on_port(request, self._players_port)
        return f"{self._scheme(request)}://{self._host(request)}"

    def watch_url(self, request: HTTPConnection) -> str:
        """The TV's page, without a code."""
        url = self._settings.watch_url.rstrip("/")
        if url.startswith("/"):
            return self.public_url(request) + url
        if url:
            return url if urlsplit(url).path else f"{url}/watch"
        return f"{self._on_port(request, self._settings.watch_port)}/watch"

    def config(self, request: HTTPConnection) -> dict[str, str]:
        return {
            "public_url": self.public_url(request),
            "watch_url": self.watch_url(request),
            "build": self._settings.build,
        }

    def address(self, request: HTTPConnection) -> str:
        """Who asks: the peer, or what the trusted proxies in front of us say of it.  IPv6 by its /64."""
        peer = request.client.host if request.client is not None else ""
        hops = [h.strip() for h in request.headers.get("x-forwarded-for", "").split(",") if h.strip()]
        while hops and self._is_trusted(peer):
            peer = hops.pop()
        try:
            found = ipaddress.ip_address(peer)
        except ValueError:
            return "?"
        if found.version == 6:
            return str(ipaddress.ip_network((found, 64), strict=False))
        return str(found)

    def room_for(self, address: str, sockets: int) -> bool:
        """Whether an address that has so many sockets may open another."""
        most = self._settings.max_sockets_per_address
        return not most or sockets < most or _is_loopback(address)

    def origin_allowed(self, request: HTTPConnection) -> bool:
        """Whether a page of that origin may speak to us.  No origin: not a browser's page, let in."""
        origin = request.headers.get("origin")
        if origin is None:
            return True
        there = urlsplit(origin)
        if there.netloc and there.netloc == request.headers.get("host"):
            return True
        for url in (self._settings.public_url, self._settings.watch_url):
            known = urlsplit(url)
            if known.netloc and (there.scheme, there.netloc) == (known.scheme, known.netloc):
                return True
        return not self._settings.public_url and _at_home(there.hostname or "")

    def _on_port(self, request: HTTPConnection, port: int) -> str:
        """The host that was asked, on another of our ports."""
        name = urlsplit(f"//{self._host(request)}").hostname or "localhost"
        name = f"[{name}]" if ":" in name else name
        return f"{self._scheme(request)}://{name}:{port}"

    def _host(self, request: HTTPConnection) -> str:
        host = request.headers.get("host", "")
        if _HOST.match(host):
            return host
        server = request.scope.get("server")
        return f"{server[0]}:{server[1]}" if server else "localhost"

    def _scheme(self, request: HTTPConnection) -> str:
        told = request.headers.get("x-forwarded-proto", "")
        peer = request.client.host if request.client is not None else ""
        if told in ("http", "https") and self._is_trusted(peer):
            return told
        return "https" if request.url.scheme in ("https", "wss") else "http"

    def _is_trusted(self, peer: str) -> bool:
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self._trusted)


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_network(address).is_loopback
    except ValueError:
        return False


def _at_home(name: str) -> bool:
    """This machine, or the local network."""
    if name == "localhost" or name.endswith((".localhost", ".local")):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_private or address.is_link_local


class SecurityHeaders:
    """Adds the security headers to every HTTP answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _SECURITY.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, sending)


class _Files(StaticFiles):
    """Built files bear their hash in the name and never change; all others are asked for each time.

    What the build left packed beside a file goes out in its place to whoever takes it.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = self._packed(path, scope) or await super().get_response(path, scope)
        hashed = path.replace("\\", "/").startswith("assets/")
        response.headers["cache-control"] = "public, max-age=31536000, immutable" if hashed else "no-cache"
        response.headers["vary"] = "accept-encoding"
        return response

    def _packed(self, path: str, scope: Scope) -> Response | None:
        if scope["method"] not in ("GET", "HEAD"):
            return None
        taken = _codings(Headers(scope=scope).get("accept-encoding", ""))
        for coding, ending in _PACKED:
            full, stat = self.lookup_path(path + ending) if coding in taken else ("", None)
            if stat is not None:
                response = self.file_response(full, stat, scope)
                response.headers["content-encoding"] = coding
                if "content-type" in response.headers:
                    response.headers["content-type"] = _media_type(path)
                return response
        return None


_PACKED = (("br", ".br"), ("gzip", ".gz"))
"""Smallest first."""


def _codings(accept: str) -> set[str]:
    """Those that a request takes.

    >>> sorted(_codings("gzip, deflate, br;q=0.9, zstd;q=0"))
    ['br', 'deflate', 'gzip']
    """
    offers = [offer.partition(";") for offer in accept.lower().split(",")]
    return {name.strip() for name, _, weight in offers if not re.fullmatch(r"q=0(\.0*)?", weight.strip())}


def _media_type(path: str) -> str:
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def page(web_dir: Path, name: str) -> Response:
    """An HTML page of the client, or, when it isn't built, how to build it (503)."""
    path = web_dir / name
    if not path.is_file():
        return HTMLResponse(_MISSING, status_code=503, headers={"cache-control": "no-store"})
    return FileResponse(path, headers={"cache-control": "no-cache"}, media_type="text/html; charset=utf-8")


def problem(code: str, text: str, status: int, headers: dict[str, str] | None = None) -> JSONResponse:
    """An HTTP error as all of ours look."""
    return JSONResponse({"error": code, "text": text}, status_code=status, headers=headers)


def routes(settings: WebSettings, site: Site) -> list[BaseRoute]:
    """`/config.json` and `/qr/{code}.svg`; put `files` last."""

    async def config(request: Request) -> Response:
        return JSONResponse(site.config(request), headers={"cache-control": "no-store"})

    async def qr_code(request: Request) -> Response:
        code = tidy_code(request.path_params["code"])
        if code is None:
            return problem("no_room", "that is no room code", 404)
        image = qr.svg(f"{site.public_url(request)}/r/{code}")
        return Response(image, media_type="image/svg+xml", headers={"cache-control": "private, no-cache"})

    return [Route("/config.json", config), Route("/qr/{code}.svg", qr_code)]


def files(settings: WebSettings) -> Iterable[BaseRoute]:
    """The client's files; a folder that appears later is served from then on."""
    return [Mount("/", _Files(directory=settings.web_dir, check_dir=False))]


async def on_http_error(_: Request, error: Exception) -> Response:
    """Starlette's own errors (404, 405 …), in our shape."""
    assert isinstance(error, HTTPException)
    code = {404: "unknown", 405: "unknown", 413: "too_big"}.get(error.status_code, "bad_message")
    headers: dict[str, Any] = dict(error.headers or {})
    return problem(code, str(error.detail), error.status_code, headers)


async def on_crash(_: Request, __: Exception) -> Response:
    """A fault of ours, in our errors' shape: what it was is for the log alone."""
    return problem("unknown", "that went wrong here", 500)
