"""`SslGame`: MuJoCo's players, told velocities as robots of the league are: a speed loop, and a time-out. No ROS."""

import numpy as np

from robomarl.core.geometry import quat_conjugate, rotate
from robomarl.domains.soccer.field.sim_game import RealTimeGame
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.ros.messages import acceleration_to

RESPONSE_S = 0.04
"""Time constant of the robots' speed loop: assumed, four steps of the physics."""
TIMEOUT_S = 0.5
"""Time [s] without a packet after which a robot stops by itself: assumed; the league's protocol does not state one."""


class SslGame(RealTimeGame):
    """Both teams."""

    def __init__(self, scenario: SoccerScenario) -> None:
        """Compile the model; call `reset` before the first step."""
        super().__init__(scenario)
        self.stop_after_s = TIMEOUT_S

    def reset(self, seed: int) -> None:
        """Draw new places and players; no robot has been commanded yet."""
        self._wanted = np.zeros((self.scenario.players, 3))
        super().reset(seed)

    def stop(self) -> None:
        """Robots of the league know nothing of topics."""

    def hear(self, index: int, twist: np.ndarray, kick_m_s: float) -> None:
        """A packet came: velocity forward, left [m/s] and yaw rate [rad/s], and how fast to kick."""
        self._wanted[index], self._age_s[index], self.has_begun = twist, 0.0, True
        self.receive_kick(index, kick_m_s)

    def step(self) -> None:
        """One step of speed loops and physics."""
        for index, wanted in enumerate(self._wanted):
            self.command[index] = acceleration_to(wanted, self._true(index), RESPONSE_S)
        super().step()

    def has_ball(self, index: int) -> bool:
        """Return True if the ball is at a robot's kicker, as its light barrier reports."""
        own, kicker = self.truth(), self.scenario.kicker
        off = np.array([*self.ball_m, 0.0]) - own.pos_m[index]
        forward, left, _ = rotate(quat_conjugate(own.quat_wxyz[index]), off)
        reach = forward - kicker.face_m - self.scenario.ball.radius_m
        return bool(abs(reach) <= kicker.reach_m and abs(left) <= kicker.width_m / 2)
