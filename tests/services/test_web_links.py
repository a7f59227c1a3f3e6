"""Where links and QR codes lead, by the port that was asked."""

from __future__ import annotations

import pytest
from starlette.requests import HTTPConnection

from servicekit.web import Site
from services.watch.settings import WatchSettings


def asked(host: str) -> HTTPConnection:
    return HTTPConnection({"type": "http", "scheme": "http", "path": "/", "headers": [(b"host", host.encode())]})


def site(**settings: object) -> Site:
    made = WatchSettings.model_validate({"port": 8080, "watch_port": 8081, **settings})
    return Site(made, players_port=made.port)


@pytest.mark.parametrize("host", ["192.168.1.20:8081", "[::1]:8081", "127.0.0.1:8081"])
def test_a_tv_on_its_own_port_shows_the_players_address(host: str) -> None:
    there = host.rsplit(":", 1)[0]
    assert site().config(asked(host)) == {
        "public_url": f"http://{there}:8080",
        "watch_url": f"http://{there}:8081/watch",
        "build": "dev",
    }


def test_behind_one_public_port_a_tv_shows_the_address_it_was_asked_by() -> None:
    assert site(watch_url="/watch").config(asked("play.example"))["public_url"] == "http://play.example"


def test_a_public_address_that_is_set_is_what_links_say() -> None:
    said = site(public_url="https://snatch.example/").config(asked("10.0.0.3:8081"))
    assert said["public_url"] == "https://snatch.example"
