"""`MujocoSim`: a batch of teams of a `Model`, moved by MuJoCo."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.

import mujoco
import numpy as np

from robomarl.core.view import Plan
from robomarl.lab.sim.engines.rollouts import Rollouts
from robomarl.lab.sim.model.batch import ModelSim
from robomarl.lab.sim.model.model import Model
from robomarl.lab.sim.model.world import TeamWorld
from robomarl.lab.sim.scenario import Scenario


class MujocoSim(ModelSim):
    """E teams; all changes by a decision, except those of places and velocities, are the model's own."""

    def __init__(self, model: Model, scenario: Scenario, num_envs: int, seed: int) -> None:
        """Compile the XML."""
        super().__init__(model, scenario, num_envs, seed)
        assert model.mujoco is not None, "see `make_model_sim`"
        self._bridge = model.mujoco(scenario)
        compiled = mujoco.MjModel.from_xml_string(self._bridge.xml)
        compiled.opt.timestep = scenario.physics_dt_s
        self._joints = compiled.nq
        control = int(mujoco.mjtState.mjSTATE_CTRL)
        self._rollouts = Rollouts(compiled, num_envs, control, scenario.substeps)

    def _advance(self, world: TeamWorld, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None) -> TeamWorld:
        allowed = self.model.clipped(self.scenario, command)
        after = self.model.move(self.scenario, world, allowed, draws)
        rollouts, (qpos, qvel) = self._rollouts, self._bridge.joints(world)
        rollouts.state[:, 1:] = np.concatenate([qpos, qvel], -1)  # time comes first
        rollouts.input[:] = np.asarray(self._bridge.control(world, allowed))[:, None]
        rollouts.step()
        moved = rollouts.state[:, 1:].astype(np.float32)
        after = self._bridge.moved(after, moved[:, : self._joints], moved[:, self._joints :])
        return self.model.completed(self.scenario, world, after, plan)
