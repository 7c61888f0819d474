"""`SIMULATION` of teams of ground robots."""

from collections.abc import Callable

import numpy as np

from robomarl.core.types import Figures
from robomarl.domains.ground.lab.check import PROBE
from robomarl.domains.ground.lab.controllers.scripted import ScriptedRobots, ScriptLaw
from robomarl.domains.ground.lab.controllers.waypoint import waypoints
from robomarl.domains.ground.lab.evaluation.score import GroundScore
from robomarl.domains.ground.lab.limits import check_scenario, filter_params
from robomarl.domains.ground.lab.model import MODEL, left_arena
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.staging import STAGING
from robomarl.lab.evaluate.model_episodes import simulation_of_model
from robomarl.lab.plants.flight import Plant
from robomarl.lab.simulation import Imitated, Measured


def plant(scenario: GroundScenario, flights: int, seed: int, threads: int) -> Plant:
    """Return `flights` robots, each alone."""
    from robomarl.domains.ground.lab.plants import Drivers

    return Drivers(scenario, flights, seed)


def attack(
    scenario: GroundScenario, mode: str, episodes: int, seed: int, sim: str, tell: Callable[[int], object]
) -> Figures:
    """Malicious commands behind the filter."""
    from robomarl.domains.ground.lab.attack import ATTACK

    return ATTACK(scenario, mode, episodes, seed, sim, tell)


IMITATED = Imitated(
    law=lambda scenario: ScriptLaw,
    failed=left_arena,  # who touches goes on: behind a filter nobody does
    is_harsh=lambda scenario: False,
    harder=lambda scenario: scenario,
    errors=lambda scenario, world: (world.pos_m[..., 0] * np.nan, world.pos_m[..., 0] * np.nan),
)
SIMULATION = simulation_of_model(
    MODEL,
    GroundScenario,
    GroundScore,
    check_scenario=check_scenario,
    filter_params=filter_params,
    probe=lambda scenario: PROBE,
    controllers={"baseline": ScriptedRobots},
    imitated=IMITATED,
    measured=Measured(
        response_parameters=lambda scenario: (),
        moves_alike=lambda scenario: (scenario.vehicle, scenario.rates),
        plant=plant,
    ),
    choices=waypoints,
    staging=STAGING,
    attack=attack,
)
