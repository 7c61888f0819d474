"""`StraightLaw`: straight to the goal, of which the safety filter makes what can be. Array-generic.

Where a scenario lets policies set the filter's gain, this is all that they do not learn.
"""

from typing import Any

from robomarl.domains.ground.controllers.waypoint import Driving, acceleration, approach
from robomarl.hardware_configs.vehicle import DifferentialDrive
from robomarl.spec import ObservationField, ObservationSpec
from robomarl.types import Array


class StraightLaw:
    """(offset to the goal, what the robot does) -> acceleration and yaw rate, as `waypoint` has them."""

    count = 4

    def __init__(self, scenario: Any) -> None:
        """Take the vehicle's limits."""
        self._scenario = scenario
        self._turns = isinstance(scenario.vehicle_config, DifferentialDrive)
        state = ("heading", "speed_and_turn") if self._turns else ("velocity",)
        self.observation = ObservationSpec(tuple(map(ObservationField, ("goal_offset", *state))))

    def act(self, obs: Array) -> Array:
        """Observation [..., O] -> command [..., 4]."""
        return acceleration(self._scenario, self._driving(obs), approach(self._scenario, obs[..., :2]))

    def _driving(self, obs: Array) -> Driving:
        if not self._turns:
            return Driving(obs[..., :2], obs[..., 2:4], obs[..., 0])
        heading, forward, turn = obs[..., 2:4], obs[..., 4:5], obs[..., 5]
        return Driving(heading, forward * heading, turn)
