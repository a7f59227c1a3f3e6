"""The schemas that clients are made from: written whole, and no two things in one list share a tag."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from games.registry import GAMES
from stack.schemas import all_schemas, write
from wire import client_in, client_out


def tags(union: Any) -> set[str]:
    return {str(struct.__struct_config__.tag) for struct in get_args(union)}


every_game = pytest.mark.parametrize("game_id", sorted(GAMES))


@every_game
def test_a_game_s_events_and_moves_are_told_from_the_table_s(game_id: str) -> None:
    spec = GAMES[game_id].spec
    assert not tags(spec.public_event_type) & tags(client_out.TableEvent)
    assert not tags(spec.move_type) & tags(client_in.TableMove)


def test_every_schema_is_written_once_and_left_alone_when_unchanged(tmp_path: Path) -> None:
    paths = write(tmp_path / "new")
    assert {p.stem for p in paths} == set(all_schemas()) == {"client_in", "client_out", *GAMES}
    before = {p: p.stat().st_mtime_ns for p in paths}
    paths[0].write_text("something else")
    write(tmp_path / "new")
    assert json.loads(paths[0].read_text())["$id"] == paths[0].name
    assert {p: p.stat().st_mtime_ns for p in paths[1:]} == {p: before[p] for p in paths[1:]}


@every_game
def test_a_game_s_file_names_its_move_event_view_and_options(game_id: str) -> None:
    document = all_schemas()[game_id]
    assert {"Move", "Event", "View", "Options"} <= set(document["$defs"])
    assert document["$defs"]["View"]["additionalProperties"] is False
