"""`SIMULATION` of flying teams; those that carry something are no others, and so it knows them too."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.log import FlightLog, save_flight
from robomarl.core.spec import ActionSpec
from robomarl.core.types import Array, Figures
from robomarl.domains.flight.lab.check import PROBE
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.env import TeamEnv
from robomarl.domains.flight.lab.evaluation.staging import STAGING, log_moments
from robomarl.domains.flight.lab.goto import GotoPolicy
from robomarl.domains.flight.lab.safety.limits import check_scenario, flyer_params
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.evaluate.evaluation import EvalRow, FlownPolicy
from robomarl.lab.evaluate.score import TeamScore
from robomarl.lab.plants.flight import Plant
from robomarl.lab.probe import Probe
from robomarl.lab.scene.files import check_film
from robomarl.lab.sim.law import FlownLaw, Law
from robomarl.lab.sim.scenario import RateConfig
from robomarl.lab.sim.starts import Starts
from robomarl.lab.simulation import Evaluated, Imitated, Measured, RowOptions, Simulation
from robomarl.lab.train.offline.team_path import TeamPath


def action(scenario: FlightScenario) -> ActionSpec:
    """Return the action of the task."""
    return task_of(scenario).action(scenario)


def make_env(
    scenario: FlightScenario, sim: str, weights: dict[str, float] | None, safety: str, starts: Starts | None
) -> TeamEnv:
    """A team on a JAX engine; how it starts is in the scenario."""
    return TeamEnv(scenario, sim, weights, safety)


def baseline(scenario: FlightScenario) -> FlownPolicy:
    """The policy that is computed from a model of the whole team."""
    if scenario.load is None:
        return GotoPolicy(scenario)
    from robomarl.domains.flight.lab.payload.controllers.centralized import LoadPosePolicy

    return LoadPosePolicy(scenario)


def law_policy(scenario: FlightScenario) -> FlownPolicy:
    """The law of the scenario's task as a policy: `robomarl eval law --scenario lift_3`."""
    task = task_of(scenario)
    assert task.law is not None, "every task of flying teams has a law"
    return FlownLaw(scenario, task.law(scenario), task.action(scenario), "law")


def response_parameters(scenario: FlightScenario) -> tuple[str, ...]:
    """Return the parameters of the section `randomize` that affect a vehicle."""
    from robomarl.domains.flight.lab.safety.plants import felt_by_flyers

    return felt_by_flyers(scenario)


def moves_alike(scenario: FlightScenario) -> tuple[RateConfig, bool]:
    """Rates, and whether something is carried."""
    return scenario.rates, scenario.load is not None


def plant(scenario: FlightScenario, flights: int, seed: int, threads: int) -> Plant:
    """Return `flights` vehicles, each alone; under a load each with its share of the load."""
    from robomarl.domains.flight.lab.safety.plants import Flyers

    return Flyers(scenario, flights, seed, threads)


def rewarded(
    scenario: FlightScenario, path: TeamPath, weights: dict[str, float] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return rewards by the task's terms, on the robots' own estimates.

    Raises:
        UserError: the vehicles carry a load, and the rows do not have its state.
    """
    from robomarl.domains.flight.lab.rewarded import rewarded as by_task

    if scenario.load is not None:
        raise UserError(f'{scenario.name}.toml: rows do not say how the load is; clone (algorithm = "bc") instead.')
    return by_task(scenario, path, weights)


def probe(scenario: FlightScenario) -> Probe:
    """Return the engine comparison of vehicles that fly freely, or else of their load."""
    if scenario.load is None:
        return PROBE
    from robomarl.domains.flight.lab.payload.check import PROBE as UNDER_LOAD

    return UNDER_LOAD


def attack(
    scenario: FlightScenario, mode: str, episodes: int, seed: int, sim: str, tell: Callable[[int], object]
) -> Figures:
    """Malicious commands behind the filter."""
    from robomarl.domains.flight.lab.safety.attack import ATTACK

    return ATTACK(scenario, mode, episodes, seed, sim, tell)


def score(scenario: FlightScenario, hover_s: float) -> TeamScore:
    """Return the score by the rules of the task."""
    from robomarl.domains.flight.lab.evaluation.score import FlightScore

    return FlightScore(scenario, hover_s)


def mixed_team(policy: FlownPolicy, scenario: FlightScenario) -> FlownPolicy:
    """Some of those that carry may fly under the baseline."""
    from robomarl.domains.flight.lab.payload.controllers.mixed_team import mixed_team as of_scenario

    return of_scenario(policy, scenario)


def row(name: str, options: RowOptions, is_first: bool) -> EvalRow:
    """Return the result of `robomarl eval` for one policy."""
    from robomarl.lab.evaluate.rows import episodes_row

    return episodes_row(name, options, is_first)


def table(rows: list[Figures]) -> str:
    """One line for each policy."""
    from robomarl.lab.evaluate.rows import table as lines

    return lines(rows)


def film(log: FlightLog, scenario: FlightScenario, file: Path) -> None:
    """Film a flight."""
    from robomarl.lab.scene.film import write_film

    write_film(STAGING.scene(scenario), log_moments(log), file, scenario.name)


def law_of(scenario: FlightScenario) -> Callable[[FlightScenario], Law] | None:
    """Return the function that makes the task's own controller; None if the task has none."""
    return task_of(scenario).law


def failed(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[E] bool: as the task says."""
    return task_of(scenario).failed(scenario, world)


def is_harsh(scenario: FlightScenario) -> bool:
    """Return True if the team is thrown."""
    from robomarl.domains.flight.lab.payload.lift import thrown

    return scenario.load is not None and thrown(scenario)


def harder(scenario: FlightScenario) -> FlightScenario:
    """Return the scenario with vehicles that are lost, if the team carries a load."""
    from robomarl.domains.flight.lab.payload.lift import with_losses

    return with_losses(scenario)


def errors(scenario: FlightScenario, world: FlightWorld) -> tuple[Array, Array]:
    """Return the errors of the task."""
    return task_of(scenario).errors(world)


def is_late(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[...] bool: a robot has not arrived."""
    return (world.arrived_s == 0).any(-1)


EVALUATION = Evaluated(
    score=score,
    mixed_team=mixed_team,
    row=row,
    table=table,
    nobody="Name at least one policy: a bundle, a run folder, or baseline.",
    film=film,
    check_film=check_film,
)
SIMULATION = Simulation(
    scenario=FlightScenario,
    check_scenario=check_scenario,
    action=action,
    env=make_env,
    batch=make_team,
    filter_params=flyer_params,
    probe=probe,
    evaluation=EVALUATION,
    controllers={"baseline": baseline, "law": law_policy},
    save_log=save_flight,
    measured=Measured(response_parameters, moves_alike, plant),
    rewarded=rewarded,
    imitated=Imitated(law_of, failed, is_harsh, harder, errors, is_late),
    staging=STAGING,
    attack=attack,
)
