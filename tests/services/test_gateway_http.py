"""The gateway's HTTP: hosting and joining, pages and files, and what hostile requests get."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.servers import NatsServer
from tests.services.stage import ROOM, stage
from wire.places import partition_of

New = Callable[[], NatsServer]


@pytest.fixture
def client(tmp_path: Path) -> Path:
    """A browser client as its build leaves it."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "schemas").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>players")
    (tmp_path / "watch.html").write_text("<!doctype html>tv")
    (tmp_path / "icon.svg").write_text("<svg/>")
    (tmp_path / "assets" / "index-abc123.js").write_text("1")
    (tmp_path / "schemas" / "client_in.json").write_text("{}")
    return tmp_path


async def test_the_same_request_id_hosts_one_room(new_nats: New) -> None:
    async with stage(new_nats) as s, s.http() as http:
        wish = {"name": "Ann", "request_id": "r1"}
        first, again = await http.post("/api/rooms", json=wish), await http.post("/api/rooms", json=wish)
        assert first.status_code == again.status_code == 200
        assert first.json() == again.json()
        assert set(first.json()) == {"room", "player", "token"}


async def test_a_code_as_typed_joins(new_nats: New) -> None:
    async with stage(new_nats) as s, s.http() as http:
        s.rooms.room(ROOM, "p1")
        for typed in ("bcdfg", "BCD FG", "bc-df-g"):
            joined = await http.post(f"/api/rooms/{typed}/join", json={"name": "Bo", "request_id": "r"})
            assert joined.json()["room"] == ROOM


async def test_a_token_joins_as_its_player_without_a_name(new_nats: New) -> None:
    async with stage(new_nats) as s, s.http() as http:
        s.rooms.room(ROOM, "p1")
        token = s.rooms.token(ROOM, "p1")
        joined = await http.post(f"/api/rooms/{ROOM}/join", json={"request_id": "r", "token": token})
        assert joined.json()["player"] == "p1"
        bad = await http.post(f"/api/rooms/{ROOM}/join", json={"request_id": "r", "token": "x"})
        assert (bad.status_code, bad.json()["error"]) == (403, "bad_token")


async def test_a_look_at_a_room_says_who_plays(new_nats: New) -> None:
    async with stage(new_nats) as s, s.http() as http:
        s.rooms.room(ROOM, "p1", "p2", table="t1")
        assert (await http.get("/api/rooms/bcdfg")).json() == {"room": ROOM, "players": 2, "playing": True}
        for code in ("ZZZZZ", "A", "BCDF1", "%00", "x" * 2000):
            answer = await http.get(f"/api/rooms/{code}")
            assert (answer.status_code, answer.json()["error"]) == (404, "no_room")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"name":"Ann"}',
        b'{"name":7,"request_id":"r"}',
        b'{"name":"","request_id":"r"}',
        b'{"name":"Ann","request_id":"r","more":1}',
        b'{"name":"' + b"x" * 65 + b'","request_id":"r"}',
        b'{"name":"Ann","request_id":"' + b"x" * 65 + b'"}',
        b"\xff\xfe",
        b"[" * 4000,
    ],
)
async def test_a_body_that_is_none_is_refused_plainly(new_nats: New, body: bytes) -> None:
    async with stage(new_nats) as s, s.http() as http:
        answer = await http.post("/api/rooms", content=body)
        assert (answer.status_code, answer.json()["error"]) == (400, "bad_message")
        assert s.rooms.made == {}


async def test_a_megabyte_is_too_big(new_nats: New) -> None:
    async with stage(new_nats) as s, s.http() as http:
        answer = await http.post("/api/rooms", content=b"x" * 1_000_000)
        assert (answer.status_code, answer.json()["error"]) == (413, "too_big")


async def raw(port: int, *parts: bytes) -> bytes:
    """What a connection is answered, to its end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await asyncio.wait_for(reader.read(), 10)
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_a_megabyte_of_headers_is_cut_off(new_nats: New) -> None:
    async with stage(new_nats) as s, s.http() as http:
        answer = await raw(s.gateway.port, b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"y" * 1_000_000)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
        assert (await http.get("/config.json")).status_code == 200


async def test_what_is_no_http_is_refused(new_nats: New) -> None:
    async with stage(new_nats) as s:
        assert (await raw(s.gateway.port, b"\x16\x03\x01\x00\xa5\x01\r\n\r\n")).startswith(b"HTTP/1.1 400")


async def test_a_connection_that_never_ends_its_headers_is_cut_off(
    new_nats: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("servicekit.http_protocol.HEAD_WITHIN", 0.2)
    async with stage(new_nats) as s:
        assert await raw(s.gateway.port, b"GET / HTTP/1.1\r\nHost: x\r\n") == b""
        assert await raw(s.gateway.port) == b""


async def test_wrong_methods_and_paths_are_said_in_json(new_nats: New, client: Path) -> None:
    async with stage(new_nats, client) as s, s.http() as http:
        assert (await http.delete("/api/rooms")).status_code == 405
        for path in ("/nothing", "/api/nothing", "/assets/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd"):
            answer = await http.get(path)
            assert answer.status_code == 404
            assert answer.json()["error"] == "unknown"


async def test_one_address_may_not_host_rooms_without_end(new_nats: New) -> None:
    async with stage(new_nats, create_per_minute=3) as s, s.http() as http:
        codes = [
            (await http.post("/api/rooms", json={"name": "Ann", "request_id": str(i)})).status_code for i in range(5)
        ]
        assert codes == [200, 200, 200, 429, 429]
        forged = {"x-forwarded-for": "203.0.113.9"}
        answer = await http.post("/api/rooms", json={"name": "Ann", "request_id": "9"}, headers=forged)
        assert answer.status_code == 429
        assert answer.json()["error"] == "slow_down"
        assert int(answer.headers["retry-after"]) >= 1


async def test_a_trusted_proxy_names_the_address(new_nats: New) -> None:
    async with stage(new_nats, create_per_minute=1, trusted_proxies="127.0.0.0/8") as s, s.http() as http:
        for last in (1, 2):
            told = {"x-forwarded-for": f"198.51.100.7, 203.0.113.{last}"}
            answer = await http.post("/api/rooms", json={"name": "Ann", "request_id": str(last)}, headers=told)
            assert answer.status_code == 200


async def test_a_page_from_elsewhere_can_not_host(new_nats: New) -> None:
    async with stage(new_nats, public_url="https://play.example") as s, s.http() as http:
        evil = {"origin": "https://evil.example"}
        answer = await http.post("/api/rooms", json={"name": "Ann", "request_id": "r"}, headers=evil)
        assert answer.status_code == 400
        assert s.rooms.made == {}


async def test_while_rooms_is_away_hosting_says_so(new_nats: New) -> None:
    async with stage(new_nats) as s, s.http() as http:
        s.rooms.away = True
        answer = await http.post("/api/rooms", json={"name": "Ann", "request_id": "r"})
        assert (answer.status_code, answer.json()["error"]) == (503, "lobby_away")


async def test_pages_files_and_their_headers(new_nats: New, client: Path) -> None:
    async with stage(new_nats, client) as s, s.http() as http:
        for path in ("/", f"/r/{ROOM}", "/r/bcd%20fg"):
            page = await http.get(path)
            assert page.text == "<!doctype html>players"
            assert page.headers["cache-control"] == "no-cache"
            assert "script-src" not in page.headers["content-security-policy"]
            assert "default-src 'self'" in page.headers["content-security-policy"]
            assert "'unsafe-inline'" not in page.headers["content-security-policy"].replace(
                "style-src-attr 'unsafe-inline'", ""
            )
            assert page.headers["x-content-type-options"] == "nosniff"
        script = await http.get("/assets/index-abc123.js")
        assert "immutable" in script.headers["cache-control"]
        assert (await http.get("/icon.svg")).headers["cache-control"] == "no-cache"
        schema = await http.get("/api/schemas/client_in.json")
        assert schema.json() == {}
        assert (await http.get("/api/schemas/nothing.json")).status_code == 404


async def test_what_the_build_packed_goes_out_packed_to_whoever_takes_it(new_nats: New, client: Path) -> None:
    script = client / "assets" / "index-abc123.js"
    packed = script.with_name("index-abc123.js.gz")
    packed.write_bytes(gzip.compress(script.read_bytes()))
    async with stage(new_nats, client) as s, s.http() as http:
        for takes, coding in (("gzip, br", "gzip"), ("identity", None), ("gzip;q=0", None)):
            answer = await http.get("/assets/index-abc123.js", headers={"accept-encoding": takes})
            assert answer.headers.get("content-encoding") == coding
            assert answer.content == script.read_bytes()
            assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
            assert answer.headers["vary"] == "accept-encoding"
            assert "immutable" in answer.headers["cache-control"]
        headers = {"accept-encoding": "gzip", "if-none-match": answer.headers["etag"]}
        assert (await http.get("/assets/index-abc123.js", headers=headers)).status_code == 200
        sent = await http.head("/assets/index-abc123.js", headers={"accept-encoding": "gzip"})
        assert int(sent.headers["content-length"]) == packed.stat().st_size


async def test_without_a_built_client_the_page_says_how_to_build_it(new_nats: New, tmp_path: Path) -> None:
    async with stage(new_nats, tmp_path / "nowhere") as s, s.http() as http:
        page = await http.get("/")
        assert page.status_code == 503
        assert "npm run build" in page.text


async def test_config_says_where_things_are(new_nats: New) -> None:
    async with stage(new_nats, build="b7") as s, s.http() as http:
        config = (await http.get("/config.json")).json()
        assert config == {
            "public_url": f"http://127.0.0.1:{s.gateway.port}",
            "watch_url": "http://127.0.0.1:8081/watch",
            "build": "b7",
        }
    async with stage(new_nats, public_url="https://play.example/", watch_url="/watch") as s, s.http() as http:
        config = (await http.get("/config.json")).json()
        assert config["public_url"] == "https://play.example"
        assert config["watch_url"] == "https://play.example/watch"
    async with stage(new_nats) as s, s.http() as http:
        config = (await http.get("/config.json", headers={"host": "evil<example>"})).json()
        assert "evil" not in json.dumps(config)


async def test_watch_leads_to_the_tv_with_its_code(new_nats: New) -> None:
    async with stage(new_nats, watch_url="http://tv.example:8081") as s, s.http() as http:
        there = await http.get("/watch?code=BCDFG")
        assert there.status_code == 307
        assert there.headers["location"] == "http://tv.example:8081/watch?code=BCDFG"
        assert (await http.get("/watch")).headers["location"] == "http://tv.example:8081/watch"


async def test_the_qr_code_is_the_join_link(new_nats: New) -> None:
    async with stage(new_nats, public_url="https://play.example") as s, s.http() as http:
        image = await http.get(f"/qr/{ROOM.lower()}.svg")
        assert image.headers["content-type"] == "image/svg+xml"
        assert image.text.startswith("<?xml") or "<svg" in image.text
        assert (await http.get("/qr/nothing.svg")).status_code == 404


async def test_ready_only_when_a_room_can_be_hosted_and_dealt(new_nats: New, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.gateway.readiness.KEPT", 0.0)

    async def why(path: str = "/readyz") -> str | None:
        answer = await http.get(path)
        assert (answer.status_code == 200) == answer.json()["ready"]
        said: str | None = answer.json().get("why")
        return said

    async with stage(new_nats) as s, s.http() as http:
        assert await why() is None
        s.rooms.away = True
        assert "rooms" in str(await why())
        s.rooms.away = False
        await s.engine.stop()
        assert "e1" in str(await why())
        other = await s.another_engine("e2")
        await other.claim(*[p for p in range(64) if p != partition_of(ROOM)], epoch=2)
        assert await why() is not None
        await other.claim(partition_of(ROOM), epoch=2)
        assert await why() is None
        s.nats.stop()
        assert "NATS" in str(await why())


async def test_metrics_count_what_happened_and_name_no_room(new_nats: New) -> None:
    from prometheus_client import generate_latest

    async with stage(new_nats) as s:
        s.at_table("p1")
        async with s.phone() as phone:
            await phone.hello(s.rooms.token(ROOM, "p1"))
            await phone.move(1)
            await phone.answered(1)
            text = generate_latest(s.gateway.registry).decode()
        assert "snatch_gateway_sockets 1.0" in text
        assert "snatch_gateway_seats 1.0" in text
        assert 'snatch_gateway_received_total{kind="move"} 1.0' in text
        assert "snatch_gateway_move_seconds_count 1.0" in text
        assert "snatch_gateway_commands_sent_total 1.0" in text
        assert ROOM not in text
