"""`PlaceLaw`: each carrier flies to where it would hold the load at its goal, seeing nobody else.

What a decentralized team can do without learning, and what a policy may be taught first: a position controller on
the feature `place_error`. It leaves the errors that the configuration does not know of: cable lengths, centre of mass.
"""

import numpy as np

from robomarl.features import FEATURES, NeighbourRule
from robomarl.geometry import namespace
from robomarl.sim.scenario import Scenario
from robomarl.types import Array
from robomarl.view import LocalView

POSITION_PER_S = 1.5
"""Wanted speed over distance to the place."""
VELOCITY_PER_S = 3.0
"""Wanted acceleration over velocity error."""


class PlaceLaw:
    """Acceleration and body rates [..., N, 5] from the views of carriers."""

    def __init__(self, scenario: Scenario) -> None:
        """Take the limits of the scenario's vehicle."""
        self._low, self._high = scenario.command_limits

    def __call__(self, view: LocalView) -> Array:
        """The command, within the vehicle's limits; no body rates."""
        xp = namespace(view.own.pos_m)
        place = FEATURES["place_error"].read(view, NeighbourRule())
        accel = VELOCITY_PER_S * (POSITION_PER_S * place - view.own.vel_m_s)
        command = xp.concatenate([accel, xp.zeros_like(accel[..., :2])], -1)
        return xp.clip(command, self._low, self._high).astype(np.float32)
