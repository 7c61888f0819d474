"""`PlaceLaw`: each carrier flies to where it would hold the load at its goal, seeing nobody else.

What a decentralized team can do without learning, and what a policy is taught first: a position controller on the
feature `place_error`, and a damper. A low-level controller that cancels the cable's pull leaves nothing that calms a
swinging load: under vehicles that stand still it swings for a minute. So each vehicle also goes along with its point
of the load, whose velocity it takes from the last measured poses. What is left are the errors that the configuration
does not know of: cable lengths, centre of mass.
"""

import numpy as np

from robomarl.geometry import namespace
from robomarl.sim.scenario import Scenario
from robomarl.spec import ObservationField, ObservationSpec
from robomarl.types import Array

POSITION_PER_S = 1.5
"""Wanted speed over distance to the place."""
VELOCITY_PER_S = 3.0
"""Wanted acceleration over velocity error."""
DAMPING_PER_S = 0.8
"""Acceleration against the velocity of the point where the own cable is tied to the load."""
HISTORY = 3
"""Measured poses that this velocity is taken from."""


class PlaceLaw:
    """Acceleration and body rates [..., N, 5] from what carriers observe."""

    observation = ObservationSpec(
        (ObservationField("place_error"), ObservationField("velocity"), ObservationField("point_error", HISTORY))
    )

    def __init__(self, scenario: Scenario) -> None:
        """Take the limits of the scenario's vehicle."""
        self._low, self._high = scenario.command_limits
        self._span_s = (HISTORY - 1) * scenario.period_s

    def act(self, obs: Array) -> Array:
        """The command for an observation [..., 15], within the vehicle's limits; no body rates.

        The point's velocity is minus the rate of its error. Its noise is large, its integral, the vehicle's
        velocity, is not.
        """
        xp = namespace(obs)
        place, velocity, oldest, newest = obs[..., :3], obs[..., 3:6], obs[..., 6:9], obs[..., -3:]
        swing = (oldest - newest) / self._span_s
        accel = VELOCITY_PER_S * (POSITION_PER_S * place - velocity) - DAMPING_PER_S * swing
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
        """(carry, obs [..., 15]) -> (carry, action [..., 5])."""
        return carry, self._law.act(obs)
