"""`accelerated`: the action of teams that are commanded by an acceleration, as their vehicle's file limits it."""

from robomarl.core.hardware.vehicle import DifferentialDrive
from robomarl.core.spec import NOT_COMMANDED, ActionField, ActionSpec
from robomarl.lab.sim.scenario import Scenario


def accelerated(scenario: Scenario) -> ActionSpec:
    """Return the action: acceleration in the world [m/s^2] and yaw rate [rad/s], within the scenario's
    vehicle limits.

    Elements that the vehicle file does not allow, such as the height of a ground robot, have the range
    `NOT_COMMANDED`. So has the yaw rate of a differential drive, which turns with its wheels.
    """
    vehicle = scenario.vehicle_config
    limits, turns = vehicle.limits, not isinstance(vehicle, DifferentialDrive)
    yaw_rate = limits.yaw_rate_rad_s if turns else 0.0
    ends = zip("xyz", limits.accel_min_m_s2, limits.accel_max_m_s2, strict=True)
    accel = [_field(f"acceleration.{axis}", "m/s^2", low, high) for axis, low, high in ends]
    return ActionSpec((*accel, _field("yaw_rate", "rad/s", -yaw_rate, yaw_rate)))


def _field(name: str, unit: str, low: float, high: float) -> ActionField:
    if low == high == 0:
        low, high = -NOT_COMMANDED, NOT_COMMANDED
    return ActionField(name, unit, "world", low, high)
