"""How episodes of a `Model` are counted, and the domain's half that all this makes."""

from functools import partial
from typing import Any

import numpy as np

from robomarl.domains.floor_plan import check_suffix
from robomarl.domains.simulation import Evaluated, Simulation
from robomarl.evaluate.episodes import Step
from robomarl.evaluate.rows import episodes_row, table
from robomarl.evaluate.score import TeamScore
from robomarl.geometry import norm
from robomarl.safety.params import from_vehicle
from robomarl.sim.model.batch import make_model_sim
from robomarl.sim.model.check import probe_of
from robomarl.sim.model.env import ModelEnv
from robomarl.sim.model.model import Model
from robomarl.sim.model.world import TeamWorld


def simulation_of_model(model: Model, scenario: type, score: Any = None, film: Any = None, **more: Any) -> Simulation:
    """The half of a domain that simulates.

    Args:
        model: what the kind of team is.
        scenario: its dataclass, a `TeamScenario`.
        score: (model, scenario) -> what counts its episodes; None: `ModelScore`.
        film: what draws an episode's log from above, see `Evaluated`; None: nothing does.
        more: what else `Simulation` has, or instead.
    """
    score = score or ModelScore
    made = {
        "action": model.action,
        "env": lambda chosen, sim, weights, safety, starts: ModelEnv(model, chosen, sim, weights, safety),
        "batch": partial(make_model_sim, model),
        "filter_params": lambda chosen, mates: from_vehicle(chosen.vehicle_config, chosen.period_s, None, mates),
        "probe": lambda chosen: probe_of(model),
        "evaluation": Evaluated(
            row=episodes_row,
            table=table,
            nobody="Name at least one policy: a bundle or a run folder.",
            score=lambda chosen, config: score(model, chosen),
            film=film,
            check_film=check_suffix,
        ),
    }
    return Simulation(scenario=scenario, model=model, **{**made, **more})


class ModelScore(TeamScore):
    """By the rules of a `Model`."""

    def __init__(self, model: Model, scenario: Any) -> None:
        """Take the rules."""
        super().__init__(scenario)
        self._model = model

    def failed(self, world: TeamWorld) -> np.ndarray:
        """[E] bool: robots touched, or what the model calls a failure."""
        return self._model.ended(self.scenario, world)

    def succeeded(self, world: TeamWorld) -> np.ndarray:
        """[E] bool: as the model says."""
        return self._model.succeeded(self.scenario, world)

    def reward(self, step: Step) -> np.ndarray:
        """[E, N] by the model's terms and weights."""
        terms = self._model.terms(self.scenario, step.before, step.after)
        weights = self._model.weights_of(self.scenario)
        return np.asarray(sum(weights[name] * self.scenario.period_s * term for name, term in terms.items()))

    def errors(self, world: TeamWorld) -> tuple[np.ndarray, np.ndarray]:
        """[E] each: mean distance to the goals; no attitude is asked for."""
        distance = norm(world.pos_m - world.goal_m).mean(-1)
        return distance, distance * np.nan

    def places_m(self, world: TeamWorld) -> np.ndarray:
        """[E, N, 3] where the robots are."""
        return world.pos_m
