"""The map turned by half a turn, in which the second of two teams thinks. No ROS here."""

from collections.abc import Sequence

import numpy as np

from robomarl.core.view import Plan
from robomarl.ros.io.messages import Broadcast, Estimate

HALF_TURN = np.array([-1.0, -1.0, 1.0])
"""The map turned by half a turn about its origin: the field frame of the team that attacks towards -x."""


def command_turn(elements: Sequence[str]) -> np.ndarray:
    """[A] factors of a command of these elements from the away team's field frame to the map, or back: accelerations
    are in the frame, rates are the body's."""
    return np.array([-1.0 if element in ("acceleration.x", "acceleration.y") else 1.0 for element in elements])


def turned(estimate: Estimate) -> Estimate:
    """Return an estimate converted from the map to the away team's field frame, or back."""
    w, x, y, z = estimate.quat_wxyz
    quat = np.array([-z, -y, x, w])  # half a turn about z, then the attitude
    return Estimate(estimate.pos_m * HALF_TURN, quat, estimate.vel_m_s * HALF_TURN, estimate.omega_rad_s)


def turned_broadcast(said: Broadcast) -> Broadcast:
    """Return a teammate's broadcast converted in this way."""
    seen = said.seen and said.seen._replace(pos_m=said.seen.pos_m * HALF_TURN, vel_m_s=said.seen.vel_m_s * HALF_TURN)
    plan = Plan(*(np.asarray(part) * HALF_TURN for part in said.plan))
    # Words are in the frame that its team thinks in: both ends judge by anchors that are equal in every bit.
    return Broadcast(said.pos_m * HALF_TURN, said.vel_m_s * HALF_TURN, plan, seen, said.words)
