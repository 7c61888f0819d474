"""`PlaceLaw`: each carrier flies to where it would hold the load at its goal, seeing nobody else.

What a decentralized team can do without learning, and what a policy is taught first: a position controller on the
feature `place_error`. It leaves the errors that the configuration does not know of: cable lengths, centre of mass.
"""

import numpy as np

from robomarl.geometry import namespace
from robomarl.sim.scenario import Scenario
from robomarl.spec import ObservationField, ObservationSpec
from robomarl.types import Array
from robomarl.view import LocalView

POSITION_PER_S = 1.5
"""Wanted speed over distance to the place."""
VELOCITY_PER_S = 3.0
"""Wanted acceleration over velocity error."""


class PlaceLaw:
    """Acceleration and body rates [..., N, 5] from the views of carriers."""

    observation = ObservationSpec((ObservationField("place_error"), ObservationField("velocity")))

    def __init__(self, scenario: Scenario) -> None:
        """Take the limits of the scenario's vehicle."""
        self._low, self._high = scenario.command_limits

    def __call__(self, view: LocalView) -> Array:
        """The command, within the vehicle's limits; no body rates."""
        return self.act(self.observation.observe((), view)[1])

    def act(self, obs: Array) -> Array:
        """The same from place error and velocity, [..., 6]."""
        xp = namespace(obs)
        accel = VELOCITY_PER_S * (POSITION_PER_S * obs[..., :3] - obs[..., 3:6])
        command = xp.concatenate([accel, xp.zeros_like(accel[..., :2])], -1)
        return xp.clip(command, self._low, self._high).astype(np.float32)


class LawPolicy:
    """The law with the interface of a trained policy: `robomarl eval law --scenario lift_3`."""

    def __init__(self, scenario: Scenario) -> None:
        """Take the scenario's vehicle."""
        from robomarl.sim.tasks import task_of

        self.name = "law"
        self.scenario_name = scenario.name
        self.vehicle_name = scenario.vehicle_config.name
        self.observation = PlaceLaw.observation
        self.action = task_of(scenario).action(scenario)
        self._law = PlaceLaw(scenario)

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """No memory."""
        return ()

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """(carry, obs [..., 6]) -> (carry, action [..., 5])."""
        return carry, self._law.act(obs)
