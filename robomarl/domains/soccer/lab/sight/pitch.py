"""`Pitch`: sizes and colours of everything that a player's camera sees."""

from dataclasses import dataclass, replace

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.config import UserError
from robomarl.domains.soccer.lab.scenario import SoccerScenario

MATERIALS = ("carpet", "line", "board", "goal", "body", "mate", "opponent", "ball", "beyond")
COLOURS = (
    (0.16, 0.42, 0.20),
    (0.92, 0.92, 0.92),
    (0.80, 0.80, 0.78),
    (0.10, 0.10, 0.12),
    (0.22, 0.22, 0.24),
    (0.10, 0.30, 0.85),
    (0.95, 0.80, 0.10),
    (1.00, 0.45, 0.05),
    (0.45, 0.43, 0.42),
)
"""Nominal colour of each material, linear from 0 to 1: the ones of the simulated game."""


@dataclass(frozen=True)
class Pitch:
    """Sizes of everything that a camera sees [m]."""

    length_m: float
    width_m: float
    goal_width_m: float
    board_m: float
    """Height of the boards."""
    ball_m: float
    """Radius of the ball."""
    robot_m: float
    """Radius of a robot."""
    robot_height_m: float
    line_m: float = 0.02
    """Width of the lines."""
    circle_m: float = 0.5
    """Radius of the centre circle."""
    area_m: tuple[float, float] = (0.5, 1.0)
    """Depth and width of the goal areas."""
    band_m: float = 0.05
    """Height of the coloured band at a robot's upper edge."""


def pitch_of(scenario: SoccerScenario) -> Pitch:
    """Return the sizes of a scenario's pitch; boards are as high as robots."""
    area, body = scenario.field, scenario.robot.body
    sizes = (area.length_m, area.width_m, area.goal_width_m, body.height_m, scenario.ball.radius_m)
    return Pitch(*sizes, body.radius_m, body.height_m)


def as_mounted(camera: PinholeCamera) -> PinholeCamera:
    """Return a camera whose drawn pictures have the mount and the lens that its file says."""
    return replace(camera, randomize=replace(camera.randomize, mount_error_rad=(0.0, 0.0), lens=(1.0, 1.0)))


def camera_of(scenario: SoccerScenario) -> PinholeCamera:
    """Return the camera of the scenario's robot; raises `UserError` if it has none."""
    if scenario.robot.camera is None:
        raise UserError(f"{scenario.vehicle}.yaml: has no camera; add the section camera, as ssl_omni.yaml has it.")
    return scenario.robot.camera
