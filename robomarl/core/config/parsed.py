"""Types of the results of a TOML, YAML or JSON parser, before `build` has checked them."""

from collections.abc import Mapping, Sequence
from typing import TypeGuard

JsonObject = Mapping[str, object]
"""A table of a file. Keys are text; of those that YAML allows besides, `build` refuses all."""


def is_table(value: object) -> TypeGuard[dict[str, object]]:
    """True for a table of keys."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """True for a list; tuples, which `to_dict` has not been through yet, count as lists."""
    return isinstance(value, (list, tuple))


def table_in(table: JsonObject, key: str) -> dict[str, object]:
    """The table under a key; raises `KeyError` if it is missing, `TypeError` if it is something else."""
    found = table[key]
    if not is_table(found):
        raise TypeError(f"{key} is no table of keys")
    return found


def number(value: object, key: str) -> float:
    """The value of a key, whole numbers as whole ones; raises `TypeError` if it is no number."""
    if not isinstance(value, (int, float)):
        raise TypeError(f"{key} is no number")
    return value


def number_in(table: JsonObject, *keys: str) -> float:
    """The number under a key, or under keys of tables in tables. Raises as `table_in` and `number`."""
    *outer, key = keys
    for name in outer:
        table = table_in(table, name)
    return float(number(table[key], key))
