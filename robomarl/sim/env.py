"""The environment of a scenario, whatever kind of team it is about."""

from typing import Any

from robomarl.domains.simulation import simulation_of
from robomarl.sim.starts import Starts


def make_env(
    scenario: Any,
    sim: str = "fast",
    weights: dict[str, float] | None = None,
    safety: str = "off",
    starts: Starts | None = None,
) -> Any:
    """The `AgentsEnv` of a scenario; its domain says which of the options it has, as engines and `starts`."""
    return simulation_of(scenario).env(scenario, sim, weights, safety, starts)
