"""docs/protocol.md is true: its examples are what the server's own types read and write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from games.snatch_solitaire import messages as game
from games.snatch_solitaire.game import GAME
from servicekit import seat, sockets
from services.gateway import felt, place, player
from services.gateway.settings import GatewaySettings
from services.rooms import room
from services.watch import tv
from wire import client_in, client_out, codes

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")

KINDS: dict[str, Any] = {
    "client": client_in.ClientMessage,
    "tv": client_in.TvMessage,
    "server": client_out.ServerMessage,
    "table-event": client_out.TableEvent,
    "move": game.Move,
    "event": game.PublicEvent,
    "view": game.View,
    "options": game.Options,
}

EXAMPLES = [(kind, body) for kind, body in re.findall(r"^```json (\S+)\n(.*?)^```$", TEXT, re.M | re.S)]


def inner(kind: str, message: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """What a message of one side carries of another's: (type, value)."""
    if kind == "client" and message["t"] == "move":
        moves = client_in.TableMove if message["m"]["t"] in tags(client_in.TableMove) else game.Move
        yield moves, message["m"]
    if kind == "server":
        for step in message.get("steps", ()):
            for event in step.get("ev", ()):
                yield client_out.TableEvent if event["t"] in tags(client_out.TableEvent) else game.PublicEvent, event
        if message["t"] == "snapshot":
            yield game.View, message["view"]
            yield game.Options, message["table"]["options"]


def tags(union: Any) -> set[str]:
    return {str(member.__struct_config__.tag) for member in get_args(union)}


def codes_under(heading: str) -> set[str]:
    """First column of the table below a heading."""
    section = TEXT.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return {code for row in re.findall(r"^\| (`[^|]*) \|", section, re.M) for code in re.findall(r"`(\w+)`", row)}


@pytest.mark.parametrize(("kind", "body"), EXAMPLES, ids=[f"{k}-{i}" for i, (k, _) in enumerate(EXAMPLES)])
def test_an_example_is_read_and_written_by_the_servers_own_types(kind: str, body: str) -> None:
    shown = msgspec.json.decode(body)
    read = msgspec.json.decode(body, type=KINDS[kind])
    assert msgspec.json.decode(msgspec.json.encode(read)) == shown
    for type_, value in inner(kind, shown):
        assert msgspec.to_builtins(msgspec.convert(value, type_)) == value


@pytest.mark.parametrize("kind", ["client", "tv", "server", "table-event", "move", "event"])
def test_every_message_has_an_example(kind: str) -> None:
    shown = {msgspec.json.decode(body)["t"] for k, body in EXAMPLES if k == kind or (kind == "tv" and k == "client")}
    assert shown >= tags(KINDS[kind])


def test_every_table_move_and_lobby_act_has_an_example() -> None:
    sent = [msgspec.json.decode(body) for kind, body in EXAMPLES if kind == "client"]
    assert {m["m"]["t"] for m in sent if m["t"] == "move"} >= tags(client_in.TableMove)
    assert {m["do"]["t"] for m in sent if m["t"] == "lobby"} == tags(client_in.LobbyAct)


def test_every_table_event_stands_in_its_table() -> None:
    section = TEXT.split("\n### Events of the table\n", 1)[1].split("\n## ", 1)[0]
    rows = " ".join(re.findall(r"^\| (.*)$", section, re.M))
    assert tags(client_out.TableEvent) <= set(re.findall(r"`(\w+)`", rows))


def test_every_refusal_that_the_rules_and_the_table_can_give_is_explained() -> None:
    sources = [f for part in ("games", "services/engine") for f in (ROOT / part).rglob("*.py")]
    given = {
        code
        for f in sources
        if not f.name.startswith("test_")
        for code in re.findall(r"\bRefus(?:al|ed)\(\s*\"(\w+)\"", f.read_text(encoding="utf-8"))
    }
    assert codes_under("Refusals") == given


def test_every_error_code_is_explained() -> None:
    named = set(re.findall(r"`(\w+)`", (client_out.Error.__doc__ or "").split("Codes:", 1)[1]))
    assert codes_under("Errors") == named


def test_the_codes_that_are_counted_are_those_that_are_explained() -> None:
    """Else metrics would have them as `other`."""
    assert set(codes.REFUSALS) == codes_under("Refusals")
    assert set(codes.ERRORS) == codes_under("Errors")
    section = TEXT.split("\n## Close codes\n", 1)[1].split("\n## ", 1)[0]
    closes = {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", section, re.M) for code in row.split(",")}
    assert closes <= set(codes.CLOSES)
    section = TEXT.split("\n## Upgrades\n", 1)[1].split("\n## ", 1)[0]
    assert {int(status) for status in re.findall(r"^\| (\d+) \|", section, re.M)} == set(codes.UPGRADES)


def test_pages_and_gateways_count_what_was_felt_by_the_same_bounds() -> None:
    page = (ROOT / "web" / "src" / "lib" / "felt.ts").read_text(encoding="utf-8")
    shown = re.search(r"FELT_MS = \[([\d, _]+)\]", page)
    assert shown is not None
    assert tuple(int(n) for n in shown[1].split(",")) == client_in.FELT_MS
    assert (
        f"(up to {', '.join(map(str, client_in.FELT_MS))} ms, and longer: {len(client_in.FELT_MS) + 1} counts)" in TEXT
    )
    told = dict(re.findall(r"const (MOST_MOVES|MOST_EVENTS|LONGEST_MS) = ([\d_]+)", page))
    ours = {"MOST_MOVES": felt.MOST_MOVES, "MOST_EVENTS": felt.MOST_EVENTS, "LONGEST_MS": felt.LONGEST_MS}
    assert {name: int(value) for name, value in told.items()} == ours


def test_the_limits_and_the_version_are_the_servers_own() -> None:
    defaults = {name: field.default for name, field in GatewaySettings.model_fields.items()}
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|", TEXT.split("\n## Limits\n", 1)[1], re.M))
    moves = defaults["moves_per_second"]
    assert rows["a message, an HTTP body"] == f"{client_in.MAX_BYTES} bytes"
    assert rows["time until `hello` or `watch`"] == f"{defaults['hello_timeout']:.0f} s"
    assert rows["moves of a socket"] == f"{moves} a second, {2 * moves} in a burst"
    assert rows["lobby requests and pings"] == (
        f"{player.ACTS_PER_SECOND:.0f} a second, {player.ACTS_BURST:.0f} in a burst;"
        f" a TV's pings {tv.PINGS_PER_SECOND:.0f} a second"
    )
    assert felt.EARLY == 1 / 2
    assert rows["reports of what was felt"] == (
        f"one in half the seconds that `welcome` says; {felt.MOST_MOVES} moves, {felt.MOST_EVENTS} of all else in one"
    )
    assert rows["moves without an answer"] == f"{seat.MAX_UNANSWERED}; {place.MAX_EARLY} before the first snapshot"
    assert rows["messages that can't be read"] == f"{player.MAX_BAD} a socket, a TV's {tv.MAX_BAD}"
    assert rows["what waits to be sent to a socket"] == (
        f"{sockets.MAX_QUEUED} messages or {sockets.MAX_QUEUED_BYTES // 1024} KB"
    )
    assert rows["people in a room"] == f"{room.MAX_PEOPLE}, of them {room.MAX_BOTS} bots; {GAME.spec.max_seats} play"
    assert rows["rooms hosted from one address"] == (
        f"{defaults['create_per_minute']} a minute; joins and looks {defaults['join_per_minute']}"
    )
    assert f"at most {client_in.MAX_BYTES} bytes" in TEXT
    assert client_in.VERSION == client_out.VERSION == 1
    assert "Version 1." in TEXT


def test_every_close_code_is_explained() -> None:
    used = {
        sockets.TOO_BIG,
        sockets.SLOW,
        sockets.TAKEN_OVER,
        sockets.NO_ROOM,
        sockets.REMOVED,
        sockets.BAD_HELLO,
        sockets.POLICY,
    }
    section = TEXT.split("\n## Close codes\n", 1)[1].split("\n## ", 1)[0]
    assert used <= {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", section, re.M) for code in row.split(",")}
