"""Scenario files by name or path, as TOML has them: robots have no simulator to read them.

`extends = "other"` takes another file and overrides keys of it. A name NAME_N without a file of its own is
NAME's family (`swap`, `goto`) with `count = N`.
"""

import re
from pathlib import Path
from typing import Any

from robomarl.config import UserError, read_toml
from robomarl.paths import scenarios_dir


def scenario_names() -> list[str]:
    """Names of the scenarios that ship."""
    return sorted(p.stem for p in scenarios_dir().glob("*.toml"))


def has_file(name: str) -> bool:
    """Whether a scenario by name or path has a file of its own, and is no further size of a family."""
    return _path(name).is_file()


def read_scenario(name: str) -> tuple[dict[str, Any], str]:
    """The keys of a scenario by name or path, with what it extends, and the file's name for errors.

    Raises:
        UserError: unknown name or bad TOML.
    """
    path = _path(name)
    if not path.is_file():
        return _family(name)
    return read_toml(path, lambda base: read_scenario(base)[0]), path.name


def _path(name: str) -> Path:
    return Path(name) if name.endswith(".toml") else scenarios_dir() / f"{name}.toml"


def _family(name: str) -> tuple[dict[str, Any], str]:
    match = re.fullmatch(r"(\w+)_(\d+)", name)
    members = sorted(scenarios_dir().glob(f"{match[1]}_*.toml")) if match else []
    if not match or not members or int(match[2]) < 1:
        known = ", ".join(scenario_names())
        raise UserError(f"Unknown scenario {name!r}: no file {name}.toml; known scenarios: {known}.")
    data, file = read_scenario(members[0].stem)
    return {**data, "count": int(match[2])}, f"{file} with count = {int(match[2])}"
