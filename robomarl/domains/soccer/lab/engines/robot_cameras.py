"""`RobotCameras`: pictures of the players' cameras by MuJoCo's renderer, from the true poses of robots and ball."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
from typing import NamedTuple

import mujoco
import numpy as np

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import Picture8
from robomarl.domains.soccer.lab.engines.field_looks import dress, paint_teams
from robomarl.domains.soccer.lab.engines.mjcf import build_spec
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.start import num_start_draws, start_game
from robomarl.lab.camera.onboard_camera import OnboardCamera, add_camera

NOISY_BITS = 3
"""Lowest bits of each value that are random in a simulator's pictures, so that no two are equal: about 1.4 % of the
full scale."""
PATTERNS = 1 << 16
"""Places at which the table of noise may begin."""


class Poses(NamedTuple):
    """Places of robots and ball, world frame."""

    robots_m: np.ndarray
    """[M, 3] x, y and heading."""
    ball_m: np.ndarray
    """[2]"""
    turns_rad_s: np.ndarray | None = None
    """[M] yaw rates of the robots, which bend the pictures of rolling shutters; None: nobody turns."""


class RobotCameras:
    """Draws what any of the robots sees; a context manager, which holds the GL context."""

    def __init__(self, scenario: SoccerScenario, camera: PinholeCamera, shadows: bool = True) -> None:
        """Build the scene.

        Args:
            scenario: of the game.
            camera: one on each robot.
            shadows: True: with shadows and smooth edges; False: at half the detail and without, for a simulator in real
                time.

        Raises:
            UserError: no GL library works here.
        """
        spec = build_spec(scenario)
        dress(spec, scenario)
        for i in range(scenario.players):
            add_camera(spec.body(f"robot{i}"), camera, f"camera{i}", scenario.robot.body.height_m / 2)
        self._model = spec.compile()
        self._model.vis.quality.offsamples = 4 if shadows else 0
        self._model.vis.quality.shadowsize = 2048
        self._model.light_castshadow[:] &= shadows
        self._data, self._players = mujoco.MjData(self._model), scenario.players
        self._turns_rad_s = np.zeros(self._players)
        self._drawn = OnboardCamera(self._model, camera, 1.0 if shadows else 0.5)
        size = camera.width * camera.height * 3
        self._noise = np.random.default_rng(0).integers(0, 1 << NOISY_BITS, size + PATTERNS, np.uint8)

    def __enter__(self) -> "RobotCameras":
        """Open the GL context."""
        self._drawn.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Close the GL context."""
        self._drawn.__exit__(*error)

    def place(self, poses: Poses) -> None:
        """Put everything where it is."""
        position = self._data.qpos
        position[: 3 * self._players] = poses.robots_m.ravel()
        position[3 * self._players :][:2] = poses.ball_m
        self._turns_rad_s = np.zeros(self._players) if poses.turns_rad_s is None else poses.turns_rad_s
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)

    def picture(self, index: int, random: np.random.Generator | None = None) -> Picture8:
        """Return the picture [H, W, 3] of a robot's camera, with noise from `random`, if there is one."""
        paint_teams(self._model, self._players, index)
        ideal = self._drawn.picture(self._data, f"camera{index}", float(self._turns_rad_s[index]))
        if random is None:
            return ideal
        begin = int(random.integers(PATTERNS))
        return ideal ^ self._noise[begin : begin + ideal.size].reshape(ideal.shape)


def pictures_at_starts(scenario: SoccerScenario, camera: PinholeCamera, count: int, seed: int) -> Picture8:
    """Return [count, H, W, 3] pictures of the first robot's camera at the starts of games; without noise, so that a
    bundle with them is small."""
    random = np.random.default_rng(seed)
    found: list[Picture8] = []
    with RobotCameras(scenario, camera) as cameras:
        for _ in range(count):
            game = start_game(scenario, random.random((1, scenario.players, num_start_draws(scenario)), np.float32))
            robots, ball = game.robots, game.ball
            places = np.stack([robots.x, robots.y, np.arctan2(robots.s, robots.c)], -1)[0]
            cameras.place(Poses(places, np.array([ball.x[0], ball.y[0]])))
            found.append(cameras.picture(0))
    return np.stack(found)
