"""`PlaceLaw`: each carrier flies to where it would hold the load at its goal, seeing nobody else.

What a decentralized team can do without learning, and what a policy is taught first: a position controller on the
feature `place_error`, and a damper. A low-level controller that cancels the cable's pull leaves nothing that calms a
swinging load: under vehicles that stand still it swings for a minute. So each vehicle also goes along with its point
of the load, whose velocity it takes from the last measured poses. What is left are the errors that the configuration
does not know of: cable lengths, centre of mass.
"""

from typing import NamedTuple

import numpy as np

from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.payload.onboard.features import AHEAD_M
from robomarl.geometry import namespace, norm
from robomarl.spec import ObservationField, ObservationSpec
from robomarl.types import Array


class Gains(NamedTuple):
    """What `robomarl.train.policy_search.search` may change; as they are here, those of the law that nobody trained.

    Numbers, or arrays that broadcast with [..., N, 3].
    """

    position_near_per_s: Array | float = 1.5
    """Wanted speed over distance to the place, under a cable of 1 m, when the load is at its goal ..."""
    position_far_per_s: Array | float = 1.5
    """... and when it is far from it. Shorter cables swing faster, and the gains grow with it: less than the pendulum's
    frequency, because motors and delay stay what they are."""
    velocity_per_s: Array | float = 3.0
    """Wanted acceleration over velocity error."""
    damping_near_per_s: Array | float = 0.8
    """Acceleration against the velocity of the point where the own cable is tied to the load, at the goal ..."""
    damping_far_per_s: Array | float = 0.8
    """... and far from it."""
    answer: Array | float = 0.0
    """Share of the own point's error that the place is moved by, which takes away what the configuration does not
    know ..."""
    answer_most_m: Array | float = 0.0
    """... and how far at most: a team that answers more makes its load swing."""


NEAR_M = 0.3
"""Half-way between near and far the load is so far from its goal."""
HISTORY = 3
"""Measured poses that this velocity is taken from."""
LEAD_M = 0.5
"""How far ahead of itself the load is led, where short cables keep the place nearer to it."""
UPRIGHT = 0.5
"""Cosine of the tilt below which a vehicle first of all gets away from the load, to the side: what it pushes on its
way to upright throws it at a mate."""

EASE_M_S2 = 2.0
"""Downward acceleration meanwhile. More of it, and a vehicle that never gets upright falls like a stone."""


class PlaceLaw:
    """Acceleration and body rates [..., N, 5] from what carriers observe."""

    search_from = Gains(answer=0.3, answer_most_m=0.015)
    search_step = Gains(1.5, 1.5, 3.0, 0.8, 0.8, 1.0, 0.05)
    search_least = Gains(0.2, 0.2, 0.5, 0.0, 0.0, 0.0, 0.0)

    observation = ObservationSpec(
        (
            *map(ObservationField, ("place_error", "velocity", "own_axes", "cable", "load_error")),
            ObservationField("point_error", HISTORY),
        )
    )

    def __init__(self, scenario: FlightScenario, gains: Gains | None = None) -> None:
        """Take the limits of the scenario's vehicle; `gains` by default those that nobody searched."""
        assert scenario.cables is not None, "the law is one of carriers"
        self._scenario, self.gains = scenario, gains or Gains()
        self._low, self._high = scenario.command_limits
        self._span_s = (HISTORY - 1) * scenario.period_s
        length = scenario.cables.length_m
        self._faster = length ** (-1 / 3)
        self._lead_m = max(LEAD_M - min(AHEAD_M, 0.5 * length), 0.0)

    def with_gains(self, gains: Gains) -> "PlaceLaw":
        """The same law with others."""
        return PlaceLaw(self._scenario, gains)

    def act(self, obs: Array) -> Array:
        """The command for an observation [..., 30], within the vehicle's limits; no body rates.

        The point's velocity is minus the rate of its error. Its noise is large, its integral, the vehicle's
        velocity, is not.
        """
        xp = namespace(obs)
        place, velocity, axes, cable, way = (obs[..., a:b] for a, b in ((0, 3), (3, 6), (6, 15), (15, 18), (18, 21)))
        g, error = self.gains, obs[..., -3:]
        swing = (obs[..., 21:24] - error) / self._span_s
        left = norm(way)[..., None]
        far = left / (left + NEAR_M)
        place = place + way * xp.minimum(1.0, self._lead_m / (left + 1e-6))
        place = place + error * xp.minimum(g.answer, g.answer_most_m / (norm(error)[..., None] + 1e-6))
        position = g.position_near_per_s + far * (g.position_far_per_s - g.position_near_per_s)
        damping = g.damping_near_per_s + far * (g.damping_far_per_s - g.damping_near_per_s)
        wanted = self._faster * position * place - velocity
        accel = self._faster * (g.velocity_per_s * wanted - damping * swing)
        accel = xp.where(axes[..., 8:] < UPRIGHT, self._away(cable), accel)
        command = xp.concatenate([accel, xp.zeros_like(accel[..., :2])], -1)
        return xp.clip(command, self._low, self._high).astype(np.float32)

    def _away(self, cable: Array) -> Array:
        """[..., 3] hard away from the load to the side, with less thrust than weight."""
        xp = namespace(cable)
        side = cable[..., :2] / (norm(cable[..., :2]) + 1e-6)[..., None] * self._high[0]
        return xp.concatenate([side, side[..., :1] * 0 - EASE_M_S2], -1)


class LawPolicy:
    """The law with the interface of a trained policy: `robomarl eval law --scenario lift_3`."""

    def __init__(self, scenario: FlightScenario) -> None:
        """Take the scenario's vehicle."""
        from robomarl.domains.flight.tasks import task_of

        self.name = "law"
        self.scenario_name = scenario.name
        self.vehicle_name = scenario.vehicle_config.name
        task = task_of(scenario)
        assert task.law is not None, "a scenario of carriers has a law"
        self._law = task.law(scenario)
        self.observation, self.action = self._law.observation, task.action(scenario)

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """No memory."""
        return ()

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """(carry, obs [..., O]) -> (carry, action [..., 5])."""
        return carry, self._law.act(obs)
