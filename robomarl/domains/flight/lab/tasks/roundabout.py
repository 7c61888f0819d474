"""`RoundaboutLaw`: teams that trade places keep right, each robot on an arc to its goal; for policies to imitate."""

import numpy as np

from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.sim.law import ArcPace, keep_right

SLOPE_PER_S = 2.0
"""Wanted speed over the distance, near the goal."""
GAIN_PER_S = 4.0
"""Acceleration over the error of the velocity."""
TURN_PER_S = 1.0
"""Yaw rate over the error of the heading."""


class RoundaboutLaw:
    """Acceleration and yaw rate [..., 4] from a robot's own observations."""

    observation = ObservationSpec(tuple(map(ObservationField, ("goal_error", "velocity", "heading_error"))))

    def __init__(self, scenario: FlightScenario) -> None:
        """Take the limits of the scenario's vehicle, and the radius of its ring."""
        self._low, self._high = scenario.command_limits
        self._pace = ArcPace(scenario.start.ring_radius_m, scenario.vehicle_config.limits.speed_m_s, SLOPE_PER_S)

    def act(self, obs: Array) -> Array:
        """Return the commands for observations [..., 8]."""
        error, vel = obs[..., :3], obs[..., 3:6]
        wanted, bend = keep_right(error, self._pace)
        rate = TURN_PER_S * np.arctan2(obs[..., 6], obs[..., 7])
        return np.clip(np.concatenate([GAIN_PER_S * (wanted - vel) + bend, rate[..., None]], -1), self._low, self._high)
