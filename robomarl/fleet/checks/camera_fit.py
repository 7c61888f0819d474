"""`camera_fault`: why a robot's camera is not the one that a bundle's perception network was trained for."""

from collections.abc import Iterator

from robomarl.core.bundle.contract import Contract
from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.hardware.vehicle import AnyVehicle, OmniRobot

LENS_SHARE = 0.02
"""Largest difference of focal lengths, and of the principal point by the width of the picture: training's range."""
DISTORTION = 0.02
"""Largest difference of a coefficient of distortion."""
PLACE_M = 0.01
"""Largest difference of a coordinate of the optical centre [m]."""
PITCH_RAD = 0.035
"""Largest difference of the pitch: training's range."""

READOUT_S = 0.003
"""Largest difference of the times in which all rows are read: at 10 rad/s the upper and lower edge are then 0.015 rad
off, a column and a third of a strip of 192."""


def camera_fault(contract: Contract, vehicle: AnyVehicle) -> str:
    """Return the first number of the vehicle file's camera that is not the bundle's; "" if all are, or it reads none.

    `CameraInfo` tells a node the size and the lens of a camera; only the vehicle file tells where it is mounted. Rate
    and latency are left out, because a robot is blind while its pictures are too old.
    """
    if contract.image is None:
        return ""
    ours = vehicle.camera if isinstance(vehicle, OmniRobot) else None
    if ours is None:
        return f"{vehicle.name}.yaml: camera is missing, and bundle {contract.name} reads its pictures"
    for key, mine, theirs, most in _numbers(ours, contract.image.camera):
        if not abs(mine - theirs) <= most:
            return (
                f"{vehicle.name}.yaml: camera.{key} is {mine:g}, and bundle {contract.name} sees by a camera with "
                f"{theirs:g} (allowed difference: {most:.3g})"
            )
    return ""


def _numbers(ours: PinholeCamera, theirs: PinholeCamera) -> Iterator[tuple[str, float, float, float]]:
    """Yield key, number here, number in the bundle, largest difference."""
    yield "width", ours.width, theirs.width, 0.0
    yield "height", ours.height, theirs.height, 0.0
    yield "fx", ours.fx, theirs.fx, LENS_SHARE * theirs.fx
    yield "fy", ours.fy, theirs.fy, LENS_SHARE * theirs.fy
    yield "cx", ours.cx, theirs.cx, LENS_SHARE * theirs.width
    yield "cy", ours.cy, theirs.cy, LENS_SHARE * theirs.width
    for i, (mine, other) in enumerate(zip(ours.distortion, theirs.distortion, strict=True)):
        yield f"distortion[{i}]", mine, other, DISTORTION
    for i, (mine, other) in enumerate(zip(ours.place_m, theirs.place_m, strict=True)):
        yield f"place_m[{i}]", mine, other, PLACE_M
    yield "pitch_rad", ours.pitch_rad, theirs.pitch_rad, PITCH_RAD
    yield "readout_s", ours.readout_s, theirs.readout_s, READOUT_S
