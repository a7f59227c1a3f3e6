"""Write the JSON Schemas of all messages: `python -m stack.schemas OUTDIR`.

Wire's own (client_in, client_out) and one of each game.  The browser client's types
are generated from them, and the gateway serves them as files.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from games.contract import GameSpec
from games.registry import GAMES
from wire import schema


def all_schemas() -> dict[str, dict[str, Any]]:
    """File name without `.json` → document."""
    return schema.schemas() | {id: _of_game(game.spec) for id, game in GAMES.items()}


def _of_game(spec: GameSpec) -> dict[str, Any]:
    return schema.document(
        spec.id,
        ["Move", "Event", "View", "Options"],
        {
            "Move": spec.move_type,
            "Event": spec.public_event_type,
            "View": spec.view_type,
            "Options": spec.options_type,
        },
        f"{spec.title}: `Move` goes in a move message's `m`, `Event` comes in a step's `ev`,"
        " `View` is a snapshot's `view`, `Options` are a table's `options`.",
    )


def write(out: Path) -> list[Path]:
    """Write every schema into `out`, made if need be.  Unchanged files are left alone (watchers stay quiet)."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name, document in all_schemas().items():
        path = out / f"{name}.json"
        text = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
        if not path.exists() or path.read_bytes() != text:
            path.write_bytes(text)
        written.append(path)
    return written


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python -m stack.schemas OUTDIR")
    for path in write(Path(sys.argv[1])):
        print(path)


if __name__ == "__main__":
    main()
