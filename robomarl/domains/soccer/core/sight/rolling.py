"""Rolling shutters: a camera reads its rows one after another, so a robot that turns bends its picture.

Row v of H is read at the time readout * (v / (H - 1) - 1/2) after the middle row, whose time is the stamp of the
picture. A robot that turns with w sees a thing at the azimuth that it has in the middle of the readout less w times the
time of its row. The way that the robot drives meanwhile is left out: 15 mm at 2 m/s and a readout of 15 ms.
"""

import math
from dataclasses import dataclass

import numpy as np

from robomarl.core.camera.camera import PinholeCamera
from robomarl.domains.soccer.core.sight.layout import FloatArray, SeenPose, Sight, Spot
from robomarl.domains.soccer.core.sight.own_pose import rotated

POSE_M = 2.0
"""Distance on the ground of the lines and goals by which the network tells the own pose, roughly."""


def lags_s(camera: PinholeCamera, directions: FloatArray) -> FloatArray:
    """Return the times [...], after the middle row, at which directions [..., 3] in the body frame are read; those
    outside of the picture are read with its nearest row."""
    rows = camera.pixels(directions)[..., 1] / (camera.height - 1)
    return camera.readout_s * (np.clip(np.nan_to_num(rows, nan=0.5), 0.0, 1.0) - 0.5)


@dataclass(frozen=True)
class RollingShutter:
    """Puts what a bent picture shows where it was in the middle of the readout."""

    camera: PinholeCamera

    def straightened(self, sight: Sight, turn_rad_s: float) -> Sight:
        """Return the sight of a picture, of a robot that turned with this rate while the picture was read."""
        spots = [sight.ball, *sight.opponents, *sight.mates]
        seen = [(spot.range_m, spot.azimuth_rad) for spot in spots] + [(POSE_M, 0.0)]
        height = self.camera.place_m[2]
        directions = np.array([(far * math.cos(angle), far * math.sin(angle), -height) for far, angle in seen])
        *turns, own = (turn_rad_s * lags_s(self.camera, directions)).tolist()
        ball, *others = (_turned(spot, turn) for spot, turn in zip(spots, turns, strict=True))
        last = len(sight.opponents)
        pose = SeenPose(rotated(own, *sight.pose.centre_m), sight.pose.half_turns_rad - own, *sight.pose[2:])
        return Sight(sight.stamp_s, ball, tuple(others[:last]), tuple(others[last:]), pose)


def _turned(spot: Spot, turn_rad: float) -> Spot:
    return spot._replace(azimuth_rad=spot.azimuth_rad + turn_rad)


def shutter_of(camera: PinholeCamera) -> RollingShutter | None:
    """Return the rolling shutter of a camera; None for a global one."""
    return RollingShutter(camera) if camera.readout_s > 0 else None
