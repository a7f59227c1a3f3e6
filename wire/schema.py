"""JSON Schemas of what browsers send and get, made from the structs that decode them.

Each document names its entry in `anyOf` and everything else in `$defs`; the unions
that have no message of their own (`TableMove`, `TableEvent`) are `$defs` too, so that
a client's types can be generated from one file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from wire import client_in, client_out

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def document(name: str, entries: Sequence[str], unions: Mapping[str, Any], about: str) -> dict[str, Any]:
    """One schema document.  `unions` are the named types in it; a message is one of `entries`."""
    shapes, defs = msgspec.json.schema_components(list(unions.values()), ref_template="#/$defs/{name}")
    for title, shape in zip(unions, shapes, strict=True):
        if title not in defs:
            defs[title] = {"title": title, **shape}
    return {
        "$schema": DIALECT,
        "$id": f"{name}.json",
        "title": name,
        "description": about,
        "anyOf": [{"$ref": f"#/$defs/{entry}"} for entry in entries],
        "$defs": dict(sorted(defs.items())),
    }


def client_in_schema() -> dict[str, Any]:
    schema = document(
        "client_in",
        ["ClientMessage", "TvMessage"],
        {
            "ClientMessage": client_in.ClientMessage,
            "TvMessage": client_in.TvMessage,
            "LobbyAct": client_in.LobbyAct,
            "TableMove": client_in.TableMove,
        },
        f"What a browser sends, version {client_in.VERSION}: one JSON object a text frame,"
        f" at most {client_in.MAX_BYTES} bytes.",
    )
    move = schema["$defs"]["MoveMessage"]["properties"]["m"]
    move["description"] = "A TableMove of this file, or a Move of the game's own file."
    move["type"] = "object"
    return schema


def client_out_schema() -> dict[str, Any]:
    schema = document(
        "client_out",
        ["ServerMessage"],
        {
            "ServerMessage": client_out.ServerMessage,
            "TableEvent": client_out.TableEvent,
            "TableView": client_out.TableView,
        },
        f"What a browser is sent, version {client_out.VERSION}: one JSON object a text frame.",
    )
    events = schema["$defs"]["Step"]["properties"]["ev"]
    events["description"] = "Each is a TableEvent of this file, or an Event of the game's own file."
    schema["$defs"]["Snapshot"]["properties"]["view"]["description"] = "A View of the game's own file, or null."
    return schema


def schemas() -> dict[str, dict[str, Any]]:
    """File name without `.json` → document."""
    return {"client_in": client_in_schema(), "client_out": client_out_schema()}
