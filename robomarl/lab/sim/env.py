"""The environment of a scenario, for every kind of team."""

from robomarl.core.bundle.contract import check_action, check_roles, describe
from robomarl.core.config import UserError
from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.sim.starts import Starts
from robomarl.lab.simulation import simulation_of


def make_env(
    scenario: Scenario,
    sim: str = "fast",
    weights: dict[str, float] | None = None,
    safety: str = "off",
    starts: Starts | None = None,
) -> AgentsEnv:
    """Return the `AgentsEnv` of a scenario; its domain defines the available options, such as engines and
    `starts`.

    Raises:
        UserError: no contract can hold the observations or commands of its policies.
    """
    env = simulation_of(scenario).env(scenario, sim, weights, safety, starts)
    check_specs(scenario, env.observation, env.commanded)
    return env


def check_specs(scenario: Scenario, observation: ObservationSpec | None, action: ActionSpec) -> None:
    """Check the specs that a bundle will declare for a scenario's policies, before one is trained.

    Raises:
        UserError: an action or roles that no contract accepts, or a feature with units that differ from
            those of its parts.
    """
    try:
        check_action(action)
        check_roles(simulation_of(scenario).roles(scenario, scenario.count), scenario.count)
        if observation:
            describe(observation)
    except ValueError as error:
        raise UserError(f"{scenario.name}.toml: task = {scenario.task!r}: {error}") from None
