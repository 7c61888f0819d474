"""`ShuttleLaw`: flight to and fro between places along a square-root profile of the speed. Array-generic.

A vehicle that brakes in front of a place has the tilt with which it then flies back, so it turns its
tilt once on each leg, in the middle. It aims at a point in front of the place, within its sphere.
"""

from typing import NamedTuple

from robomarl.core.geometry import namespace, norm
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.domains.volleyball.lab.scenario import VolleyScenario


class ShuttleGains(NamedTuple):
    """Numbers of the law."""

    push_m_s2: float = 11.0
    """Largest horizontal acceleration."""
    brake_m_s2: float = 9.0
    """Deceleration that the profile of the speed assumes."""
    short_m: float = 0.5
    """Distance of the point that it aims at from the place, on the side of the vehicle."""
    ahead_s: float = 0.15
    """Time by which the position is predicted."""
    speed_per_s: float = 6.0
    """Acceleration over the error of the speed."""
    height_per_s2: float = 8.0
    """Vertical acceleration over the error of the height ..."""
    climb_per_s: float = 4.0
    """... and over the vertical speed."""


class ShuttleLaw:
    """(drone, its place) -> acceleration and yaw rate."""

    search_step = ShuttleGains(4.0, 4.0, 0.2, 0.1, 4.0, 4.0, 2.0)
    search_least = ShuttleGains(5.0, 4.0, 0.0, 0.0, 1.0, 1.0, 1.0)

    def __init__(self, scenario: VolleyScenario, gains: ShuttleGains | None = None) -> None:
        """Take the scenario's vehicle."""
        self._scenario = scenario
        self.search_from = ShuttleGains()
        self.gains = gains or self.search_from
        self.observation = ObservationSpec(tuple(map(ObservationField, ("velocity", "goal_error"))), scenario.rule)

    def with_gains(self, gains: ShuttleGains) -> "ShuttleLaw":
        """Return this law with other gains."""
        return ShuttleLaw(self._scenario, gains)

    def act(self, obs: Array) -> Array:
        """Observation [..., O] -> command [..., 4]."""
        xp, gains = namespace(obs), self.gains
        velocity, away = obs[..., :3], obs[..., 3:6]
        flat = away[..., :2] - gains.ahead_s * velocity[..., :2]
        size = xp.sqrt((flat * flat).sum(-1, keepdims=True) + 1e-6)
        far = size - gains.short_m
        speed = xp.sign(far) * xp.sqrt(2 * gains.brake_m_s2 * xp.abs(far) + 1e-6)
        push = gains.speed_per_s * (speed * flat / size - velocity[..., :2])
        push = push * xp.minimum(1.0, gains.push_m_s2 / xp.maximum(norm(push)[..., None], 1e-3))
        lift = gains.height_per_s2 * away[..., 2:] - gains.climb_per_s * velocity[..., 2:]
        return xp.concatenate([push, lift, lift * 0], -1)
