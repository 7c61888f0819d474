"""Copies of one MuJoCo model, stepped side by side in a pool of threads (`mujoco.rollout`)."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
import os

import mujoco
import numpy as np
from mujoco import rollout

_STATE = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)


class Rollouts:
    """E simulations; write `state` and `input`, call `step`, read `state` and `sensed`.

    `state` is [E, S] full physics (time first), `input` [E, steps, C] the inputs in each of MuJoCo's
    steps, `sensed` [E, steps, D] the sensors after each. `models` may be replaced by E models of equal
    shape.
    """

    def __init__(
        self, model: mujoco.MjModel, num_envs: int, inputs: int, steps: int, threads: int | None = None
    ) -> None:
        """Set up the pool.

        Args:
            model: compiled.
            num_envs: E.
            inputs: bits of `mujoco.mjtState` that are inputs.
            steps: MuJoCo's steps in a call of `step`.
            threads: in the pool; by default one for each of at most 8 cores, and none for one simulation.
        """
        threads = threads or min(os.cpu_count() or 1, 8, num_envs)
        self._pool = rollout.Rollout(nthread=threads if threads > 1 else 0)
        self._workers = [mujoco.MjData(model) for _ in range(threads)]
        self._inputs = inputs
        self.models = [model] * num_envs
        self.state = np.zeros((num_envs, mujoco.mj_stateSize(model, _STATE)))
        self.input = np.zeros((num_envs, steps, mujoco.mj_stateSize(model, inputs)))
        self.sensed = np.zeros((num_envs, steps, model.nsensordata))
        self._next = np.zeros((num_envs, steps, self.state.shape[1]))

    @property
    def scratch(self) -> mujoco.MjData:
        """Data that nothing is kept in between two calls of `step`."""
        return self._workers[0]

    def step(self) -> None:
        """All simulations, `steps` of MuJoCo's steps on."""
        self._pool.rollout(
            self.models,
            self._workers,
            self.state,
            self.input,
            control_spec=self._inputs,
            skip_checks=True,
            nstep=self.input.shape[1],
            state=self._next,
            sensordata=self.sensed,
        )
        self.state[:] = self._next[:, -1]
