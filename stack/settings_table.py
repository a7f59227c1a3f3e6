"""docs/settings.md: every setting of every service, read off the settings themselves."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from servicekit.settings import Settings
from stack.data import ROOT
from stack.layout import KINDS

HEAD = """\
# Settings

Every setting is a variable of the environment, checked at the start of the service that reads it.
This table is written by `make settings`.

| variable | read by | default | what it is |
| --- | --- | --- | --- |
"""

STACK = [
    ("SNATCH_DATA", "snatch play", "`.snatch`", "Where a stack on one machine keeps its data."),
    (
        "SNATCH_NATS_SYNC",
        "snatch play, compose",
        "`2m`; compose: `always`",
        "How often NATS syncs its files to disk; `always`: before it acknowledges.",
    ),
    ("SNATCH_CHROMIUM", "make test", "found", "The Chromium for the browser tests."),
]


def settings_of(kind: str) -> list[type[Settings]]:
    """The settings classes of a service: its own, and those of its tools."""
    module = importlib.import_module(f"services.{kind}.settings")
    classes = (c for _, c in inspect.getmembers(module, inspect.isclass))
    return [c for c in classes if issubclass(c, Settings) and c.__module__ == module.__name__]


def variable(name: str, field: FieldInfo, prefix: str) -> str:
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return str(alias.choices[0])
    return alias.upper() if isinstance(alias, str) else f"{prefix}{name}".upper()


def default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return "made up"
    if field.is_required():
        return "**required**"
    value: Any = field.default
    if value == "":
        return "–"
    if isinstance(value, Path) and value.is_relative_to(ROOT):
        value = value.relative_to(ROOT)
    return f"`{value}`"


def kind_of_value(field: FieldInfo) -> str:
    if get_origin(field.annotation) is Literal:
        return " One of " + ", ".join(f"`{v}`" for v in get_args(field.annotation)) + "."
    return ""


def rows() -> Iterator[tuple[str, str, str, str]]:
    """Variable, readers, default, what it is: sorted, each variable once."""
    found: dict[str, dict[str, list[str]]] = {}
    defaults: dict[str, str] = {}
    every = [(kind, c) for kind in KINDS for c in settings_of(kind)]
    for kind, settings in every:
        prefix = str(settings.model_config.get("env_prefix", ""))
        reader = "set-up" if settings.__name__.startswith("Setup") else kind
        for name, field in settings.model_fields.items():
            key = variable(name, field, prefix)
            defaults[key] = default(field)
            what = (field.description or "") + kind_of_value(field)
            found.setdefault(key, {}).setdefault(what, []).append(reader)
    for key, words in sorted(found.items()):
        who = [reader for readers in words.values() for reader in readers]
        names = "all" if set(KINDS) <= set(who) else ", ".join(who)
        yield key, names, defaults[key], " · ".join(words)
    yield from STACK


def markdown() -> str:
    lines = [f"| `{a}` | {b} | {c} | {d.replace('|', chr(92) + '|')} |" for a, b, c, d in rows()]
    return HEAD + "\n".join(lines) + "\n"
