"""`HitLaw`: a run-up along a searched course to the ball that falls from rest. Array-generic.

The ball's speed says how long it has fallen, and its place and speed say where it fell from. From
there the vehicle follows an acceleration that is linear between knots in time, with feedback of its
place and speed; once the ball is gone it returns to its anchor.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import join, namespace
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.domains.volleyball.core.terminal_lq import gains_at
from robomarl.domains.volleyball.lab.controllers.residual import ResidualWeights, added, corrected, new_weights
from robomarl.domains.volleyball.lab.controllers.strike import BALL, READS, CourtSeen, seen_of
from robomarl.domains.volleyball.lab.scenario import VolleyScenario

KNOTS = 12
"""Knots of the course along each axis ..."""
KNOT_S = 0.08
"""... and the time from one to the next."""
STEPS = 48
"""Rows of the course's table, one for each decision."""
GONE_M_S = -1.0
"""Speed along x below which the ball has been hit."""
NO_NETWORK = ((), (), ())
"""Layers of a law without a network."""
HOME_PER_S2, HOME_PER_S = 4.0, 3.5
"""Back to the anchor: acceleration over offset, and over speed ..."""
HOME_M_S2 = (3.0, 3.0, 5.0)
"""... and the largest on each axis."""


class RunUpGains(NamedTuple):
    """Numbers of the law: the acceleration [m/s^2] at each knot, without feedback, and the feedback."""

    push_0: float = 1.6
    """Acceleration along x."""
    push_1: float = 1.2
    push_2: float = 0.1
    push_3: float = -0.8
    push_4: float = -1.8
    push_5: float = -3.0
    push_6: float = -4.2
    push_7: float = -6.1
    push_8: float = -8.8
    push_9: float = -7.8
    push_10: float = -6.2
    push_11: float = -6.7
    lift_0: float = 4.3
    """Upwards."""
    lift_1: float = 6.1
    lift_2: float = 7.9
    lift_3: float = 12.0
    lift_4: float = 9.1
    lift_5: float = 2.2
    lift_6: float = -1.4
    lift_7: float = 0.3
    lift_8: float = 10.0
    lift_9: float = 1.2
    lift_10: float = -4.2
    lift_11: float = -2.3
    place_per_s2: float = 27.0
    """In the plane: acceleration over the offset from the course ..."""
    slow_per_s: float = 4.0
    """... and over the error of the speed."""
    height_per_s2: float = 27.0
    """Upwards: acceleration over the offset in height."""
    climb_per_s: float = 4.0
    keep: float = 0.0
    """Share of the tilt that the command lets be: turning back takes lift away."""
    aside_m: float = 0.0
    """Offset of the course along x."""
    first: Array = ()
    """Layers of the network that adds to the command until the hit, see `ResidualWeights`; (): there is none."""
    second: Array = ()
    last: Array = ()


class HitLaw:
    """(drone, anchor, ball) -> acceleration and yaw rate."""

    search_step = RunUpGains._make([*[4.0] * (2 * KNOTS), 10.0, 3.0, 10.0, 3.0, 0.25, 0.1, *NO_NETWORK])
    search_least = RunUpGains._make([*[-14.0] * (2 * KNOTS), 0.5, 0.5, 0.5, 0.5, -0.5, -0.4, *NO_NETWORK])

    def __init__(self, scenario: VolleyScenario, gains: RunUpGains | None = None) -> None:
        """Work out the course."""
        self._scenario = scenario
        self.search_from = RunUpGains()
        self.gains = gains or self.search_from
        pushes, lifts = self.gains[:KNOTS], self.gains[KNOTS : 2 * KNOTS]
        self._course = course(pushes, scenario.period_s), course(lifts, scenario.period_s)
        self.observation = ObservationSpec(tuple(map(ObservationField, (*READS, *BALL))), scenario.rule)

    def with_gains(self, gains: RunUpGains) -> "HitLaw":
        """Return this law with other gains."""
        return HitLaw(self._scenario, gains)

    def act(self, obs: Array) -> Array:
        """Observation [..., O] -> command [..., 4]."""
        seen, xp, limits = seen_of(obs), namespace(obs), self._scenario.vehicle_config.limits
        ends = tuple(zip(limits.accel_min_m_s2, limits.accel_max_m_s2, strict=True))
        run_up, is_gone = self.run_up(seen), seen.ball_vel[0] < GONE_M_S
        if len(self.gains.first):
            more = added(ResidualWeights(self.gains.first, self.gains.second, self.gains.last), seen)
            run_up = [corrected(run, extra, *end) for run, extra, end in zip(run_up, more, ends, strict=True)]
        each = [
            xp.clip(xp.where(is_gone, home, run), *end)
            for run, home, end in zip(run_up, self.home(seen), ends, strict=True)
        ]
        return join([*each, each[0] * 0])

    def with_network(self, seed: int) -> RunUpGains:
        """Return the gains with a new network, which adds nothing yet."""
        return self.gains._replace(**new_weights(seed)._asdict())

    def run_up(self, seen: CourtSeen) -> list[Array]:
        """Acceleration [m/s^2] along the course."""
        gains, fallen_s = self.gains, -seen.ball_vel[2] / GRAVITY_M_S2
        from_m = seen.ball[2] + seen.ball_vel[2] * seen.ball_vel[2] / (2 * GRAVITY_M_S2)
        low = from_m - self._scenario.start.ball_above_m
        to_go = fallen_s / self._scenario.period_s + 1
        along, upward = (gains_at(table, to_go) for table in self._course)
        still, lean = 0 * along, gains.keep * GRAVITY_M_S2
        each = zip((seen.ball[0] + gains.aside_m, seen.ball[1], low), (along, still, upward), strict=True)
        place = gains.place_per_s2, gains.place_per_s2, gains.height_per_s2
        slow = gains.slow_per_s, gains.slow_per_s, gains.climb_per_s
        kept = lean * seen.up[0], lean * seen.up[1], 0.0
        return [
            want[..., 2]
            + place[i] * (start + want[..., 0] - seen.pos[i])
            + slow[i] * (want[..., 1] - seen.vel[i])
            + kept[i]
            for i, (start, want) in enumerate(each)
        ]

    def home(self, seen: CourtSeen) -> list[Array]:
        """Acceleration [m/s^2] back to the anchor; gentle, since a vehicle that tilts far falls."""
        xp, each = namespace(seen.pos[0]), zip(seen.anchor, seen.pos, seen.vel, HOME_M_S2, strict=True)
        return [xp.clip(HOME_PER_S2 * (goal - at) - HOME_PER_S * speed, -most, most) for goal, at, speed, most in each]


def course(knots: tuple[Array, ...], dt_s: float) -> Array:
    """Place [m], speed [m/s] and acceleration [m/s^2] at the decisions, [STEPS, 3], from rest.

    Args:
        knots: acceleration at each knot.
        dt_s: time between decisions.
    """
    xp = namespace(*knots)
    at = np.arange(STEPS, dtype=np.float32) * dt_s / KNOT_S
    shares = np.maximum(1 - np.abs(at[:, None] - np.arange(KNOTS, dtype=np.float32)), 0.0)
    push = xp.asarray(shares) @ xp.stack([xp.asarray(knot, dtype="float32") for knot in knots])
    speed = xp.concatenate([push[:1] * 0, xp.cumsum(push[:-1] * dt_s)])
    place = xp.concatenate([push[:1] * 0, xp.cumsum((speed[:-1] + push[:-1] * (dt_s / 2)) * dt_s)])
    return xp.stack([place, speed, push], -1)
