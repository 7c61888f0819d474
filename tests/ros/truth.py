"""Reads what a simulator publishes of the true states: the way back of `convert.truth_from`."""

import numpy as np
from trajectory_msgs.msg import MultiDOFJointTrajectory

from robomarl.ros.convert import points_of, quat_of, stamp_of, xyz_of
from robomarl.ros.io.messages import Estimate


def truth_to(message: MultiDOFJointTrajectory) -> tuple[Estimate, float]:
    """True states [N, ...] and their stamp [s]."""
    places, motions = points_of(message)[0].transforms, points_of(message)[0].velocities
    pos, quat = [xyz_of(t.translation) for t in places], [quat_of(t.rotation) for t in places]
    vel, omega = [xyz_of(t.linear) for t in motions], [xyz_of(t.angular) for t in motions]
    return Estimate(*(np.array(part) for part in (pos, quat, vel, omega))), stamp_of(message.header)
