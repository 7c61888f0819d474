"""`CatchLaw`: carriers that were thrown, in any attitude and with slack cables, catch their payload and carry it on.

None sees a mate. What keeps them apart is that each has a sector of its own around the payload: a place at its cable's
end, leaning outwards from its own point, in the world and not in the payload's frame, for the payload tumbles. Whatever
else is wanted, it may ask only for a part of the acceleration, and asks all the same: they brake and
travel together. The part towards the own sector goes first; it is what is left of the vehicle's thrust that brakes.
"""

import numpy as np

from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.payload.start import outward
from robomarl.geometry import namespace, norm
from robomarl.spec import ObservationField, ObservationSpec
from robomarl.types import Array

SECTOR_PER_S2, SECTOR_PER_S = 20.0, 5.0
"""Acceleration over the distance to the own sector, and over the velocity relative to the payload, level."""
HEIGHT_PER_S2 = 6.0
"""Acceleration over the height that is missing above the payload."""
TRAVEL_PER_S = 1.0
"""Velocity of the team over the payload's distance to its goal ..."""
TRAVEL_M_S = 1.2
"""... at most this."""
BRAKE_PER_S, CLIMB_PER_S = 2.0, 3.0
"""Acceleration over the error of that velocity, level and upwards ..."""
BRAKE_M_S2 = 1.5
"""... level at most this."""
HISTORY = 6
"""Measured poses that the velocity relative to the payload is taken from: two of them would tell their noise."""


class CatchLaw:
    """Acceleration and body rates [..., N, 5] from what carriers observe."""

    observation = ObservationSpec(
        (
            *map(ObservationField, ("load_error", "velocity", "own_index")),
            ObservationField("cable", HISTORY),
        )
    )

    def __init__(self, scenario: FlightScenario) -> None:
        """Take the sectors and the limits of the scenario's vehicle."""
        assert scenario.cables is not None, "the law is one of carriers"
        self._low, self._high = scenario.command_limits
        self._span_s = (HISTORY - 1) * scenario.period_s
        self._sector_m = outward(scenario.cables) * scenario.cables.length_m

    def act(self, obs: Array) -> Array:
        """The command for an observation [..., 30], within the vehicle's limits; no body rates."""
        xp = namespace(obs)
        way, velocity, index, cable = (obs[..., a:b] for a, b in ((0, 3), (3, 6), (6, 12), (27, 30)))
        parting = (cable - obs[..., 12:15]) / self._span_s
        aside = index[..., : len(self._sector_m)] @ self._sector_m - cable
        faster = _limited(TRAVEL_PER_S * way, TRAVEL_M_S) - velocity
        level = SECTOR_PER_S2 * aside - SECTOR_PER_S * parting
        level = level[..., :2] + _limited(BRAKE_PER_S * faster[..., :2], BRAKE_M_S2)
        up = HEIGHT_PER_S2 * aside[..., 2:] + CLIMB_PER_S * faster[..., 2:]
        command = xp.concatenate([level, up, xp.zeros_like(level)], -1)
        return xp.clip(command, self._low, self._high).astype(np.float32)


def _limited(vector: Array, most: float) -> Array:
    """The vectors, no longer than that."""
    return vector * namespace(vector).minimum(1.0, most / (norm(vector) + 1e-6))[..., None]
