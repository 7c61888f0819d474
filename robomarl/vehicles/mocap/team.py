"""`TeamTracks`: assignment of poses to the bodies of a team. No ROS.

Labels of motion capture are claims. A body that was hidden may come back under another's label, so
a label is believed again only if the body can have moved there and no other body of the team can.
If another body can too, the label is doubted until that body is known to be elsewhere: poses of a
team have one meaning exactly if doubts end one after the next in this way. In an exchange they
never do, and all bodies that take part are rejected.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from robomarl.core.filter.params import from_vehicle
from robomarl.core.hardware.vehicle import AnyVehicle
from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.jumps import Reach, reach_of
from robomarl.vehicles.mocap.motion_filter import PoseNoise
from robomarl.vehicles.mocap.tracker import PoseTracker, SensedPose, TrackRules, TrackStatus

PERIOD_S = 0.004
"""Period at which poses are read [s]; the reach of vehicles does not depend on it."""


class TeamTracks:
    """Memory of a team."""

    def __init__(self, names: Sequence[str], rules: TrackRules, reach: Reach) -> None:
        """Start without a pose.

        Args:
            names: names of all bodies.
            rules: rules for accepting poses.
            reach: reach of the vehicles.
        """
        self._rules, self._reach = rules, reach
        self._tracks = {name: self._new(name) for name in names}

    def take(self, name: str, pose: SensedPose, now_s: float) -> Estimate | None:
        """A pose has come; returns the estimate at its stamp, None where it is not to be flown.

        Args:
            name: its label.
            pose: in the map.
            now_s: by the clock of stamps.
        """
        estimate = self._tracks[name].take(pose, now_s)
        self._settle()
        return estimate

    def refused(self, name: str) -> int:
        """Poses so far."""
        return self._tracks[name].refused

    def distrust(self, name: str, why: str) -> None:
        """A pose has come that is not one of this body."""
        self._tracks[name].distrust(why)

    def status(self, name: str, now_s: float) -> TrackStatus:
        """How a body is seen."""
        return self._tracks[name].status(now_s)

    def command(self, name: str, accel_m_s2: np.ndarray, yaw_rate_rad_s: float, stamp_s: float) -> None:
        """Note a robot's command: acceleration [3] in the world, and yaw rate."""
        self._tracks[name].commanded.note(accel_m_s2, yaw_rate_rad_s, stamp_s)

    def may_be_carried(self, name: str, may: bool) -> None:
        """Set if the robot does not move by itself: then it is wherever its label is, and nowhere that another body
        can be.
        """
        self._tracks[name].carried = may
        self._settle()

    def reset(self, name: str) -> None:
        """An operator has seen that the label is the body's: its track begins anew."""
        commanded, carried = self._tracks[name].commanded, self._tracks[name].carried
        self._tracks[name] = self._new(name)
        self._tracks[name].commanded, self._tracks[name].carried = commanded, carried

    def _new(self, name: str) -> PoseTracker:
        return PoseTracker(self._rules, self._reach, partial(self._others, name))

    def _others(self, name: str, pos_m: np.ndarray, stamp_s: float, obeys: bool) -> frozenset[str]:
        """Return the names of other bodies that can be at a place."""
        others = (other for other in self._tracks if other != name)
        return frozenset(other for other in others if self._tracks[other].may_be_at(pos_m, stamp_s, obeys))

    def _settle(self) -> None:
        """Doubts end that hang on bodies which are known to be elsewhere; that may end further ones."""
        doubted = [track for track in self._tracks.values() if track.rivals]
        while any([track.clear(self._elsewhere(track)) for track in doubted]):
            doubted = [track for track in doubted if track.rivals]

    def _elsewhere(self, doubted: PoseTracker) -> frozenset[str]:
        """Rivals of a doubted body that are known to be at another place."""
        rivals = ((name, self._tracks[name]) for name in doubted.rivals)
        return frozenset(name for name, rival in rivals if doubted.is_apart_from(rival))


def tracked_as(vehicle: AnyVehicle, noise: PoseNoise | None = None, lost_s: float = 0.3) -> tuple[TrackRules, Reach]:
    """Return the rules for accepting a vehicle's poses, and its reach.

    Args:
        vehicle: its file.
        noise: noise of poses; None: as motion capture usually is.
        lost_s: time [s] without a pose after which a body is lost.
    """
    params = from_vehicle(vehicle, PERIOD_S)
    x, y, z = (bias + vehicle.safety.accel_error_m_s2 for bias in params.bias_m_s2)
    told = {"delay_s": vehicle.safety.delay_s, "command_error_m_s2": (x, y, z)}
    rules = TrackRules(noise or PoseNoise(), vehicle.safety.velocity_error_m_s, lost_s, **told)
    return rules, reach_of(params)
