"""Scenario files of every kind of team, by name or path, and their content.

`extends = "other"` takes another file and overrides keys of it. A name NAME_N without a file of its own is
NAME's family (`swap`, `goto`) with `count = N`.
"""

import re
from pathlib import Path
from typing import Any, ClassVar, Protocol

from robomarl.config import UserError, build, read_toml
from robomarl.domains.simulation import simulation_for
from robomarl.paths import scenarios_dir
from robomarl.sim.clock import Rates


class Scenario(Protocol):
    """What generic code reads of a scenario of any kind: a frozen dataclass that its domain makes of a file."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """The name that it was loaded by."""
        ...

    @property
    def task(self) -> str:
        """Leads to its domain."""
        ...

    @property
    def vehicle_config(self) -> Any:
        """The vehicle file."""
        ...

    @property
    def count(self) -> int:
        """Robots in the team, in each of two."""
        ...

    @property
    def rates(self) -> Rates:
        """How often things happen."""
        ...

    @property
    def period_s(self) -> float:
        """Time between two decisions."""
        ...

    @property
    def max_steps(self) -> int:
        """Decisions in an episode."""
        ...

    @property
    def randomize(self) -> Any:
        """What is drawn anew for each episode; its fields are intervals, by the names in `randomized`."""
        ...

    @property
    def randomized(self) -> tuple[str, ...]:
        """Names of the parameters that can be randomized and perturbed."""
        ...

    @property
    def held_out(self) -> dict[str, dict[str, float]]:
        """Variations that training never sees: name -> {parameter: value}."""
        ...


def load_scenario(name: str) -> Any:
    """Read a scenario by name (of `sim/scenarios/`) or by the path of a TOML file, as its domain does.

    Raises:
        UserError: unknown name, bad TOML, or a wrong key or value.
    """
    content, file = read_scenario(name)
    simulation = simulation_for(content, file)
    scenario = build(simulation.scenario, {"name": Path(name).stem, **content}, file)
    simulation.check_scenario(scenario, file)
    return scenario


def build_scenario(content: dict[str, Any], file: str) -> Any:
    """The scenario of this content; raises `UserError` where a key or value is wrong, naming the file."""
    return build(simulation_for(content, file).scenario, content, file)


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
        return _family(name), f"{name}.toml"
    return read_toml(path, lambda base: read_scenario(base)[0]), path.name


def _path(name: str) -> Path:
    return Path(name) if name.endswith(".toml") else scenarios_dir() / f"{name}.toml"


def _family(name: str) -> dict[str, Any]:
    match = re.fullmatch(r"(\w+)_(\d+)", name)
    members = sorted(scenarios_dir().glob(f"{match[1]}_*.toml")) if match else []
    if not match or not members or int(match[2]) < 1:
        known = ", ".join(scenario_names())
        raise UserError(f"Unknown scenario {name!r}: no file {name}.toml; known scenarios: {known}.")
    data, _ = read_scenario(members[0].stem)
    return {**data, "count": int(match[2])}
