"""Which parts run, with which settings."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from stack import layout, ports, servers
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


def test_public_ports_can_be_shared_also_by_one_so_that_a_second_can_join_it(data: DataFolder) -> None:
    plan = lay_out(Wishes(gateways=2), data)
    shared = {p.name for p in plan.services if p.env.get("SNATCH_REUSE_PORT") == "true"}
    assert shared == {"gateway-1", "gateway-2", "watch-1"}


def test_a_layout_that_grows_keeps_every_port_and_changes_only_who_must_know_of_the_new_ones(data: DataFolder) -> None:
    before = lay_out(Wishes(), data)
    parts = {p.name: p for p in (*before.servers, *before.services)}
    after = lay_out(
        before.wishes.with_counts({"engine": 2, "rooms": 2, "gateway": 2}),
        data,
        kept={name: part.ports for name, part in parts.items()},
    )
    grown = {p.name: p for p in (*after.servers, *after.services)}
    assert set(grown) - set(parts) == {"engine-2", "rooms-2", "gateway-2"}
    assert all(grown[name].ports == part.ports for name, part in parts.items())
    assert {name for name, part in parts.items() if grown[name].env != part.env} == {"gateway-1", "watch-1"}
    own = [port for p in grown.values() for use, port in p.ports.items() if use != "public"]
    assert len(own) == len(set(own))


def test_a_port_that_is_taken_by_the_public_is_given_to_nobody_else(data: DataFolder) -> None:
    plan = lay_out(
        Wishes(port=20_001, watch_port=20_002), data, ports=lambda count: list(range(20_000, 20_000 + count))
    )
    own = [port for p in (*plan.servers, *plan.services) for use, port in p.ports.items() if use != "public"]
    assert not {20_001, 20_002} & set(own)


def test_three_nats_servers_know_each_other_and_everybody_knows_all_three(data: DataFolder) -> None:
    plan = lay_out(Wishes(nats=3, nats_sync="always"), data)
    nats = [p for p in plan.servers if p.kind == "nats"]
    assert [p.name for p in nats] == ["nats-1", "nats-2", "nats-3"]
    urls = plan.nats_url.split(",")
    assert urls == [f"nats://127.0.0.1:{p.ports['nats']}" for p in nats]
    assert all(p.env["NATS_URL"] == plan.nats_url for p in plan.services)
    assert plan.setup_env["SNATCH_LOG_REPLICAS"] == "3"
    for part in nats:
        config = (data.path / f"{part.name}.conf").read_text()
        assert all(f"127.0.0.1:{other.ports['route']}" in config for other in nats)
        assert f'"{data.path / part.name}"' in config
        assert 'sync_interval: "always"' in config


def test_as_many_nats_servers_are_started_as_wrote_what_lies_there(tmp_path: Path) -> None:
    assert servers.nats_count(tmp_path, None) == 1
    assert servers.nats_count(tmp_path, 3) == 3
    (tmp_path / "nats-2" / "jetstream").mkdir(parents=True)
    assert servers.nats_count(tmp_path, None) == 3
    with pytest.raises(servers.OtherStore) as error:
        servers.nats_count(tmp_path, 1)
    assert error.value.there == 3


def test_no_two_parts_have_the_same_port_but_those_that_share(data: DataFolder) -> None:
    plan = lay_out(Wishes(engines=2, rooms=2, bots=2, watches=2, gateways=2), data)
    taken = [port for p in [*plan.servers, *plan.services] for name, port in p.ports.items() if name != "public"]
    assert len(taken) == len(set(taken))


def test_every_gateway_knows_every_rooms_worker(data: DataFolder) -> None:
    plan = lay_out(Wishes(rooms=2), data)
    expected = ",".join(f"127.0.0.1:{p.ports['grpc']}" for p in plan.services if p.kind == "rooms")
    told = {p.kind: p.env["SNATCH_ROOMS_ADDR"] for p in plan.services if "SNATCH_ROOMS_ADDR" in p.env}
    assert told == {"gateway": expected, "watch": expected}


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
