"""`MatchSim`, `MatchMujoco`: matches side by side; both sides serve in as many of them."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.view import LocalView, Plan
from robomarl.domains.volleyball.lab.match.model import MATCH_MODEL, judged
from robomarl.domains.volleyball.lab.match.scenario import MatchScenario
from robomarl.domains.volleyball.lab.match.world import SERVE_DRAW
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.model.batch import ModelSim

SIMS = ("fast", "mujoco")
"""Engines of matches."""


class EqualServes(ModelSim):
    """Draws of all robots of both teams; the first side serves in every second match."""

    scenario: MatchScenario

    def _step_draws(self) -> np.ndarray:
        return self._draw(self.num_envs, self.scenario.robots, self.model.num_draws)

    def _start(self) -> TeamWorld:
        draws = self._step_draws()
        draws[:, 1, SERVE_DRAW] = (self._rows % 2).astype(np.float32)
        return self.model.start(self.scenario, draws)


class MatchSim(EqualServes):
    """E matches on the engine `fast`, in NumPy."""

    def __init__(self, scenario: MatchScenario, num_envs: int, seed: int) -> None:
        """Prepare; nothing moves before `reset`."""
        super().__init__(MATCH_MODEL, scenario, num_envs, seed)


class MatchPrograms(NamedTuple):
    """Compiled parts of matches."""

    advance: Callable[..., TeamWorld]
    """(world, command, draws, plan) -> the world one decision later."""
    views: Callable[[TeamWorld], LocalView]


class CompiledMatchSim(MatchSim):
    """Matches as those of `MatchSim`, compiled by XLA."""

    def __init__(self, scenario: MatchScenario, programs: MatchPrograms, num_envs: int, seed: int) -> None:
        """Prepare; the first decision compiles the programs, if no other matches have."""
        super().__init__(scenario, num_envs, seed)
        self._programs = programs

    def _advance(self, world: TeamWorld, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None) -> TeamWorld:
        import jax

        return jax.tree.map(np.asarray, self._programs.advance(world, command, draws, plan=plan))

    def views(self) -> LocalView:
        """Return the views of all robots now, [E, M, ...]."""
        import jax

        return jax.tree.map(np.asarray, self._programs.views(self.world))


def compiled(scenario: MatchScenario) -> Callable[[int, int], CompiledMatchSim]:
    """Scenario -> function (E, seed) -> E matches side by side; the first ones compile the programs of all."""
    import jax

    programs = MatchPrograms(
        jax.jit(partial(MATCH_MODEL.advance, scenario)), jax.jit(partial(MATCH_MODEL.views, scenario))
    )
    return partial(CompiledMatchSim, scenario, programs)


def make_matches(scenario: MatchScenario, sim: str, num_envs: int, seed: int) -> ModelSim:
    """E matches on the engine of that name; raises `UserError` where there is none."""
    if sim not in SIMS:
        raise UserError(f"--sim {sim} plays no volleyball; allowed: {', '.join(SIMS)}.")
    if sim == "fast":
        return MatchSim(scenario, num_envs, seed)
    from robomarl.domains.volleyball.lab.engines.mujoco import VolleyMujoco

    class MatchMujoco(EqualServes, VolleyMujoco):
        """E matches on MuJoCo."""

    return MatchMujoco((MATCH_MODEL, judged), scenario, num_envs, seed)
