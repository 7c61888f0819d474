"""How episodes of a `Model` are counted, and the domain's half that all this makes."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from robomarl.core.filter.params import from_vehicle
from robomarl.core.geometry import norm
from robomarl.core.tree import each
from robomarl.lab.evaluate.episodes import Step
from robomarl.lab.evaluate.floor_plan import check_suffix
from robomarl.lab.evaluate.rows import episodes_row, table
from robomarl.lab.evaluate.score import TeamScore
from robomarl.lab.scene.files import check_film
from robomarl.lab.scene.of_model import film_of, staging_of_model
from robomarl.lab.sim.law import FlownLaw
from robomarl.lab.sim.model.check import probe_of
from robomarl.lab.sim.model.engines import make_model_sim
from robomarl.lab.sim.model.env import ModelEnv
from robomarl.lab.sim.model.model import Model
from robomarl.lab.sim.model.world import TeamWorld
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import Evaluated, Imitated, Simulation


def simulation_of_model(
    model: Model, scenario: type, score: Any = None, film: Any = None, law: Any = None, **more: Any
) -> Simulation:
    """Return the simulating half of a domain.

    Args:
        model: `Model` of the kind of team.
        scenario: its dataclass, a `TeamScenario`.
        score: (model, scenario) -> counter of its episodes; None: `ModelScore`.
        film: (log, scenario, file), films an episode as .gif or .png. Its log is a list of `ModelFrame`,
            unless the score keeps another log. None: a film in 3-D of the scenes of `staging`.
        law: scenario -> `robomarl.lab.sim.law.Law`, an untrained controller: `eval baseline` flies it,
            and `robomarl train --imitate` begins with it. None: there is no such controller.
        more: additional fields of `Simulation`, or replacements of those made here.
    """
    score, staging = score or ModelScore, more.get("staging") or staging_of_model()
    made = {
        "action": model.action,
        "env": lambda chosen, sim, weights, safety, starts: ModelEnv(model, chosen, sim, weights, safety),
        "batch": partial(make_model_sim, model),
        "filter_params": lambda chosen, mates: from_vehicle(chosen.vehicle_config, chosen.period_s, None, mates),
        "probe": lambda chosen: probe_of(model),
        "staging": staging,
        "evaluation": Evaluated(
            row=episodes_row,
            table=table,
            nobody="Name at least one policy: a bundle or a run folder.",
            score=lambda chosen, hover_s: score(model, chosen),
            film=film or film_of(staging),
            check_film=check_suffix if film else check_film,
        ),
    }
    return Simulation(scenario=scenario, model=model, **{**made, **(_of_law(model, law) if law else {}), **more})


def _of_law(model: Model, law: Any) -> dict[str, Any]:
    """Return the fields of `Simulation` that an untrained controller provides."""
    imitated = Imitated(
        law=lambda chosen: law,
        failed=model.ended,
        is_harsh=lambda chosen: False,
        harder=lambda chosen: chosen,
        errors=lambda chosen, world: (norm(world.pos_m - world.goal_m).mean(-1), world.pos_m[..., 0, 0] * np.nan),
    )
    baseline = {"baseline": lambda chosen: FlownLaw(chosen, law(chosen), model.action(chosen))}
    return {"controllers": baseline, "imitated": imitated}


class ModelFrame(NamedTuple):
    """One decision of one team, for films."""

    world: TeamWorld
    """World after the decision, [N, ...]."""
    active: np.ndarray
    """[N] bool: the filter changed the command."""


class ModelScore(TeamScore):
    """Score by the rules of a `Model`."""

    def __init__(self, model: Model, scenario: Scenario) -> None:
        """Take the rules."""
        super().__init__(scenario)
        self._model = model

    def failed(self, world: TeamWorld) -> np.ndarray:
        """Return [E] bool: True if robots touched, or if the model reports a failure."""
        return self._model.ended(self.scenario, world)

    def succeeded(self, world: TeamWorld) -> np.ndarray:
        """[E] bool: as the model says."""
        return self._model.succeeded(self.scenario, world)

    def reward(self, step: Step) -> np.ndarray:
        """[E, N] by the model's terms and weights."""
        terms = self._model.terms(self.scenario, step.before, step.after)
        weights = self._model.weights_of(self.scenario)
        return np.asarray(sum(weights[name] * self.scenario.period_s * term for name, term in terms.items()))

    def row(self, step: Step, index: int) -> ModelFrame:
        """One decision of one episode."""
        world = each(step.after, lambda leaf: np.array(leaf[index]))
        return ModelFrame(world, np.array(step.result.active[index]))

    def log(self, rows: list[ModelFrame]) -> list[ModelFrame] | None:
        """Return all rows, or None if there are none."""
        return rows or None

    def errors(self, world: TeamWorld) -> tuple[np.ndarray, np.ndarray]:
        """[E] each: mean distance to the goals; no attitude is asked for."""
        distance = norm(world.pos_m - world.goal_m).mean(-1)
        return distance, distance * np.nan

    def places_m(self, world: TeamWorld) -> np.ndarray:
        """[E, N, 3] where the robots are."""
        return world.pos_m
