"""Conversion of tables that people wrote to frozen dataclasses; every mistake becomes one sentence.

`build` walks a dataclass and a parsed TOML or YAML mapping together. It knows nested dataclasses,
tuples, literals, optionals and the `Range` annotation, and names the file, the key and the allowed
values.
"""

import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Callable, Collection
from typing import Annotated, ClassVar, Literal, Protocol, TypeGuard, TypeVar, Union, get_args, get_origin

from robomarl.core.config.parsed import JsonObject, is_list, is_table
from robomarl.core.config.units import misfit, percent


class UserError(Exception):
    """Mistake that the user can fix: the message is one sentence that names the file, the key and the fix.

    The message may hold text from a robot or a bundle: characters that would steer a terminal are
    replaced.
    """

    figures: JsonObject | None = None
    """Results that a command found despite the error; `--json FILE` gets them. None: there are none."""

    def __str__(self) -> str:
        return printable(super().__str__())


class UsageError(UserError):
    """Mistake in the words of the command line, independent of the files' content: the exit status is 2."""


def printable(text: str) -> str:
    """One line of text without control characters, and without those that turn the direction of writing."""
    return "".join(c if c.isprintable() else " " if c in "\n\r\t" else "?" for c in text)


class Range(typing.NamedTuple):
    """Closed interval that a number must be in, as in `Annotated[float, Range(0, 1)]`."""

    low: float = -math.inf
    high: float = math.inf

    def holds(self, value: float) -> bool:
        """Return True if the number is within the interval; NaN never is."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if self.high < math.inf:
            return f"from {_plain(self.low)} to {_plain(self.high)}"
        return "above 0" if self.low == LEAST_POSITIVE else f"at least {self.low:g}"


def _plain(number: float) -> str:
    """Six digits, but all of a whole number."""
    return f"{number:.0f}" if float(number).is_integer() else f"{number:g}"


LEAST_POSITIVE = 1e-12
"""Smallest value that `Positive` accepts as above 0, in any unit."""
Positive = Annotated[float, Range(LEAST_POSITIVE)]
NonNegative = Annotated[float, Range(0.0)]
Fraction = Annotated[float, Range(0.0, 1.0)]
Count = Annotated[int, Range(1)]
Natural = Annotated[int, Range(0)]
MAX_SEED = 2**32 - 1
"""Largest seed. JAX uses 32 bits of a seed: larger ones would be cut off, and two different ones could become equal."""
Seed = Annotated[int, Range(0, MAX_SEED)]


class IsDataclass(Protocol):
    """An object of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[object]]]


Built = TypeVar("Built", bound=IsDataclass)


def build(cls: type[Built], data: object, file: str, key: str = "") -> Built:
    """Make the dataclass `cls` from a parsed mapping.

    Args:
        cls: a dataclass; keys without a default are required.
        data: result of the TOML or YAML parser.
        file: named in errors.
        key: dotted path of `data` inside the file, for errors.

    Raises:
        UserError: unknown or missing key, wrong type, value out of range, or a `ValueError` of the
            dataclass's own `__post_init__`.
    """
    if not is_table(data):
        raise UserError(f"{file}: {key or 'the file'} must be a table of keys, not {_kind(data)}.")
    hints = typing.get_type_hints(cls, include_extras=True)
    _check_version(hints.get("version"), data, file)
    fields = {f.name: f for f in dataclasses.fields(cls)}
    for name in data:
        if name not in fields:
            raise UserError(f"{file}: unknown key {_join(key, name)!r}; {suggest(str(name), fields)}")
    values: dict[str, object] = {}
    for name, field in fields.items():
        if name in data:
            values[name] = convert(hints[name], data[name], file, _join(key, name))
            _check_units(name, values[name], file, _join(key, name))
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise UserError(f"{file}: key {_join(key, name)!r} is missing; add it ({expected(hints[name])}).")
    make: Callable[..., Built] = cls
    try:
        return make(**values)
    except ValueError as error:
        raise UserError(f"{file}: {key + ': ' if key else ''}{error}") from None


def _check_version(hint: object, data: JsonObject, file: str) -> None:
    """Reject a file of a version newer than the known ones with the advice to update; its author made no mistake."""
    known, said = get_args(hint) if get_origin(hint) is Literal else (), data.get("version")
    if known and isinstance(said, int) and not isinstance(said, bool) and said > max(known):
        newest = f"newer than {max(known)}, which this robomarl reads"
        raise UserError(f"{file}: version = {said} is {newest}; update robomarl.")


def convert(hint: object, value: object, file: str, key: str) -> object:
    """One value of the file as the type that `hint` asks for; see `build` for the errors."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        result = convert(args[0], value, file, key)
        for limit in args[1:]:
            _check_range(limit, result, file, key)
        return result
    if origin in (Union, types.UnionType):
        return _convert_union(args, value, file, key)
    if origin is tuple:
        return _convert_tuple(args, value, file, key, hint)
    if origin is dict and is_table(value):
        return {str(k): convert(args[1], v, file, _join(key, str(k))) for k, v in value.items()}
    if origin is Literal and value in args:
        return value
    if _is_dataclass(hint):
        return build(hint, value, file, key)
    return _convert_scalar(hint, value, file, key)


def to_dict(value: object) -> dict[str, object]:
    """Return a dataclass as plain dicts, lists and scalars, which `build` reads back to an equal object."""
    if _is_object(value):
        pairs = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value))
        return {name: plain(item) for name, item in pairs if item is not None}
    if is_table(value):
        return {key: plain(item) for key, item in value.items()}
    raise TypeError(f"{type(value).__name__} has no keys")


def plain(value: object) -> object:
    """A dataclass, table or list as `to_dict` makes it; any other value as it is."""
    if is_list(value):
        return [plain(item) for item in value]
    return to_dict(value) if is_table(value) or _is_object(value) else value


def _is_object(value: object) -> TypeGuard[IsDataclass]:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _convert_union(args: tuple[object, ...], value: object, file: str, key: str) -> object:
    if value is None and type(None) in args:
        return None
    error: UserError | None = None
    for option in (a for a in args if a is not type(None)):
        try:
            return convert(option, value, file, key)
        except UserError as mistake:
            error = error or mistake
    raise error or UserError(f"{file}: {key} has a value of the wrong type, {_kind(value)}.")


def _convert_tuple(args: tuple[object, ...], value: object, file: str, key: str, hint: object) -> tuple[object, ...]:
    if not is_list(value):
        raise UserError(f"{file}: {key} must be {expected(hint)}, not {_kind(value)}.")
    if len(args) == 2 and args[1] is Ellipsis:
        args = (args[0],) * len(value)
    if len(args) != len(value):
        raise UserError(f"{file}: {key} must be a list of {len(args)} values, not {len(value)}.")
    pairs = zip(args, value, strict=True)
    return tuple(convert(a, v, file, f"{key}[{i}]") for i, (a, v) in enumerate(pairs))


def _convert_scalar(hint: object, value: object, file: str, key: str) -> object:
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    if hint in (object, typing.Any) or (hint in (int, str, bool) and type(value) is hint):
        return value
    raise UserError(f"{file}: {key} must be {expected(hint)}, not {_kind(value)}.")


def _is_dataclass(hint: object) -> TypeGuard[type[IsDataclass]]:
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def _check_units(name: str, value: object, file: str, key: str) -> None:
    """Check the numbers of a value against the unit that the last word of its key names."""
    if is_table(value):
        for word, part in value.items():
            _check_units(str(word), part, file, _join(key, str(word)))
    elif is_list(value):
        for i, part in enumerate(value):
            _check_units(name, part, file, f"{key}[{i}]")
    elif isinstance(value, float) and (wrong := misfit(name, value)):
        raise UserError(f"{file}: {key} = {value:g} {wrong}.")


def _check_range(limit: object, value: object, file: str, key: str) -> None:
    if isinstance(limit, Range) and isinstance(value, (int, float)) and not limit.holds(value):
        said = percent(value) if limit == Range(0.0, 1.0) else ""
        raise UserError(f"{file}: {key} = {value!r} is out of range; it must be {limit}{said}.")


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def suggest(name: str, allowed: Collection[str], all_of_them: str = "allowed") -> str:
    """Return a hint for a wrong name: the allowed name that is nearly equal, or all allowed names, after
    `all_of_them`."""
    small = {other.lower(): other for other in allowed}
    close = difflib.get_close_matches(name.lower(), small, n=1)
    return f"did you mean {small[close[0]]!r}?" if close else f"{all_of_them}: " + (", ".join(allowed) or "none") + "."


def _kind(value: object) -> str:
    if isinstance(value, (dict, list, tuple)):
        return "a table" if isinstance(value, dict) else "a list"
    return f"{value!r} ({type(value).__name__})"


def expected(hint: object) -> str:
    """Describe the values of this type in words."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        limits = [str(a) for a in args[1:] if isinstance(a, Range)]
        return " ".join([expected(args[0]), *limits])
    if origin is Literal:
        return "one of " + ", ".join(repr(a) for a in args)
    if origin in (Union, types.UnionType):
        return " or ".join(expected(a) for a in args if a is not type(None))
    if origin is tuple:
        return "a list of values" if Ellipsis in args else f"a list of {len(args)} values"
    if dataclasses.is_dataclass(hint) or origin is dict:
        return "a table of keys"
    names: dict[object, str] = {float: "a finite number", int: "a whole number", str: "a text", bool: "true or false"}
    return names.get(hint, "a value of another type")
