"""`Carrying`: knowledge of one robot of a carrying team from its configuration. No ROS here.

The scenario in the bundle's contract has the numbers: points of attachment, lengths, mass. The
measured quantity is the load's pose, for all robots from one topic.
"""

import numpy as np

from robomarl.core.config import UserError, build
from robomarl.core.config.parsed import number_in
from robomarl.core.domain.onboard import Content, LazyImport
from robomarl.core.geometry import quat_from_yaw, rotate, yaw_of
from robomarl.core.hardware.vehicle import AnyVehicle, Quadrotor, Vehicle
from robomarl.core.view import Goal, LoadSensed, LocalView
from robomarl.domains.flight.core.payload.scenario import CableConfig, LoadConfig, check_load
from robomarl.domains.flight.core.payload.statics import grip_matrix, reach_m
from robomarl.domains.flight.ros.payload.topics import LOAD_GOAL, LOAD_POSE
from robomarl.ros.fieldtask import FieldTask, Seat, Sensor
from robomarl.ros.robot.state_machine import TeamFallback

OFF_GROUND_M = 0.05
"""Height [m] of the lower face of a level load from which on it counts as off the ground."""
LIFTED_M = 0.05
"""Distance [m] below the lowest start of an episode above which the policy can take over."""
SLACK_SHARE = 0.95
"""A vehicle nearer than this to its point of attachment, as a share of the cable, does not pull."""
LEVEL = np.array([0.0, 0.0, 1.0, 1.0])
"""Factor of the grip matrix for a level load."""


def check_robot(content: Content, vehicle: AnyVehicle, count: int) -> None:
    """`check_carried` for the robots' own vehicle; raises `UserError` for one that does not fly, too."""
    if not isinstance(vehicle, Quadrotor):
        raise UserError(f"{vehicle.name}.yaml: kind = {vehicle.kind!r} does not fly; only a quadrotor carries a load.")
    check_carried(content, vehicle, count)


def check_carried(content: Content, vehicle: Vehicle, count: int) -> None:
    """Check that this team of the robots' own vehicle can carry the load with which a bundle was
    trained.

    Raises:
        UserError: it can't; with the numbers.
    """
    name = f"scenario {content.get('name', '')}"
    load, cables = build(LoadConfig, content["load"], name), build(CableConfig, content["cables"], name)
    try:
        check_load(load, cables, vehicle, count, 1 / number_in(content, "rates", "physics_hz"))
    except ValueError as error:
        raise UserError(f"{name}: {error}") from None


class Carrying:
    """One robot's share in a load."""

    def __init__(self, content: Content, index: int) -> None:
        """Read the scenario.

        Args:
            content: of the scenario, as the contract has it.
            index: which of the team this robot is.
        """
        name = f"scenario {content.get('name', '')}"
        self.load = build(LoadConfig, content["load"], name)
        cables = build(CableConfig, content["cables"], name)
        self._point = np.array(cables.load_points_m[index])
        self._grip = grip_matrix(self.load, cables)[index]
        self._reach_m = np.float64(reach_m(self.load, cables))

    def sensed(self, pose: Goal | None) -> LoadSensed:
        """Return the load's part of the view; at the origin before the first message."""
        pos, quat = pose or Goal(np.zeros(3), np.array([1.0, 0, 0, 0]))
        return LoadSensed(pos, quat, self._point, self._grip, self._reach_m)

    def lifted(self, view: LocalView) -> bool:
        """The load is as high as the policy has learned to carry it."""
        return bool(_load(view).load_pos_m[2] > self.load.start.low_m[2] - LIFTED_M)

    def hangs(self, view: LocalView) -> bool:
        """The load is off the ground: it would fall."""
        return bool(_load(view).load_pos_m[2] + self.load.box_low_m[2] > OFF_GROUND_M)

    def station(self, view: LocalView) -> np.ndarray | None:
        """[2] below which this robot's cable leans as it should when it lifts a level load.

        None while the cable is taut: a vehicle that pulls aside would drag the load along.
        """
        sensed = _load(view)
        tie = sensed.load_pos_m + rotate(sensed.load_quat_wxyz, self._point)
        if np.linalg.norm(view.own.pos_m - tie) > SLACK_SHARE * self._reach_m:
            return None
        pull = self._grip @ LEVEL
        reach = self._point + pull * (self._reach_m / np.linalg.norm(pull))
        level = quat_from_yaw(yaw_of(sensed.load_quat_wxyz))
        return (sensed.load_pos_m + rotate(level, reach))[:2]


def _load(view: LocalView) -> LoadSensed:
    assert isinstance(view.sensed, LoadSensed), "the view is of a robot that carries"
    return view.sensed


def field_task(content: Content, seat: Seat) -> FieldTask:
    """A robot that carries; see `Carrying`."""
    carrying = Carrying(content, seat.index)
    return FieldTask(
        sensors=(Sensor(LOAD_POSE, LazyImport("robomarl.ros.convert:pose_to")),),
        sensed=lambda values, snapshot: carrying.sensed(values[LOAD_POSE.name]),
        max_age_s=0.16,
        lifted=carrying.lifted,
        hangs=carrying.hangs,
        goal=LOAD_GOAL,
        role=np.int32(seat.index),
        team_rule=TeamFallback(carrying.load.fallback),
        station=carrying.station,
    )
