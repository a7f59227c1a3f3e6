"""A twin of the next release's engine, whose log says more than this one's: a process of its own.

    python -m tests.services.next_release       settings as for services.engine

Its records have another version, another event, and a field more in a step.  A pause is
followed by the event, once every engine reads that.
"""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec, module_from_spec, spec_from_loader
from types import ModuleType
from typing import Any

NAME = "services.engine.records"
NUDGED = '''class Nudged(_Event, tag="nudge"):
    """What this release can't know of."""

    seat: int


class Played('''


def records(name: str) -> ModuleType:
    """The records of the next release, as a module of this name."""
    spec = find_spec(NAME)
    assert spec is not None
    assert spec.loader is not None
    source: str = spec.loader.get_source(NAME)  # type: ignore[attr-defined]
    changes = [
        (r"^VERSION = (\d+)$", lambda found: f"VERSION = {int(found[1]) + 1}"),
        (r"^BEFORE = \d+$", lambda found: "BEFORE = VERSION - 1"),
        (r"^class Played\(", lambda found: NUDGED),
        (r"^Event = \(\n", lambda found: found[0] + "    Nudged |\n"),
        (r"^    no: Refused \| None = None\n", lambda found: found[0] + '    mood: str = "fine"\n'),
    ]
    for pattern, change in changes:
        source, count = re.subn(pattern, change, source, flags=re.MULTILINE)
        assert count == 1, pattern
    module = module_from_spec(spec_from_loader(name, None))  # type: ignore[arg-type]
    sys.modules[name] = module  # where its structs look their types up
    exec(compile(source, f"<next {NAME}>", "exec"), module.__dict__)
    return module


def change_the_engine(r: Any) -> None:
    """What the next release does with it; and less patience than it would have."""
    from services.engine import hall, table, table_clock, versions
    from services.engine.batch import Batch
    from services.engine.sitting import Sitting

    emit, sitting = Sitting.emit, Batch._sitting

    def emit_more(self: Any, event: Any) -> None:
        emit(self, event)
        if isinstance(event, r.PausedBy) and self.writes >= r.VERSION:
            emit(self, r.Nudged(event.seat))

    def sitting_that_knows(self: Any, name: str, table: Any) -> Sitting:
        found = sitting(self, name, table)
        found.writes = self.writes  # type: ignore[attr-defined]
        return found

    def nudged(self: table.Table, event: Any, now: int) -> None:
        self.state.notice = "nudged"

    table._EVOLVE[r.Nudged] = nudged
    for what, name, value in [
        (Sitting, "emit", emit_more),
        (Batch, "_sitting", sitting_that_knows),
        (versions, "RAISE_AFTER", 0.5),
        (hall, "STABLE", 0.5),
        (table_clock, "COUNTDOWN_MS", 200),
    ]:
        setattr(what, name, value)


if __name__ == "__main__":
    change_the_engine(records(NAME))
    from servicekit.run import run
    from services.engine.app import Engine
    from services.engine.settings import EngineSettings

    run("engine", EngineSettings, Engine)
