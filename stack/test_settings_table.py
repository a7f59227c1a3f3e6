"""docs/settings.md says what the services read."""

from __future__ import annotations

from stack.data import ROOT
from stack.settings_table import markdown, rows


def test_the_table_in_the_docs_is_what_the_services_read() -> None:
    written = (ROOT / "docs" / "settings.md").read_text()
    assert written == markdown(), "write it anew: make settings"


def test_each_setting_is_listed_once_and_says_what_it_is() -> None:
    table = list(rows())
    names = [name for name, *_ in table]
    assert len(names) == len(set(names))
    assert all(what.strip() for *_, what in table)
    assert {"NATS_URL", "REDIS_URL", "SNATCH_SECRET", "SNATCH_PORT", "SNATCH_WATCH_PORT"} <= set(names)


def test_a_secret_is_required_of_those_who_read_it_alone() -> None:
    readers, default = next((who, value) for name, who, value, _ in rows() if name == "SNATCH_SECRET")
    assert set(readers.split(", ")) == {"rooms", "gateway"}
    assert default == "**required**"
