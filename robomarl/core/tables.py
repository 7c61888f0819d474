"""TOML and YAML files that people edit become tables here, which `config.build` reads; a mistake is one sentence."""

import tomllib
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from robomarl.core.config import UserError, suggest
from robomarl.core.config.parsed import JsonObject, is_table

if TYPE_CHECKING:
    import yaml

FILES = (".toml", ".yaml", ".yml", ".npz")
"""Suffixes of files that a file may name by path."""
_BEGUN: ContextVar[tuple[Path, ...]] = ContextVar("_BEGUN", default=())
"""Files that wait for the one that they extend."""


def read_text(path: Path) -> str:
    """Return the content of a text file.

    Raises:
        UserError: it is no text file, or can't be read.
    """
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path.name}: byte {error.start} is no text (UTF-8); name another file.") from None
    except OSError as error:
        raise UserError(f"{path.name}: can't be read ({error.strerror}); name another file.") from None


def read_toml(
    path: Path,
    base: Callable[[str], JsonObject],
    renew: Callable[[JsonObject, JsonObject], JsonObject] | None = None,
) -> JsonObject:
    """Return the keys of a TOML file, over those of the file that it names in `extends`.

    Args:
        path: the file; others that it names by path are looked for beside it first.
        base: function from the value of `extends` to the keys of that file.
        renew: function from the file's own keys and the extended ones to its own keys in the newest
            version.

    Raises:
        UserError: bad TOML, or files that extend each other.
    """
    text, same = read_text(path), path.resolve()
    try:
        data = _named_beside(tomllib.loads(text), path.parent)
    except (ValueError, RecursionError) as error:  # tables without end, too
        raise UserError(f"{path.name}: not valid TOML, {error}; mend the syntax there.") from None
    if "extends" not in data:
        return renew(data, {}) if renew else data
    if same in (begun := _BEGUN.get()):
        raise UserError(f"{path.name}: extends goes round in a circle; name another file there.")
    before = _BEGUN.set((*begun, same))
    try:
        extended = base(str(data.pop("extends")))
        return merged(extended, renew(data, extended) if renew else data)
    finally:
        _BEGUN.reset(before)


def _named_beside(table: JsonObject, folder: Path) -> dict[str, object]:
    return {key: _beside(part, folder) for key, part in table.items()}


def _beside(value: object, folder: Path) -> object:
    """The value, the files in it that are there below the folder named from it."""
    if is_table(value):
        return _named_beside(value, folder)
    if isinstance(value, str) and value.endswith(FILES) and (folder / value).is_file():
        return str(folder / value)
    return value


def read_yaml(name: str, kind: str, folder: Path) -> tuple[object, str]:
    """Return the content of a YAML file, and the file's name for errors.

    Args:
        name: name of a file in the folder, or the path of another.
        kind: kind of the file's content, as the error names it.
        folder: folder of the files that ship.

    Raises:
        UserError: unknown name, bad YAML, or a key that is there twice.
    """
    import yaml  # robots load bundles more often than files

    path = Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"
    if not path.is_file():
        meant = suggest(path.stem, sorted(p.stem for p in folder.glob("*.yaml")), f"known {kind}s")
        raise UserError(f"Unknown {kind} {name!r}: no file {path.name}; {meant}")
    text = read_text(path)
    try:
        return yaml.load(text, _yaml_loader()), path.name
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place, problem = f" in line {mark.line + 1}" if mark else "", getattr(error, "problem", None) or "no YAML"
        raise UserError(f"{path.name}: not valid YAML{place}, {problem}; mend the syntax there.") from None
    except (ValueError, LookupError, AttributeError, RecursionError) as error:  # what tags and long numbers make of it
        raise UserError(f"{path.name}: not valid YAML ({type(error).__name__}); mend the file.") from None


@cache
def _yaml_loader() -> "type[yaml.SafeLoader]":
    """PyYAML's safe one, which takes the last of two keys of one name: here that is an error."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_mapping_node(self, anchor: dict[object, yaml.Node]) -> yaml.MappingNode:
            node = super().compose_mapping_node(anchor)
            seen: set[object] = set()  # before `<<` adds keys of others
            for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
                if key.value in seen:
                    said = f"key {key.value!r} is there twice"
                    raise yaml.constructor.ConstructorError(None, None, said, key.start_mark)
                seen.add(key.value)
            return node

    return Loader


def merged(base: JsonObject, over: JsonObject) -> dict[str, object]:
    """The keys of both tables; where both have one, that of `over`, and of tables in them again both."""
    found = {**base, **over}
    for key in base.keys() & over.keys():
        if is_table(below := base[key]) and is_table(above := over[key]):
            found[key] = merged(below, above)
    return found
