"""`look_of`: the shape of a robot from the numbers of its vehicle file."""

import numpy as np

from robomarl.core.hardware.ground import DifferentialDrive, GroundVehicle
from robomarl.core.hardware.vehicle import AnyVehicle, Quadrotor
from robomarl.lab.scene.scene import RGB, Primitive, RobotShape

DARK: RGB = (38, 42, 48)
TYRE: RGB = (22, 24, 27)
WHITE: RGB = (250, 250, 250)


def look_of(vehicle: AnyVehicle) -> RobotShape:
    """Return the shape of a vehicle, with the ellipsoid that its safety filter keeps."""
    parts = _quadrotor(vehicle) if isinstance(vehicle, Quadrotor) else _ground(vehicle)
    half = vehicle.safety.separation_m / 2
    stretch = vehicle.safety.downwash_ratio if isinstance(vehicle, Quadrotor) else 1.0
    return RobotShape(parts, (half, half, half * stretch))


def _quadrotor(vehicle: Quadrotor) -> tuple[Primitive, ...]:
    """Hub, arms, rotor discs, and a ball that shows the front."""
    radius = vehicle.body.radius_m
    parts = [
        Primitive("box", (0.56 * radius, 0.4 * radius, 0.24 * radius), rgb=DARK),
        Primitive("sphere", (0.14 * radius, 0, 0), (0.3 * radius, 0, 0.08 * radius)),
    ]
    for x, y in vehicle.rotors.positions_m:
        reach = radius - float(np.hypot(x, y))
        parts.append(Primitive("capsule", (0.06 * radius, 0, 0), end_m=(x, y, 0), rgb=DARK))
        parts.append(Primitive("cylinder", (reach, 0, 0.05 * radius), (x, y, 0.16 * radius)))
    return tuple(parts)


def _ground(vehicle: GroundVehicle) -> tuple[Primitive, ...]:
    """A round body with a light strip that shows the front, and wheels."""
    radius = vehicle.body.radius_m
    height = 0.9 * radius
    parts = [
        Primitive("cylinder", (0.96 * radius, 0, 0.55 * height), (0, 0, 0.5 * height)),
        Primitive("cylinder", (0.6 * radius, 0, 0.12 * height), (0, 0, 0.84 * height), rgb=DARK),
        Primitive(
            "box", (0.5 * radius, 0.12 * radius, 0.1 * height), (0.62 * radius, 0, 0.8 * height), rgb=(250, 250, 250)
        ),
    ]
    sides = (-1, 1) if isinstance(vehicle, DifferentialDrive) else ()
    for side in sides:
        size = (0.7 * radius, 0.14 * radius, 0.7 * radius)
        parts.append(Primitive("box", size, (0, 0.85 * side * radius, 0.35 * radius), rgb=TYRE))
    return tuple(parts)
