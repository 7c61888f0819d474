"""`all_words`: the words of every command that a shell completes: options, choices, and kinds of names."""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import Field, fields
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from robomarl.front.cli import COMMANDS, MODULES

KINDS = {
    "scenario": ("@scenario",),
    "bundle": ("@bundle",),
    "policy": ("@bundle",),
    "against": ("@bundle",),
    "init": ("@bundle",),
    "fleet": ("@fleet",),
    "vehicle": ("@vehicle",),
    "recipe": ("@recipe",),
    "mission": ("@mission",),
    "what": ("@bundle", "@scenario", "@fleet"),
}
"""Kinds of names by the option's name, or by a word of the positional argument's name in the help."""
FOLDERS = {
    "@scenario": "sim/scenarios/*.toml",
    "@bundle": "policies/*/bundle.json",
    "@fleet": "hardware_configs/fleets/*.yaml",
    "@vehicle": "hardware_configs/vehicles/*.yaml",
    "@recipe": "policies/recipes/*.toml",
    "@mission": "ros_nodes/missions/*.yaml",
}
"""Files below the share folder that the names of a kind come from; of a bundle the folder has the name."""
LONGEST = 80
"""Characters of an option's description."""


class OptionWords(NamedTuple):
    """One option of a command."""

    name: str
    """As one writes it, with its dashes."""
    text: str
    """Start of its description."""
    takes_value: bool
    values: tuple[str, ...] = ()
    """Choices, or kinds of names (`@scenario`)."""


class PlaceWords(NamedTuple):
    """One positional argument of a command."""

    name: str
    values: tuple[str, ...]
    repeated: bool
    """True if the argument takes all words that follow."""


class CommandWords(NamedTuple):
    """One command."""

    name: str
    text: str
    options: tuple[OptionWords, ...]
    places: tuple[PlaceWords, ...]


COMMON = (
    OptionWords("--json", "Write the figures to this file as JSON.", True),
    OptionWords("--help", "Show the help.", False),
)
"""Options that every command has."""


def all_words() -> list[CommandWords]:
    """Return the words of every command."""
    return [command_words(name, text) for name, text in COMMANDS.items()]


def command_words(name: str, text: str) -> CommandWords:
    """Return the words of one command.

    Args:
        name: name of the command.
        text: its description.
    """
    cls = importlib.import_module(f"robomarl.front.cli.{MODULES.get(name, name.replace('-', '_'))}").Args
    hints, texts = get_type_hints(cls, include_extras=True), field_texts(cls)
    options, places = [], []
    for field in fields(cls):
        hint = hints[field.name]
        if shown := positional_name(hint):
            places.append(PlaceWords(field.name, values_of(shown, hint), "..." in shown))
        else:
            options += options_of(field, hint, texts.get(field.name, ""))
    return CommandWords(name, text, (*options, *COMMON), tuple(places))


def options_of(field: "Field[Any]", hint: object, text: str) -> Iterator[OptionWords]:
    """Yield the option of a field; of a switch that is on by default, the one that turns it off."""
    word = field.name.replace("_", "-")
    if bool in (hint, *get_args(hint)):
        yield OptionWords(f"--no-{word}" if field.default is True else f"--{word}", text, False)
    else:
        yield OptionWords(f"--{word}", text, True, values_of(field.name, hint))


def positional_name(hint: object) -> str:
    """Return the name of a positional argument as the help has it; "" for an option."""
    import tyro

    marks = get_args(hint)[1:] if hasattr(hint, "__metadata__") else ()
    if tyro.conf.Positional not in get_args(hint) and not any("Positional" in repr(mark) for mark in marks):
        return ""
    return next((mark.metavar for mark in marks if getattr(mark, "metavar", None)), "choice")


def values_of(name: str, hint: object) -> tuple[str, ...]:
    """Return the choices of a hint, else the kinds of names that a name stands for."""
    if choices := tuple(dict.fromkeys(literals(hint))):
        return choices
    found = [KINDS.get(word, ()) for word in re.findall(r"[a-z]+", name.lower())]
    return tuple(dict.fromkeys(kind for kinds in found for kind in kinds))


def literals(hint: object) -> Iterator[str]:
    """Yield all texts that the hint's literals allow."""
    if get_origin(hint) is Literal:
        yield from (value for value in get_args(hint) if isinstance(value, str) and value)
    else:
        for part in get_args(hint):
            yield from literals(part)


def field_texts(cls: type) -> dict[str, str]:
    """Return the first sentence below each field of a class and of those that it extends, for a description."""
    texts: dict[str, str] = {}
    for base in [base for base in reversed(cls.__mro__) if base is not object]:
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        lines = body.body if isinstance(body, ast.ClassDef) else []
        for line, below in zip(lines, lines[1:], strict=False):
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and isinstance(below, ast.Expr):
                texts[line.target.id] = first_sentence(str(ast.literal_eval(below.value)))
    return texts


def first_sentence(text: str) -> str:
    """Return the text up to its first full stop, in one line."""
    return textwrap.shorten(re.split(r"[.;:](?:\s|$)", " ".join(text.split()))[0], LONGEST, placeholder=" ...")
