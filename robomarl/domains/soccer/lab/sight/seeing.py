"""`Seeing`: the robots of our team in E games, each with a network, a tracker and odometry of its own."""

from dataclasses import dataclass

import numpy as np
import onnxruntime

from robomarl.domains.soccer.core.sight.layout import FloatArray, SightLayout
from robomarl.domains.soccer.core.sight.own_pose import between, rotated
from robomarl.domains.soccer.core.sight.tracker import Believed, Odometry, SightState, SightTracker
from robomarl.domains.soccer.lab.camera import CameraPicture, Pose
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.scenario import SoccerScenario

PLACED = np.array([0.1, 0.1, 0.1])
"""Standard deviation of the place [m] and heading [rad] that a robot is told when it is put somewhere, assumed."""
NOISE = 6
"""Standard normal numbers of a robot and decision: of odometry, and of the pose that it is told where it is put."""


@dataclass(frozen=True)
class OdometryErrors:
    """Errors of wheels and gyroscope, assumed."""

    scale: float = 0.02
    """Largest error of the wheels' radius, as a share; constant in a game."""
    noise_m_s: float = 0.02
    """Standard deviation of each component of the velocity."""
    noise_rad_s: float = 0.02
    """Standard deviation of the yaw rate."""


class Seeing:
    """Eyes of our robots: strips of the last decision in, poses and pictures of this one out."""

    def __init__(self, scenario: SoccerScenario, network: bytes, tracker: SightTracker) -> None:
        """Load the network.

        Args:
            scenario: the game; the camera's latency is one decision.
            network: ONNX file of `SightLayout`.
            tracker: numbers of the tracker.
        """
        self.scenario, self.tracker, self.layout = scenario, tracker, SightLayout()
        self._errors = OdometryErrors()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])

    def start(self, game: SoccerWorld, strips: np.ndarray, noise: FloatArray) -> None:
        """Begin new games.

        Args:
            game: their states.
            strips: their first pictures.
            noise: [E, N, NOISE]; the wheels' radius is drawn from it, too.
        """
        poses, now_s = _poses(game, self.scenario.count), self._time_s(game)
        self.states = [
            [self._placed(pose, off, now_s) for pose, off in zip(*rows, strict=True)]
            for rows in zip(poses, noise[..., 3:], strict=True)
        ]
        self._scale = 1 + self._errors.scale * np.tanh(noise[..., 0])
        self._strips, self._before, self._restarts = strips, poses, game.referee.restarts.copy()
        self.believed: list[list[Believed]] = []
        self.outputs = np.zeros((*poses.shape[:2], self.layout.size), np.float32)

    def step(self, game: SoccerWorld, strips: np.ndarray, noise: FloatArray) -> tuple[Pose, CameraPicture]:
        """Return poses [E, N] and pictures [E, N, T] of our robots one decision later, in their field frame.

        Args:
            game: the game now.
            strips: pictures of now, which arrive with the next decision.
            noise: [E, N, NOISE]
        """
        now, count, now_s = _poses(game, self.scenario.count), self.scenario.count, self._time_s(game)
        put_back = game.referee.restarts != self._restarts
        self.believed, self.outputs = [], np.zeros_like(self.outputs)
        for env in range(len(now)):
            row = []
            for i in range(count):
                state = self.states[env][i]
                if put_back[env]:
                    state = self._placed(now[env, i], noise[env, i, 3:], now_s)
                    sight, odometry = None, Odometry(0.0, 0.0, 0.0)
                else:
                    self.outputs[env, i] = self._run(self._strips[env, i])
                    sight = self.layout.read(self.outputs[env, i], now_s - self.scenario.period_s)
                    motion = between(self._before[env, i].tolist(), now[env, i].tolist())
                    odometry = self._odometry(motion, float(self._scale[env, i]), noise[env, i, :3])
                state, believed = self.tracker.step(state, sight, odometry, now_s)
                self.states[env][i] = state
                row.append(believed)
            self.believed.append(row)
        self._strips, self._before, self._restarts = strips, now, game.referee.restarts.copy()
        return self._told()

    def _run(self, strip: np.ndarray) -> np.ndarray:
        return np.asarray(self._session.run(None, {"strip": strip[None]})[0])

    def _time_s(self, game: SoccerWorld) -> float:
        return float(game.step[0]) * self.scenario.period_s

    def _placed(self, pose: FloatArray, noise: FloatArray, now_s: float) -> SightState:
        """Return the memory of a robot that was put somewhere: it knows its pose [3] roughly."""
        return self.tracker.start(now_s, pose + PLACED * noise, (0.3, 0.2))

    def _odometry(self, motion: tuple[float, float, float], scale: float, noise: FloatArray) -> Odometry:
        """Return what wheels and gyroscope say of a motion [m, m, rad] in one decision, in the frame before it."""
        per_s, errors = 1 / self.scenario.period_s, self._errors
        ahead, left = rotated(-motion[2] / 2, motion[0], motion[1])
        return Odometry(
            float(ahead * per_s * scale + errors.noise_m_s * noise[0]),
            float(left * per_s * scale + errors.noise_m_s * noise[1]),
            float(motion[2] * per_s + errors.noise_rad_s * noise[2]),
        )

    def _told(self) -> tuple[Pose, CameraPicture]:
        """Return the beliefs as the game keeps them; its pictures are as old as `eyes.latency_s`."""
        pose = np.array([[b.pose for b in row] for row in self.believed], np.float32)
        velocity = np.array([[b.velocity_m_s for b in row] for row in self.believed], np.float32)
        turn = np.array([[b.turn_rad_s for b in row] for row in self.believed], np.float32)
        x, y, heading = np.moveaxis(pose, -1, 0)
        own = Pose(x, y, velocity[..., 0], velocity[..., 1], np.cos(heading), np.sin(heading), turn)
        mask, pos, vel, age = (np.array([[b.picture[k] for b in row] for row in self.believed]) for k in range(4))
        place = pos + vel * (age - self.scenario.eyes.latency_s)[..., None]
        parts = (place[..., 0], place[..., 1], vel[..., 0], vel[..., 1])
        return own, CameraPicture(mask, *(np.where(mask, part, 0.0).astype(np.float32) for part in parts))


def _poses(game: SoccerWorld, count: int) -> FloatArray:
    """[E, N, 3] true place and heading of our robots."""
    robots = game.robots
    parts = (robots.x, robots.y, np.arctan2(robots.s, robots.c))
    return np.stack([np.asarray(part, np.float64)[:, :count] for part in parts], -1)
