"""Scenario files by name or path, as TOML has them: robots have no simulator to read them.

`extends = "other"` takes another file and overrides some keys. A name NAME_N without a file of its
own is NAME's family (`swap`, `goto`) with `count = N`.
"""

import re
from functools import partial
from pathlib import Path

from robomarl.core.config import UserError, suggest
from robomarl.core.config.parsed import JsonObject
from robomarl.core.config.versions import migrated
from robomarl.core.hardware.versions import SCENARIO_STEPS
from robomarl.core.paths import scenarios_dir
from robomarl.core.tables import read_toml


def scenario_names() -> list[str]:
    """Names of the scenarios that ship."""
    return sorted(p.stem for p in scenarios_dir().glob("*.toml"))


def has_file(name: str) -> bool:
    """Return True if a scenario by name or path has a file of its own, and is no further size of a family."""
    return _path(name).is_file()


def is_scenario(name: str) -> bool:
    """Return True if there is a scenario of that name or path."""
    return has_file(name) or _family(name) is not None


def read_scenario(name: str) -> tuple[JsonObject, str]:
    """Return the keys of a scenario by name or path, including the files that it extends, and the file's
    name for errors.

    Raises:
        UserError: unknown name or bad TOML.
    """
    if has_file(name):
        path = _path(name)
        return read_toml(path, lambda base: read_scenario(base)[0], partial(_renewed, file=path.name)), path.name
    if (family := _family(name)) is None:
        meant = suggest(_path(name).stem, scenario_names(), "known scenarios")
        raise UserError(f"Unknown scenario {name!r}: no file {_path(name).name}; {meant}")
    (content, file), count = read_scenario(family[0]), family[1]
    return {**content, "count": count}, f"{file} with count = {count}"


def _renewed(own: JsonObject, extended: JsonObject, file: str) -> JsonObject:
    """Return the keys of a file in the newest version; those of the extended file are in it already."""
    return migrated(own, SCENARIO_STEPS, file)


def _path(name: str) -> Path:
    return Path(name) if name.endswith(".toml") else scenarios_dir() / f"{name}.toml"


def _family(name: str) -> tuple[str, int] | None:
    """The first scenario NAME_* of a name NAME_N, and N; None where there is none."""
    match = re.fullmatch(r"(\w+)_(\d+)", name)
    members = sorted(scenarios_dir().glob(f"{match[1]}_*.toml")) if match else []
    return (members[0].stem, int(match[2])) if match and members and int(match[2]) > 0 else None
