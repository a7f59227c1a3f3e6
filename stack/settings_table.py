"""docs/settings.md: every setting of every service, read off the settings themselves."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from servicekit.settings import Settings
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
    ("SNATCH_CHROMIUM", "make test", "found", "The Chromium for the browser tests."),
]


def settings_of(kind: str) -> type[Settings]:
    """The settings class of a service."""
    module = importlib.import_module(f"services.{kind}.settings")
    found = [
        c
        for _, c in inspect.getmembers(module, inspect.isclass)
        if issubclass(c, Settings) and c.__module__ == module.__name__
    ]
    (only,) = found
    return only


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
    return f"`{value}`"


def kind_of_value(field: FieldInfo) -> str:
    if get_origin(field.annotation) is Literal:
        return " One of " + ", ".join(f"`{v}`" for v in get_args(field.annotation)) + "."
    return ""


def rows() -> Iterator[tuple[str, str, str, str]]:
    seen: dict[str, tuple[list[str], str, str]] = {}
    for kind in KINDS:
        settings = settings_of(kind)
        prefix = str(settings.model_config.get("env_prefix", ""))
        for name, field in settings.model_fields.items():
            key = variable(name, field, prefix)
            readers, _, _ = seen.setdefault(key, ([], default(field), (field.description or "") + kind_of_value(field)))
            readers.append(kind)
    for key, (readers, value, what) in sorted(seen.items()):
        yield key, "all" if len(readers) == len(KINDS) else ", ".join(readers), value, what
    yield from STACK


def markdown() -> str:
    lines = [f"| `{a}` | {b} | {c} | {d.replace('|', chr(92) + '|')} |" for a, b, c, d in rows()]
    return HEAD + "\n".join(lines) + "\n"
