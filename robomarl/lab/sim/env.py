"""The environment of a scenario, whatever kind of team it is about."""

from typing import Any

from robomarl.core.bundle.contract import check_action, check_roles, describe
from robomarl.core.config import UserError
from robomarl.core.domain.halves import simulation_of
from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.lab.sim.starts import Starts


def make_env(
    scenario: Any,
    sim: str = "fast",
    weights: dict[str, float] | None = None,
    safety: str = "off",
    starts: Starts | None = None,
) -> Any:
    """The `AgentsEnv` of a scenario; its domain says which of the options it has, as engines and `starts`.

    Raises:
        UserError: no contract can hold what its policies see or command.
    """
    env = simulation_of(scenario).env(scenario, sim, weights, safety, starts)
    check_specs(scenario, env.observation, env.commanded)
    return env


def check_specs(scenario: Any, observation: ObservationSpec | None, action: ActionSpec) -> None:
    """Check what a bundle will say of a scenario's policies, before one is trained.

    Raises:
        UserError: an action or roles that no contract takes, or a feature whose units are not those of its parts.
    """
    try:
        check_action(action)
        check_roles(simulation_of(scenario).roles(scenario, scenario.count), scenario.count)
        if observation:
            describe(observation)
    except ValueError as error:
        raise UserError(f"{scenario.name}.toml: task = {scenario.task!r}: {error}") from None
