"""Which parts run, with which settings."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from stack import layout, ports
from stack.address import is_open, url
from stack.data import DataFolder
from stack.layout import Wishes, lay_out
from stack.log_files import LogFile, readable


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path)


def test_each_kind_runs_as_often_as_wished_with_an_instance_of_its_own(data: DataFolder) -> None:
    plan = lay_out(Wishes(engines=2, gateways=3), data)
    names = [p.name for p in plan.services]
    assert names == ["engine-1", "engine-2", "rooms-1", "bots-1", "watch-1", "gateway-1", "gateway-2", "gateway-3"]
    assert [p.env["SNATCH_INSTANCE"] for p in plan.services] == names
    assert {p.kind for p in plan.services} == set(layout.KINDS)


def test_gateways_share_their_port_only_when_there_are_several(data: DataFolder) -> None:
    plan = lay_out(Wishes(gateways=2), data)
    shared = {p.name: p.env.get("SNATCH_REUSE_PORT") for p in plan.services}
    assert shared["gateway-1"] == shared["gateway-2"] == "true"
    assert shared["watch-1"] is None


def test_no_two_parts_have_the_same_port_but_those_that_share(data: DataFolder) -> None:
    plan = lay_out(Wishes(engines=2, rooms=2, bots=2, watches=2, gateways=2), data)
    taken = [port for p in [*plan.servers, *plan.services] for name, port in p.ports.items() if name != "public"]
    assert len(taken) == len(set(taken))


def test_every_gateway_knows_every_rooms_worker(data: DataFolder) -> None:
    plan = lay_out(Wishes(rooms=2), data)
    expected = ",".join(f"127.0.0.1:{p.ports['grpc']}" for p in plan.services if p.kind == "rooms")
    assert all(p.env["SNATCH_ROOMS_ADDR"] == expected for p in plan.services)


def test_servers_that_run_elsewhere_are_not_started(data: DataFolder) -> None:
    plan = lay_out(Wishes(nats_url="nats://127.0.0.1:1", redis_url="redis://127.0.0.1:2"), data)
    assert plan.servers == []
    assert all(p.env["NATS_URL"] == "nats://127.0.0.1:1" for p in plan.services)
    assert all(p.env["REDIS_URL"] == "redis://127.0.0.1:2" for p in plan.services)


def test_links_say_the_public_address_when_there_is_one(data: DataFolder) -> None:
    plan = lay_out(Wishes(public_url="https://cards.example"), data)
    gateway = plan.services[-1]
    assert gateway.env["SNATCH_PUBLIC_URL"] == "https://cards.example"
    assert plan.network_url == "https://cards.example"


def test_on_loopback_there_is_no_address_for_phones(data: DataFolder) -> None:
    plan = lay_out(Wishes(), data)
    assert plan.network_url is None
    assert plan.services[-1].env["SNATCH_HOST"] == "127.0.0.1"


def test_only_loopback_is_closed_to_the_network() -> None:
    assert [is_open(h) for h in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.168.1.2")] == [
        False,
        False,
        False,
        True,
        True,
    ]
    assert url("::", 8080) == "http://[::1]:8080"


def test_a_port_that_someone_listens_on_is_not_free() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        port = sock.getsockname()[1]
        assert not ports.is_free("127.0.0.1", port)
        assert not ports.is_free("0.0.0.0", port)
    assert ports.is_free("127.0.0.1", port)


def test_a_log_that_has_grown_is_cut_while_its_child_goes_on_writing(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "twin.log")
    with log.open() as out:
        out.write(b"x" * 90 + b"\nold\n")
        assert not log.rotate(limit=1000)
        assert log.rotate(limit=50)
        out.write(b"new\n")
    assert log.tail(5) == ["new"]
    assert (tmp_path / "twin.log.1").read_text().endswith("old\n")


def test_a_json_line_is_shown_as_people_read_it() -> None:
    line = '{"timestamp":"2026-01-02T03:04:05Z","level":"error","event":"no","room":"BCDFG","exception":"A\\nB: c"}'
    assert readable(line) == "03:04:05 error   no room=BCDFG | B: c"
    assert readable("plain {") == "plain {"
    assert readable("{broken") == "{broken"
