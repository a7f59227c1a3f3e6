"""Reading what a process of a later release tells: fields that aren't known here are passed over.

The structs that browsers get forbid unknown fields, so that tests notice what the schemas
don't say.  Services of two releases run side by side for a while, and read one another's
messages by this.  An unknown tag is no field: who meets one can't know what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

T = TypeVar("T")


def decoder(type: type[T]) -> Callable[[bytes], T]:
    """Decodes JSON.  Raises msgspec.DecodeError for what is wrong even without its unknown fields."""
    strict = msgspec.json.Decoder(type)
    shape = inspect.type_info(type)

    def decode(data: bytes) -> T:
        try:
            return strict.decode(data)
        except msgspec.ValidationError:
            return msgspec.convert(_known(msgspec.json.decode(data), shape), type, str_keys=True)

    return decode


def _known(found: Any, shape: inspect.Type) -> Any:
    """What was found, without the fields that its type doesn't have."""
    match shape:
        case inspect.UnionType():
            return _known(found, _arm(found, shape))
        case inspect.StructType() if isinstance(found, dict):
            fields = {f.encode_name: f.type for f in shape.fields}
            kept = {name: _known(value, fields[name]) for name, value in found.items() if name in fields}
            if shape.tag_field is not None and shape.tag_field in found:
                kept[shape.tag_field] = found[shape.tag_field]
            return kept
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item) if isinstance(found, list):
            return [_known(value, item) for value in found]
        case inspect.DictType(value_type=value_type) if isinstance(found, dict):
            return {key: _known(value, value_type) for key, value in found.items()}
        case _:
            return found


def _arm(found: Any, shape: inspect.UnionType) -> inspect.Type:
    """The struct of the union that a message is meant for: by its tag, else the only one."""
    structs = [arm for arm in shape.types if isinstance(arm, inspect.StructType)]
    if isinstance(found, dict):
        for arm in structs:
            if len(structs) == 1 or (arm.tag_field is not None and found.get(arm.tag_field) == arm.tag):
                return arm
    if isinstance(found, list):
        return next(
            (a for a in shape.types if isinstance(a, inspect.ListType | inspect.VarTupleType)), inspect.AnyType()
        )
    return inspect.AnyType()
