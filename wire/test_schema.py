"""The schemas say what the structs do: every message, every field, nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest

from wire import client_in, client_out, subjects
from wire.schema import schemas

UNIONS = [
    ("client_in", client_in.ClientMessage),
    ("client_in", client_in.TvMessage),
    ("client_in", client_in.LobbyAct),
    ("client_in", client_in.TableMove),
    ("client_out", client_out.ServerMessage),
    ("client_out", client_out.TableEvent),
]
STRUCTS = [(file, struct) for file, union in UNIONS for struct in get_args(union)]


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


@pytest.mark.parametrize("name", ["client_in", "client_out"])
def test_every_reference_leads_somewhere(name: str) -> None:
    document = schemas()[name]
    for reference in references(document):
        assert reference.removeprefix("#/$defs/") in document["$defs"]


@pytest.mark.parametrize(("file", "struct"), STRUCTS, ids=[f"{f}-{s.__name__}" for f, s in STRUCTS])
def test_a_message_has_its_tag_and_exactly_its_fields(file: str, struct: Any) -> None:
    shape = schemas()[file]["$defs"][struct.__name__]
    fields = {f.encode_name: f for f in msgspec.structs.fields(struct)}
    assert set(shape["properties"]) == {"t", *fields}
    assert shape["properties"]["t"]["enum"] == [struct.__struct_config__.tag]
    assert set(shape["required"]) == {"t", *(n for n, f in fields.items() if f.required)}
    assert shape["additionalProperties"] is False


def test_tags_are_told_apart_within_each_union() -> None:
    for _, union in UNIONS:
        tags = [struct.__struct_config__.tag for struct in get_args(union)]
        assert len(set(tags)) == len(tags)


def test_subjects_of_a_room_are_heard_by_its_one_subscription_and_a_tv_hears_no_seat() -> None:
    def heard(pattern: str, subject: str) -> bool:
        wanted, got = pattern.split("."), subject.split(".")
        if wanted[-1] == ">":
            return len(got) >= len(wanted) and got[: len(wanted) - 1] == wanted[:-1]
        return len(wanted) == len(got) and all(w in ("*", g) for w, g in zip(wanted, got, strict=True))

    public = [subjects.table("BCDFG"), subjects.beacon("BCDFG")]
    for subject in [*public, subjects.seat("BCDFG", 3)]:
        assert heard(subjects.room_frames("BCDFG"), subject)
        assert heard(subjects.open_frames("BCDFG"), subject) == (subject in public)
    assert not heard(subjects.room_frames("BCDFG"), subjects.table("BCDFH"))
