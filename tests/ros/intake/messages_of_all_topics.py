"""Every topic of the code, a message of it in which all is right, and where its numbers are."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import robomarl
from robomarl.ros.io.node_base import message_class
from robomarl.ros.topics import FRAME, Topic

ONE = 1.0
"""What every number is but those of rotations: as denormals and zeros, one that is sound."""


def all_topics() -> dict[str, Topic]:
    """Every `Topic` that a module of ours defines, by module and name."""
    root = Path(robomarl.__file__).parent
    found: dict[str, Topic] = {}
    seen: set[int] = set()
    for path in sorted(root.rglob("*.py")):
        if "Topic(" not in path.read_text() and "replace(topics." not in path.read_text():
            continue
        module = importlib.import_module("robomarl." + ".".join(path.relative_to(root).with_suffix("").parts))
        for name, value in vars(module).items():
            if isinstance(value, Topic) and id(value) not in seen:
                seen.add(id(value))
                found[f"{module.__name__.removeprefix('robomarl.')}.{name}"] = value
    return found


def good(topic: Topic) -> Any:
    """A message with one of everything that it may have many of."""
    message = message_class(topic.type)()
    _fill(message)
    if hasattr(message, "header"):
        message.header.frame_id = FRAME
    return message


def _fill(part: Any) -> None:
    for name, kind in part.get_fields_and_field_types().items():
        inner, value = kind.partition("<")[2].rstrip(">").partition(",")[0], getattr(part, name)
        if kind.startswith("sequence"):
            setattr(part, name, [_one(inner)])
        elif kind in ("double", "float"):
            setattr(part, name, ONE)
        elif kind.startswith(("double[", "float[")):
            value[:] = ONE
        elif "/" in kind and "[" not in kind:
            _fill(value)
    if type(part).__name__ == "Quaternion":
        part.x, part.y, part.z, part.w = 0.5, -0.5, 0.5, 0.5


def _one(kind: str) -> Any:
    if "/" not in kind:
        return {"double": ONE, "float": ONE, "string": "a", "boolean": False}.get(kind, 0)
    package, _, name = kind.partition("/")
    made = message_class(f"{package}/msg/{name}")()
    _fill(made)
    return made


def numbers(part: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """(where, double or float) of every number that need not be whole; of an array the first and the last."""
    for name, kind in part.get_fields_and_field_types().items():
        where, value = (*path, name), getattr(part, name)
        base = kind.partition("<")[2].rstrip(">").partition(",")[0] or kind.partition("[")[0]
        if base in ("double", "float"):
            places = sorted({0, len(value) - 1}) if base != kind else ()
            yield from (((*where, at), base) for at in places) if base != kind else ((where, base),)
        elif "/" in base:
            items = enumerate(value) if base != kind else ((None, value),)
            for at, item in items:
                yield from numbers(item, where if at is None else (*where, at))


def put(message: Any, where: tuple[str | int, ...], number: float) -> None:
    """Write a number there."""
    for step in where[:-1]:
        message = message[step] if isinstance(step, int) else getattr(message, step)
    if isinstance(where[-1], int):
        message[where[-1]] = number
    else:
        setattr(message, where[-1], number)


def is_judged(topic: Topic, where: tuple[str | int, ...]) -> bool:
    """Whether the table says that this number makes the message one."""
    if topic.judged is None:
        return True
    names = [step for step in where if isinstance(step, str)]
    return any(names[: len(part)] == part for part in (text.split(".") for text in topic.judged))
