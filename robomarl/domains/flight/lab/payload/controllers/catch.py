"""`CatchLaw`: carriers that were thrown, in any attitude and with slack cables, catch their payload
and carry it on.

Each carrier has a sector of its own around the payload: a place at its cable's end, leaning
outwards from its own point, in the world and not in the payload's frame, because the payload
tumbles. Any further demand may use only a part of the acceleration, and is made of all carriers
alike: they brake and travel together. The part towards the own sector goes first; braking gets
the rest of the vehicle's thrust. Before they are there, each carrier moves away from teammates
that come too near. A carrier on its back asks for nothing else, and for hardly any lift: payload
and teammates fall as it does, so nothing comes nearer while it turns, and its thrust meanwhile
would throw it at them.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.domains.flight.lab.payload.start import outward
from robomarl.domains.flight.lab.scenario import FlightScenario


class CatchGains(NamedTuple):
    """Gains that `robomarl.lab.train.policy_search.search` may change; the defaults are those of the
    controller before any search.

    Numbers, or arrays that broadcast with [..., N, 3].
    """

    sector_per_s2: Array | float = 20.0
    """Level acceleration over the distance to the own sector ..."""
    sector_per_s: Array | float = 5.0
    """... and against the velocity relative to the payload."""
    height_per_s2: Array | float = 6.0
    """Acceleration over the height that is missing above the payload."""
    climb_per_s: Array | float = 3.0
    """Upward acceleration over the error of the team's velocity; level it is ..."""
    brake_per_s: Array | float = 2.0
    """... this ..."""
    brake_m_s2: Array | float = 1.5
    """... up to this acceleration."""
    travel_per_s: Array | float = 1.0
    """Velocity of the team over the payload's distance to its goal ..."""
    travel_m_s: Array | float = 1.2
    """... at most this."""
    turn_rad_s: Array | float = 2.0
    """Body rates of this size, roll and pitch together, help a vehicle on its back to turn."""
    turned_m_s2: Array | float = 4.0
    """Level acceleration of a vehicle on its back, at most: with more it never gets upright."""
    dodge_m_s2: Array | float = 12.0
    """Acceleration away from a mate that is to touch ..."""
    dodge_m: Array | float = 0.4
    """... and ever less, down to none where it will be so far away at the nearest. No search changes it: mates at rest
    in their sectors are 0.44 m apart, and with more they push each other for good ..."""
    dodge_s: Array | float = 0.2
    """... within this time."""


MATE = 8
"""Elements of the feature `neighbours` for each mate: place, velocity, age, and 1 where it is heard."""
HISTORY = 6
"""Measured poses from which the velocity relative to the payload is computed: two poses would show their noise."""


def observation(scenario: FlightScenario) -> ObservationSpec:
    """Payload, own state, goal, own index and mates; the payload's attitude does not matter."""
    now = ("load_error", "velocity", "own_axes", "body_rates", "neighbours")
    fields = (*map(ObservationField, now), ObservationField("cable", HISTORY), ObservationField("own_index"))
    return ObservationSpec(fields, scenario.radio.rule)


class CatchLaw:
    """Controller of thrown carriers: acceleration and body rates [..., N, 5] from their observations."""

    search_from = CatchGains(12.0, 3.0, 8.0, 4.5, 3.0, 4.0, 1.5, 3.0)
    search_step = CatchGains(12.0, 4.0, 8.0, 4.0, 3.0, 3.0, 1.5, 2.5, 2.0, 3.0, 10.0, 0.0, 0.15)
    search_least = CatchGains(3.0, 1.0, 2.0, 1.0, 0.5, 0.5, 0.4, 0.5, 0.0, 0.5, 0.0, 0.0, 0.02)

    def __init__(self, scenario: FlightScenario, gains: CatchGains | None = None) -> None:
        """Take the sectors and the limits of the scenario's vehicle; `gains` are by default those before any search."""
        assert scenario.cables is not None, "the law is one of carriers"
        self._scenario, self.gains = scenario, gains or CatchGains()
        now = map(ObservationField, ("load_error", "velocity", "own_index", "own_axes"))
        fields = (*now, ObservationField("cable", HISTORY), ObservationField("neighbours"))
        self.observation = ObservationSpec(fields, scenario.radio.rule)
        self._low, self._high = scenario.command_limits
        self._span_s = (HISTORY - 1) * scenario.period_s
        self._sector_m = outward(scenario.cables) * scenario.cables.length_m

    def with_gains(self, gains: CatchGains) -> "CatchLaw":
        """Return this controller with other gains."""
        return CatchLaw(self._scenario, gains)

    def act(self, obs: Array) -> Array:
        """Return the command for an observation [..., 39 + 8 k] with k teammates, within the vehicle's
        limits.

        The command has body rates for a vehicle on its back.
        """
        xp, g = namespace(obs), self.gains
        way, velocity, index, axes, cable = (obs[..., a:b] for a, b in _PARTS)
        dodge = away_from_all(g, obs[..., _PARTS[-1][1] :])
        parting = (cable - obs[..., 21:24]) / self._span_s
        aside = index[..., : len(self._sector_m)] @ self._sector_m - cable
        faster = _limited(g.travel_per_s * way, g.travel_m_s) - velocity
        level = g.sector_per_s2 * aside - g.sector_per_s * parting
        level = level[..., :2] + _limited(g.brake_per_s * faster[..., :2], g.brake_m_s2)
        up = g.height_per_s2 * aside[..., 2:] + g.climb_per_s * faster[..., 2:]
        command = xp.concatenate([xp.concatenate([level, up], -1) + dodge, xp.zeros_like(level)], -1)
        on_back = axes[..., 8:] < 0
        command = xp.where(on_back, self._turning(_limited(dodge[..., :2], g.turned_m_s2), axes), command)
        return xp.clip(command, self._low, self._high).astype(np.float32)

    def _turning(self, level: Array, axes: Array) -> Array:
        """The command of a vehicle on its back, from the level acceleration that it asks for, and its axes."""
        xp = namespace(axes)
        up = xp.zeros_like(level[..., :1]) + self._low[2]
        thrust = xp.concatenate([level, up + GRAVITY_M_S2], -1)
        # In the body: the thrust's direction (x, y), to which a turn about (-y, x) leads.
        x, y = ((thrust * axes[..., 3 * i : 3 * i + 3]).sum(-1, keepdims=True) for i in (0, 1))
        rates = xp.concatenate([-y, x], -1)
        return xp.concatenate([level, up, rates * (self.gains.turn_rad_s / (norm(rates)[..., None] + 1e-6))], -1)


_PARTS = ((0, 3), (3, 6), (6, 12), (12, 21), (36, 39))
"""Slices in which `CatchLaw.act` finds the load's error, velocity, index, axes and the newest pose of the cable."""


def _limited(vector: Array, most: Array | float) -> Array:
    """The vectors, no longer than that."""
    return vector * namespace(vector).minimum(1.0, most / (norm(vector) + 1e-6))[..., None]


def away_from_all(gains: CatchGains, mates: Array) -> Array:
    """[..., 3] acceleration away from mates that will be near, world [m/s^2].

    Args:
        gains: those of dodging are used.
        mates: [..., 8 k] the feature `neighbours`.
    """
    rows = (mates[..., at : at + MATE] for at in range(0, mates.shape[-1], MATE))
    return sum(away(gains, row[..., :3], row[..., 3:6]) * row[..., 7:] for row in rows)  # type: ignore[return-value]


def away(gains: CatchGains, place: Array, velocity: Array) -> Array:
    """Return the acceleration [..., 3] away from one teammate, at [..., 3] seen from the robot, with
    relative velocity [..., 3].

    It points away from the place where the teammate will be nearest within `dodge_s` if both keep
    their velocities.
    """
    xp, square = namespace(place), (velocity * velocity).sum(-1, keepdims=True)
    nearest_s = -(place * velocity).sum(-1, keepdims=True) / (square + 1e-4)
    nearest = place + velocity * xp.clip(nearest_s, 0.0, gains.dodge_s)
    far_m = norm(nearest)[..., None] + 1e-6
    return nearest / far_m * (-gains.dodge_m_s2 * xp.clip(1 - far_m / gains.dodge_m, 0.0, 1.0))
