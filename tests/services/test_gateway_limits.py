"""Buckets, addresses and origins: what one may ask for, and who one is."""

from __future__ import annotations

import pytest
from starlette.requests import HTTPConnection

from servicekit import limits
from servicekit.limits import AddressLimit, Bucket
from servicekit.web import Site, WebSettings


def test_a_bucket_gives_its_burst_then_its_rate() -> None:
    bucket = Bucket(rate=10, burst=3, now=0)
    assert [bucket.take(0) for _ in range(3)] == [0, 0, 0]
    assert bucket.take(0) == pytest.approx(0.1)
    assert bucket.take(0.1) == 0
    assert bucket.take(0.1) > 0


def test_a_bucket_holds_no_more_than_its_burst() -> None:
    bucket = Bucket(rate=10, burst=3, now=0)
    assert sum(bucket.take(1000) == 0 for _ in range(10)) == 3


def test_an_address_has_its_own_bucket_and_zero_means_no_limit() -> None:
    limit = AddressLimit(2)
    assert [limit.take("a", 0) == 0 for _ in range(3)] == [True, True, False]
    assert limit.take("b", 0) == 0
    assert limit.take("a", 31) == 0
    assert all(AddressLimit(0).take("a", 0) == 0 for _ in range(100))


def test_addresses_are_forgotten_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ADDRESSES", 10)
    limit = AddressLimit(1)
    for i in range(100):
        limit.take(str(i), 0)
    assert len(limit._buckets) == 10


def asked(client: str, **headers: str) -> HTTPConnection:
    raw = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    return HTTPConnection({"type": "http", "scheme": "http", "path": "/", "client": (client, 1), "headers": raw})


def site(**settings: object) -> Site:
    return Site(WebSettings.model_validate(settings))


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "address"),
    [
        ("", "10.0.0.1", "1.1.1.1", "10.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", "1.1.1.1", "1.1.1.1"),
        ("10.0.0.0/8", "10.0.0.1", "9.9.9.9, 1.1.1.1", "1.1.1.1"),
        ("10.0.0.0/8", "10.0.0.1", "9.9.9.9, 1.1.1.1, 10.0.0.2", "1.1.1.1"),
        ("10.0.0.0/8", "1.1.1.1", "9.9.9.9", "1.1.1.1"),
        ("10.0.0.0/8", "10.0.0.1", "nonsense", "?"),
        ("10.0.0.0/8", "10.0.0.1", "", "10.0.0.1"),
        ("", "2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
    ],
)
def test_an_address_is_the_peers_unless_a_trusted_proxy_says_more(
    trusted: str, peer: str, forwarded: str, address: str
) -> None:
    headers = {"x_forwarded_for": forwarded} if forwarded else {}
    assert site(trusted_proxies=trusted).address(asked(peer, **headers)) == address


@pytest.mark.parametrize(
    ("address", "most", "sockets", "room"),
    [
        ("203.0.113.9", 3, 2, True),
        ("203.0.113.9", 3, 3, False),
        ("2001:db8:1:2::/64", 3, 3, False),
        ("203.0.113.9", 0, 9999, True),
        ("127.0.0.1", 3, 9999, True),
        ("?", 3, 3, False),
    ],
)
def test_one_address_may_have_so_many_sockets(address: str, most: int, sockets: int, room: bool) -> None:
    assert site(max_sockets_per_address=most).room_for(address, sockets) == room


@pytest.mark.parametrize(
    ("public", "host", "origin", "allowed"),
    [
        ("", "127.0.0.1:8080", None, True),
        ("", "127.0.0.1:8080", "http://127.0.0.1:8080", True),
        ("", "127.0.0.1:8080", "http://localhost:5173", True),
        ("", "127.0.0.1:8080", "http://192.168.1.5:8080", True),
        ("", "127.0.0.1:8080", "https://evil.example", False),
        ("", "127.0.0.1:8080", "null", False),
        ("https://play.example", "gateway:8080", "https://play.example", True),
        ("https://play.example", "gateway:8080", "http://play.example", False),
        ("https://play.example", "gateway:8080", "http://192.168.1.5:8080", False),
        ("https://play.example", "gateway:8080", "https://play.example.evil.example", False),
    ],
)
def test_a_page_may_speak_to_its_own_site_only(public: str, host: str, origin: str | None, allowed: bool) -> None:
    headers = {"host": host} | ({"origin": origin} if origin is not None else {})
    assert site(public_url=public).origin_allowed(asked("127.0.0.1", **headers)) == allowed


def test_https_is_believed_of_a_trusted_proxy_alone() -> None:
    told = {"host": "play.example", "x_forwarded_proto": "https"}
    assert site(trusted_proxies="10.0.0.0/8").public_url(asked("10.0.0.1", **told)) == "https://play.example"
    assert site().public_url(asked("10.0.0.1", **told)) == "http://play.example"
