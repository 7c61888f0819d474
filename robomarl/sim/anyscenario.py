"""Scenarios of every kind by name or content."""

from typing import Any

from robomarl.config import build
from robomarl.domains.simulation import simulation_for
from robomarl.sim.scenario import read_scenario


def load_any_scenario(name: str) -> Any:
    """Read a scenario by name or path, as its domain does; raises `UserError` where something is wrong with it."""
    return simulation_for(*read_scenario(name)).load(name)


def build_any_scenario(content: dict[str, Any], file: str) -> Any:
    """The scenario of this content; raises `UserError` where a key or value is wrong, naming the file."""
    return build(simulation_for(content, file).scenario, content, file)
