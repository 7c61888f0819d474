"""`camera_node`: draws what the cameras of simulated players see, for bundles that see, and publishes it as ROS does.

It is a process beside `game_node`, so that drawing delays no physics. It takes the true poses that the simulator
publishes, draws the camera of the vehicle file on each robot by MuJoCo's renderer, and publishes `sensor_msgs/Image`
and `CameraInfo` at the stamp of those poses. A machine that is too slow draws fewer pictures: what holds is logged.
"""

import sys
import time
from typing import NamedTuple

import numpy as np
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import OmniRobot, load_any_vehicle
from robomarl.domains.soccer.lab.engines.robot_cameras import Poses, RobotCameras
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.ros import messages
from robomarl.domains.soccer.ros.settings import CameraSettings
from robomarl.domains.soccer.ros.topics import BALL
from robomarl.lab.sim.scenario import load_scenario
from robomarl.ros import topics
from robomarl.ros.camera.image_writer import ImageWriter
from robomarl.ros.convert import MessageError, points_of, stamp_of
from robomarl.ros.io.messages import Message
from robomarl.ros.io.node_base import Mailbox, publisher, run_node, serve
from robomarl.ros.parameters import declare, read

POLL_S = 0.002
"""How long the node sleeps where nothing is to be drawn."""
REPORT_S = 10.0
"""How often the rate that holds is logged."""


class PlayerCamera(NamedTuple):
    """One robot with a camera."""

    index: int
    """Among all robots of both teams."""
    name: str
    write: ImageWriter


class CameraNode(Node):
    """The cameras of all players that see."""

    def __init__(self) -> None:
        """Subscribe the truth, and advertise the pictures.

        Raises:
            UserError: the vehicle file has no camera, or a robot is not in the game.
        """
        super().__init__("cameras")
        declare(self, CameraSettings)
        settings = read(self, CameraSettings)
        self.scenario = load_scenario(settings.scenario, SoccerScenario)
        self.camera = _camera(settings.vehicle)
        if unknown := set(settings.seeing) - set(settings.team):
            raise UserError(f"camera_node: seeing names {min(unknown)!r}, which is not in the team; leave it out.")
        base, found = settings.base, topics
        self._robots = [
            PlayerCamera(settings.team.index(name), name, ImageWriter(self.camera, f"{name}/camera"))
            for name in settings.seeing
        ]
        self._images = [publisher(self, found.IMAGE, found.IMAGE.of(n, base)) for n in settings.seeing]
        self._infos = [publisher(self, found.CAMERA_INFO, found.CAMERA_INFO.of(n, base)) for n in settings.seeing]
        self._truths = Mailbox(self, found.TRUTH, found.TRUTH.of("sim", base), places_of)
        self._balls = Mailbox(self, BALL, BALL.of(topics.WORLD, base), messages.ball_to)
        self._packed = [publisher(self, found.COMPRESSED, found.COMPRESSED.of(n, base)) for n in settings.seeing]
        self._jpeg_s = 1 / settings.jpeg_hz if settings.jpeg_hz else np.inf
        self._packed_s = -np.inf
        self._ball_m, self._random = np.zeros(2), np.random.default_rng(0)
        self._drawn, self._since_s = 0, time.monotonic()
        self._next_s = -np.inf

    def look(self, cameras: RobotCameras) -> bool:
        """Draw the pictures of the newest poses, if they are due; return True if they were."""
        if (ball := self._balls.latest()) is not None:
            self._ball_m = ball[0]
        if (truth := self._truths.latest()) is None:
            return False
        (places, turns), stamp_s = truth
        period_s = 1 / self.camera.rate_hz
        if self._next_s - period_s < stamp_s < self._next_s - 0.25 * period_s:
            return False
        self._next_s = max(self._next_s + period_s, stamp_s + 0.5 * period_s) if self._next_s > 0 else stamp_s
        cameras.place(Poses(places, self._ball_m, turns))
        packs = stamp_s - self._packed_s >= self._jpeg_s
        self._packed_s = stamp_s if packs else self._packed_s
        for k, (robot, image, info) in enumerate(zip(self._robots, self._images, self._infos, strict=True)):
            picture = cameras.picture(robot.index, self._random)
            data = robot.write(picture, stamp_s)
            info.publish(robot.write.info(stamp_s))
            if packs:
                self._packed[k].publish(robot.write.jpeg(picture, stamp_s))
            handle = image.handle
            with handle:
                handle.publish_raw(data)
        self._drawn += 1
        return True

    def report(self) -> None:
        """Log the rate that holds now and then."""
        if (passed_s := time.monotonic() - self._since_s) < REPORT_S:
            return
        rate_hz, asked_hz = self._drawn / passed_s, self.camera.rate_hz
        if self._drawn:
            line = f"{rate_hz:.1f} pictures a second for each of {len(self._robots)} robots"
            if rate_hz < 0.9 * asked_hz:  # one call for each level: rclpy ties a line of source to a level
                self.get_logger().warning(f"{line}; {asked_hz:g} are asked for.")
            else:
                self.get_logger().info(f"{line}.")
        self._drawn, self._since_s = 0, time.monotonic()


def places_of(message: Message) -> tuple[tuple[np.ndarray, np.ndarray], float]:
    """Return x, y [m] and heading [rad] of all robots, [M, 3], their yaw rates [M] [rad/s], and the stamp [s].

    Raises:
        MessageError: it has no point.
    """
    if len(message.points) != 1:
        raise MessageError(f"the truth has {len(message.points)} points, not 1")
    rows = [
        (t.translation.x, t.translation.y, 2 * np.arctan2(t.rotation.z, t.rotation.w))
        for t in points_of(message)[0].transforms
    ]
    turns = [velocity.angular.z for velocity in points_of(message)[0].velocities]
    return (np.array(rows), np.array(turns)), stamp_of(message.header)


def _camera(vehicle: str) -> PinholeCamera:
    """The camera of a vehicle file; raises `UserError` where it has none."""
    robot = load_any_vehicle(vehicle)
    if not isinstance(robot, OmniRobot) or robot.camera is None:
        raise UserError(f"{vehicle}: camera is missing, and the bundle sees; describe it in the vehicle file.")
    return robot.camera


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl camera_node`."""
    return run_node(CameraNode, args, urgent=True, run=_run)


def _run(node: CameraNode) -> None:
    """Draw until the node is told to stop; the GL context belongs to this thread."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    with RobotCameras(node.scenario, node.camera, shadows=False) as cameras:
        while node.context.ok():
            if not node.look(cameras):
                time.sleep(POLL_S)
            node.report()
            serve(executor, node, 0.0)


if __name__ == "__main__":
    sys.exit(main())
