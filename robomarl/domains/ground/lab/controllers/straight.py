"""`StraightLaw` and `AroundLaw`: controllers towards the goal, within the limits that the safety
filter sets. Array-generic.

If a scenario lets policies set the filter's gain, this is the only part that they do not learn.
"""

from robomarl.core.features import FEATURES
from robomarl.core.hardware.vehicle import DifferentialDrive
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.domains.ground.core.features import within
from robomarl.domains.ground.lab.controllers.room import backed_off
from robomarl.domains.ground.lab.controllers.shortest_paths import ShortestPaths
from robomarl.domains.ground.lab.controllers.waypoint import Driving, acceleration, approach
from robomarl.domains.ground.lab.scenario import GroundScenario

ROOM_M = 0.6
"""A robot at its goal makes room for teammates within this distance [m] ..."""
AWAY_M = 0.25
"""... and stays so near to it."""


class StraightLaw:
    """Controller: (offset to the goal, motion of the robot) -> acceleration and yaw rate, as `waypoint` defines
    them.
    """

    count = 4
    reads: tuple[str, ...] = ("goal_offset",)
    """Features that say where to; those of how the robot moves come after them."""

    def __init__(self, scenario: GroundScenario) -> None:
        """Take the vehicle's limits."""
        self._scenario = scenario
        self._turns = isinstance(scenario.vehicle_config, DifferentialDrive)
        state = ("heading", "speed_and_turn") if self._turns else ("velocity",)
        fields = tuple(map(ObservationField, (*self.reads, *state)))
        self.observation = ObservationSpec(fields, scenario.rule)
        self._moves_at = ObservationSpec(fields[: len(self.reads)], scenario.rule).size

    def act(self, obs: Array) -> Array:
        """Observation [..., O] -> command [..., 4]."""
        driving = self._driving(obs[..., self._moves_at :])
        return acceleration(self._scenario, driving, approach(self._scenario, self._offset(obs)))

    def _offset(self, obs: Array) -> Array:
        """[..., 2] from the robot to where it wants."""
        return obs[..., :2]

    def _driving(self, state: Array) -> Driving:
        if not self._turns:
            return Driving(state[..., :2], state[..., :2], state[..., 0])
        heading, forward, turn = state[..., :2], state[..., 2:3], state[..., 3]
        return Driving(heading, forward * heading, turn)


class AroundLaw(StraightLaw):
    """Controller along the shortest path around the obstacles, so that a robot that was pushed aside finds back into
    a lane; a robot at its goal makes room for teammates that want past.
    """

    reads = ("goal_in_plane", "place", "mates_in_plane")

    def __init__(self, scenario: GroundScenario) -> None:
        """Take the floor, too."""
        super().__init__(scenario)
        self._paths = ShortestPaths(scenario)

    def _offset(self, obs: Array) -> Array:
        goal, place = obs[..., :2], obs[..., 2:4]
        rows = self.observation.neighbours.count, len(FEATURES["mates_in_plane"].parts)
        mates = obs[..., 4 : self._moves_at].reshape(*obs.shape[:-1], *rows)
        room = backed_off(goal - place, mates[..., :2], mates[..., -1] > 0, ROOM_M)
        return within(within(self._paths.offset(place, goal)) + within(room, AWAY_M))
