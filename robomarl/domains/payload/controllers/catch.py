"""`CatchLaw`: carriers that were thrown, in any attitude and with slack cables, catch their payload and carry it on.

None sees a mate. What keeps them apart is that each has a sector of its own around the payload: a place at its cable's
end, leaning outwards from its own point, in the world and not in the payload's frame, for the payload tumbles. Whatever
else is wanted, it may ask only for a part of the acceleration, and asks all the same: they brake and
travel together. The part towards the own sector goes first; it is what is left of the vehicle's thrust that brakes.
"""

from typing import NamedTuple

import numpy as np

from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.payload.start import outward
from robomarl.geometry import namespace, norm
from robomarl.spec import ObservationField, ObservationSpec
from robomarl.types import Array


class CatchGains(NamedTuple):
    """What `robomarl.train.policy_search.search` may change; as they are here, those of the law that nobody searched.

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


HISTORY = 6
"""Measured poses that the velocity relative to the payload is taken from: two of them would tell their noise."""


class CatchLaw:
    """Acceleration and body rates [..., N, 5] from what carriers observe."""

    search_from = CatchGains(12.0, 3.0, 8.0, 4.5, 3.0, 4.0, 1.5, 3.0)
    search_step = CatchGains(12.0, 4.0, 8.0, 4.0, 3.0, 3.0, 1.5, 2.5)
    search_least = CatchGains(3.0, 1.0, 2.0, 1.0, 0.5, 0.5, 0.4, 0.5)

    observation = ObservationSpec(
        (
            *map(ObservationField, ("load_error", "velocity", "own_index")),
            ObservationField("cable", HISTORY),
        )
    )

    def __init__(self, scenario: FlightScenario, gains: CatchGains | None = None) -> None:
        """Take the sectors and the limits of the scenario's vehicle; `gains` by default those that nobody searched."""
        assert scenario.cables is not None, "the law is one of carriers"
        self._scenario, self.gains = scenario, gains or CatchGains()
        self._low, self._high = scenario.command_limits
        self._span_s = (HISTORY - 1) * scenario.period_s
        self._sector_m = outward(scenario.cables) * scenario.cables.length_m

    def with_gains(self, gains: CatchGains) -> "CatchLaw":
        """The same law with others."""
        return CatchLaw(self._scenario, gains)

    def act(self, obs: Array) -> Array:
        """The command for an observation [..., 30], within the vehicle's limits; no body rates."""
        xp, g = namespace(obs), self.gains
        way, velocity, index, cable = (obs[..., a:b] for a, b in ((0, 3), (3, 6), (6, 12), (27, 30)))
        parting = (cable - obs[..., 12:15]) / self._span_s
        aside = index[..., : len(self._sector_m)] @ self._sector_m - cable
        faster = _limited(g.travel_per_s * way, g.travel_m_s) - velocity
        level = g.sector_per_s2 * aside - g.sector_per_s * parting
        level = level[..., :2] + _limited(g.brake_per_s * faster[..., :2], g.brake_m_s2)
        up = g.height_per_s2 * aside[..., 2:] + g.climb_per_s * faster[..., 2:]
        command = xp.concatenate([level, up, xp.zeros_like(level)], -1)
        return xp.clip(command, self._low, self._high).astype(np.float32)


def _limited(vector: Array, most: Array | float) -> Array:
    """The vectors, no longer than that."""
    return vector * namespace(vector).minimum(1.0, most / (norm(vector) + 1e-6))[..., None]
