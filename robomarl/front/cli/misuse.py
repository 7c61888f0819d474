"""Options that can't be parsed: tyro's box of several lines becomes one sentence here."""

import contextlib
import io
import re
from collections import Counter
from dataclasses import fields, make_dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

from robomarl.core.config import UsageError, suggest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false"}


def parse(module: ModuleType, name: str, words: list[str]) -> "DataclassInstance":
    """The command's `Args` from the words of the command line.

    Raises:
        UsageError: an option is not known, is there twice, lacks its value, or has one that is none.
        SystemExit: help was asked for, and was printed.
    """
    import tyro

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            shown = _with_json(module.Args) if {"-h", "--help"} & {*words} else module.Args
            args = tyro.cli(shown, prog=f"robomarl {name}", description=module.__doc__, args=words)
    except SystemExit as stop:
        if not stop.code:
            raise
        told = _sentence(said.getvalue(), module.Args)
        raise UsageError(f"{told}{' See' if told.endswith('?') else '; see'}: robomarl {name} --help") from None
    _check_twice(args, words)
    return args


def _with_json(args: type) -> type:
    """Return the options of a command with `--json`, which `take_json` reads before them, for the help alone."""
    import tyro

    told = "Write the figures of the command to this file, as JSON. Every command has this option."
    hint = Annotated[Path | None, tyro.conf.arg(metavar="FILE", help=told)]
    return make_dataclass(args.__name__, [("json", hint, None)], bases=(args,), frozen=True)


def options_of(args: type) -> list[str]:
    """The options of a command, as one writes them."""
    return [f"--{field.name.replace('_', '-')}" for field in fields(args)]


def _sentence(box: str, args: type) -> str:
    """Return the first part of tyro's output, in one line.

    Rules separate the parts. A terminal with UTF-8 gets a box, with the title in its upper edge.
    """
    first, *rest = [line.strip("│╭╮╰╯").rstrip() for line in box.strip().splitlines()] or [""]
    title = first.strip(" ─-")
    parts = re.split(r"^ *[-─]{8,}$", "\n".join(rest), flags=re.MULTILINE)
    body = next((part for part in parts if part.strip()), "").splitlines()
    body = [line for line in body if line.strip()]
    text = " ".join(" ".join(body).split()).rstrip(". ")
    if "Unrecognized" in title:
        return _unknown(text.partition(":")[2].strip(), args)
    if "Required" in title:
        return f"missing: {', '.join(_needed(body[1:]))}"
    return _value(text)


def _unknown(text: str, args: type) -> str:
    word = text.split(", ")[0].split("=")[0]
    if not word.startswith("-"):
        return f"{word!r} is one word too many"
    return f"unknown option {word}; {suggest(word, [*options_of(args), '--json'])}".rstrip(".")


def _needed(body: list[str]) -> list[str]:
    """Names of the missing arguments: the least indented lines of tyro's text; deeper lines describe the arguments."""
    indents = [len(line) - len(line.lstrip()) for line in body]
    found = [line.strip() for line, indent in zip(body, indents, strict=True) if indent == min(indents)]
    return [f"one of {line.strip('{}').replace(',', ', ')}" if line.startswith("{") else line for line in found]


def _value(text: str) -> str:
    """Return tyro's message about a value, without the errors of every type that it has tried."""
    if found := re.match(r"Missing value for argument '?([^'.]+)'?", text):
        return f"{found[1]} needs a value"
    if found := re.search(r"invalid choice (.+?) for argument '?([^'.]+)'?\. Expected one of \((.*)\)", text):
        value, allowed = found[1].strip("'"), re.findall(r"'([^']*)'", found[3])
        return f"{found[2]} can't be {value!r}; {suggest(value, allowed)}".rstrip(".")
    if found := re.search(r"Error parsing ([^:]+):.* length (\d+) did not match expected argument count (\d+)", text):
        return f"{found[1]} needs {found[3]} values, not {found[2]}"
    if found := re.match(r"Error parsing ([^:]+): (.*)", text):
        values = re.findall(r"\['([^']*)'\]|: '([^']*)'", found[2])
        value = repr(next((a or b for a, b in reversed(values)), "")) if values else "that"
        kind = next((word for key, word in _KINDS.items() if re.search(rf"\b{key}\b", found[2])), "")
        return f"{found[1]} must be {kind}, not {value}" if kind else f"{found[1]} can't be {value}"
    return text


def _check_twice(args: "DataclassInstance", words: list[str]) -> None:
    """An option that takes one value, and is there twice: the first would be lost without a word."""
    single = {f"--{f.name.replace('_', '-')}" for f in fields(args) if not isinstance(getattr(args, f.name), tuple)}
    said = Counter(word.partition("=")[0].replace("_", "-") for word in words if word.startswith("--"))
    for word, count in said.items():
        if count > 1 and word in single:
            raise UsageError(f"{word} is there {count} times; write it once")
