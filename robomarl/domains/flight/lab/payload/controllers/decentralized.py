"""`PlaceLaw`: each carrier flies to the place where it would hold the load at its goal, without
observing teammates.

This is the reference for a decentralized team without learning, and the first teacher of a
policy: a position controller on the feature `place_error`, and a damper. A low-level controller
that cancels the cable's pull leaves nothing that calms a swinging load: under vehicles that stand
still it swings for a minute. So each vehicle also follows its point of the load, with the
velocity computed from the last measured poses. Errors remain that the configuration does not
know: cable lengths, centre of mass. If the scenario gives a time over which a goal is watched
(`load.follow_s`), the vehicle flies along with the goal. If it gives a time over which carriers
remember (`remembered_s`), a carrier that lost a teammate leans its cable out (`lost_mate`). If it
gives a time over which carriers trim (`load.trim_s`), errors that last move the place (`trim`).
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.domains.flight.core.payload.features import AHEAD_M, AHEAD_RAD, MAX_INDEX
from robomarl.domains.flight.lab.payload.controllers.goal_motion import GoalMotion, goal_fields
from robomarl.domains.flight.lab.payload.controllers.lost_mate import lasting_fields, leaning, outwards, rotated
from robomarl.domains.flight.lab.payload.controllers.trim import trim_fields
from robomarl.domains.flight.lab.scenario import FlightScenario


class Gains(NamedTuple):
    """Gains that `robomarl.lab.train.policy_search.search` may change; the defaults are those of the
    controller before any search.

    Numbers, or arrays that broadcast with [..., N, 3].
    """

    position_near_per_s: Array | float = 1.5
    """Wanted speed over distance to the place, under a cable of 1 m, when the own point is where it should be ..."""
    position_far_per_s: Array | float = 1.5
    """... and when it is far from there. Shorter cables swing faster, and the gains grow with it, but less than the
    pendulum's frequency, because motors and delay do not change.
    """
    velocity_near_per_s: Array | float = 3.0
    """Wanted acceleration over velocity error, near ..."""
    velocity_far_per_s: Array | float = 3.0
    """... and far."""
    damping_near_per_s: Array | float = 0.8
    """Acceleration against the velocity of the point where the own cable is tied to the load, near ..."""
    damping_far_per_s: Array | float = 0.8
    """... and far."""
    answer: Array | float = 0.0
    """Fraction of the own point's error by which the place is moved, against errors that the configuration does not
    know ...
    """
    answer_most_m: Array | float = 0.0
    """... and how far at most: a team that answers more makes its load swing."""
    near_m: Array | float = 0.3
    """Half-way between near and far the own point is so far from where it should be."""
    lead_m: Array | float = 0.0
    """How much farther ahead of the load the place is while it is far ..."""
    turn_lead_rad: Array | float = 0.0
    """... and how much farther it is turned about the vertical; both set how fast a team travels and turns."""
    goal_accel: Array | float = 1.0
    """Share of its goal's acceleration that the vehicle flies along with ..."""
    goal_lead_s: Array | float = 0.2
    """... as it will be after this time: commands are late."""
    goal_lean_s2: Array | float = 0.1
    """How far ahead of a load that is to accelerate its vehicle is, over that acceleration: a pendulum's length over
    gravity."""
    goal_far_s: Array | float = 0.5
    """The gains of position, velocity and damping are as if the own point were off by the goal's speed times this."""
    lean_rad: Array | float = 2.0
    """How much farther the own cable leans outwards when a mate is lost; see `lost_mate` ..."""
    lean_from: Array | float = 0.6
    """... once the own point has been too high for more than this fraction of the time that
    `FlightScenario.remembered_s` covers ...
    """
    lean_reach: Array | float = 0.3
    """... how much longer than the cable its way there is, because the load gives way ..."""
    lean_high_m: Array | float = 0.1
    """... in full where the own point is too high by this ..."""
    lean_within_m: Array | float = 0.3
    """... how far the load may be from its goal; at twice that no cable leans, or the load were dragged along ..."""
    lean_far_m: Array | float = 0.5
    """... and by how much more than it is the own point is taken to be off then, for the gains."""
    trim: Array | float = 3.0
    """Displacement of the place over the mean of the own point's error; see `trim`."""


STEPS = Gains(1.5, 1.5, 3.0, 3.0, 0.8, 0.8, 1.0, 0.05, 0.3, 0.5, 0.5, 1.0, 0.2, 0.1, 0.5, *[0.0] * 6, trim=1.0)
"""Change of each gain that counts as a step of 1 in a search."""
FOLLOWING = ("goal_accel", "goal_lead_s", "goal_lean_s2", "goal_far_s")
"""Gains that matter where the goal moves."""
HISTORY = 3
"""Measured poses that this velocity is taken from."""
LEAD_M = 0.5
"""How far ahead of itself the load is led, where short cables keep the place nearer to it."""
UPRIGHT = 0.5
"""Cosine of the tilt below which a vehicle first moves away from the load, to the side: its thrust on the way to
upright throws it at a teammate.
"""

EASE_M_S2 = 2.0
"""Downward acceleration [m/s²] during that move. With more, a vehicle that never gets upright falls like a stone."""


class PlaceLaw:
    """Controller of carriers: acceleration and body rates [..., N, 5] from their observations."""

    search_from = Gains(answer=0.3, answer_most_m=0.015, lead_m=0.1, turn_lead_rad=0.2)
    search_least = Gains(0.2, 0.2, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.02, *[0.0] * 13)

    observation = ObservationSpec(
        (
            *map(ObservationField, ("place_error", "velocity", "own_axes", "cable", "load_error", "load_turn")),
            *map(ObservationField, ("load_axes", "own_index")),
            ObservationField("point_error", HISTORY),
        )
    )

    def __init__(self, scenario: FlightScenario, gains: Gains | None = None) -> None:
        """Take the limits of the scenario's vehicle; `gains` are by default those before any search."""
        assert scenario.cables is not None, "the law is one of carriers"
        self._scenario, self.gains = scenario, gains or Gains()
        self._low, self._high = scenario.command_limits
        self._span_s = (HISTORY - 1) * scenario.period_s
        length = scenario.cables.length_m
        self._points_m = np.zeros((MAX_INDEX, 3), np.float32)
        self._points_m[: scenario.count] = scenario.cables.load_points_m
        self._faster = length ** (-1 / 3)
        self._ahead_m = min(AHEAD_M, 0.5 * length)
        self._lead_m = max(LEAD_M - self._ahead_m, 0.0)
        follow_s = scenario.load.follow_s if scenario.load else 0.0
        self._goal = GoalMotion(follow_s, scenario.period_s) if follow_s else None
        moving = goal_fields(follow_s, scenario.period_s)
        self._moves, self._remembers = 3 * len(moving), scenario.remembered_s > 0
        trim = trim_fields(scenario.load.trim_s if scenario.load else 0.0, scenario.period_s)
        lasting = lasting_fields(scenario.remembered_s, scenario.period_s)
        self._trims, seen = len(trim) > 0, (*PlaceLaw.observation.fields, *moving, *lasting, *trim)
        self.observation = ObservationSpec(seen)

    def with_gains(self, gains: Gains) -> "PlaceLaw":
        """Return this controller with other gains."""
        return PlaceLaw(self._scenario, gains)

    @property
    def search_step(self) -> Gains:
        """Return the search steps: 0 for gains that follow a goal if the goal stays, 0 for all remaining gains if it
        moves.
        """
        moves = self._scenario.goal_path is not None
        steps = STEPS if self._trims else STEPS._replace(trim=0.0)
        return Gains(*(step if (name in FOLLOWING) == moves else 0.0 for name, step in steps._asdict().items()))

    def act(self, obs: Array) -> Array:
        """The command for an observation [..., 48 to 64], within the vehicle's limits; no body rates.

        The point's velocity is minus the rate of its error. Its noise is large, its integral, the vehicle's
        velocity, is not.
        """
        xp = namespace(obs)
        place, velocity, axes, cable, way, turn, load_axes, index = (obs[..., a:b] for a, b in _PARTS)
        g, error = self.gains, obs[..., 45:48]
        swing = (obs[..., 39:42] - error) / self._span_s
        left = norm(error)[..., None]
        far = left / (left + g.near_m)
        arm = place + cable + self._point(load_axes, index) - _limited(way, self._ahead_m)
        place = place + _limited(way, self._lead_m + far * g.lead_m)
        place = place + _turned(arm, xp.clip(turn[..., 2:], -far * g.turn_lead_rad, far * g.turn_lead_rad))
        leans, aside = self._lean(obs, arm)
        place = place + aside
        place = place + error * xp.minimum(g.answer, g.answer_most_m / (left + 1e-6))
        place = place + g.trim * obs[..., -3:] if self._trims else place
        lean, speed, along = self._along(obs)
        left = left + g.goal_far_s * norm(speed)[..., None] + g.lean_far_m * leans
        far = left / (left + g.near_m)
        position = g.position_near_per_s + far * (g.position_far_per_s - g.position_near_per_s)
        gain = g.velocity_near_per_s + far * (g.velocity_far_per_s - g.velocity_near_per_s)
        damping = g.damping_near_per_s + far * (g.damping_far_per_s - g.damping_near_per_s)
        wanted = self._faster * position * (place + lean) + speed - velocity
        accel = self._faster * (gain * wanted - damping * swing) + along
        accel = xp.where((axes[..., 8:] < UPRIGHT) & (leans <= 0), self._away(cable), accel)
        command = xp.concatenate([accel, xp.zeros_like(accel[..., :2])], -1)
        return xp.clip(command, self._low, self._high).astype(np.float32)

    def _along(self, obs: Array) -> tuple[Array, Array, Array]:
        """How far the place is ahead, how fast it moves, and the acceleration that takes, [..., 3] each."""
        if self._goal is None:
            return (obs[..., :3] * 0,) * 3
        g, (speed, accel, jerk) = self.gains, self._goal(obs[..., 48 : 48 + self._moves])
        return g.goal_lean_s2 * accel, speed + g.goal_lean_s2 * jerk, g.goal_accel * (accel + g.goal_lead_s * jerk)

    def _lean(self, obs: Array, arm: Array) -> tuple[Array, Array]:
        """Return the lean of the own cable, 0 to 1, and the displacement of the place by it; `arm` goes from the
        load to the place.
        """
        if not self._remembers:
            return obs[..., :1] * 0, obs[..., :3] * 0
        way, turn, error = obs[..., 18:21], obs[..., 21:24], obs[..., 45:48]
        share = leaning(self.gains, way, obs[..., 48 + self._moves : 49 + self._moves])
        point = rotated(self._point(obs[..., 24:33], obs[..., 33:39]), _limited(turn, AHEAD_RAD))
        return share, outwards(self.gains, share, (arm - point, point), (way - error)[..., 2:])

    def _point(self, load_axes: Array, index: Array) -> Array:
        """[..., 3] from the load to the point where the own cable is tied to it, world frame."""
        own = index @ self._points_m
        return sum(load_axes[..., 3 * i : 3 * i + 3] * own[..., i : i + 1] for i in range(3))

    def _away(self, cable: Array) -> Array:
        """[..., 3] hard away from the load to the side, with less thrust than weight."""
        xp = namespace(cable)
        side = cable[..., :2] / (norm(cable[..., :2]) + 1e-6)[..., None] * self._high[0]
        return xp.concatenate([side, side[..., :1] * 0 - EASE_M_S2], -1)


_PARTS = ((0, 3), (3, 6), (6, 15), (15, 18), (18, 21), (21, 24), (24, 33), (33, 39))
"""Slices in which `PlaceLaw.act` finds its inputs, except the own point's error and the goal's motion, which come
last.
"""


def _limited(vector: Array, most: Array | float) -> Array:
    """The vectors [..., 3], no longer than that."""
    return vector * namespace(vector).minimum(1.0, most / (norm(vector)[..., None] + 1e-6))


def _turned(arm: Array, angle: Array) -> Array:
    """Return the displacement of the end of an arm [..., 3] turned by an angle [..., 1] about the vertical [rad]."""
    xp = namespace(arm)
    sine, less = xp.sin(angle), 1 - xp.cos(angle)
    x, y = arm[..., :1], arm[..., 1:2]
    return xp.concatenate([-less * x - sine * y, sine * x - less * y, x * 0], -1)
