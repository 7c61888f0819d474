"""`ssl_peer_node`: the simulator with robots in it that vision sees from above and a radio commands, for `ssl_node`.

Instead of `cmd_vel`, `kick`, `odometry`, `sighting`, `kicker` and `world/ball` there are the league's packets. The
parameter `faults` takes ROBOT=FAULT of each that something goes wrong with.
"""

import os
import sys

import numpy as np

from robomarl.core.geometry import yaw_of
from robomarl.domains.soccer.field.game_node import GameNode
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.vehicles.ssl.addresses import shirts_of, simulated_uris
from robomarl.field.simulated.faults import offer_faults
from robomarl.ros.io.messages import Estimate
from robomarl.ros.io.node_base import now_s, run_node, take_node_name
from robomarl_peers.ssl.game import SslGame
from robomarl_peers.ssl.league import FieldView, LeagueField

NAME = "ssl_peer_node"
FAULTS = ("unseen", "deaf", "mirrored")
PICTURE_HZ = 50
SLIPPED_S = 0.3
"""Lag [s] of the physics behind the clock above which its time begins again."""


class SslPeerNode(GameNode):
    """All players, the ball, the field and the league's systems around it."""

    _team: SslGame

    def made(self, scenario: SoccerScenario) -> SslGame:
        """The robots of both teams."""
        return SslGame(scenario)

    def connect_robots(self) -> None:
        """Open the league's addresses; in ROS only the parameter of faults."""
        names, field = self._names, self._scenario.field
        size_m = (field.length_m, field.width_m, field.goal_width_m)
        domain = int(os.environ.get("ROS_DOMAIN_ID", "0"))
        self._league = LeagueField(shirts_of(simulated_uris(len(names)), names), size_m, domain, self.settings.seed)
        self._every = max(round(1 / (self._team.dt_s * PICTURE_HZ)), 1)
        self._zero_s = now_s(self)
        offer_faults(self, names, FAULTS, self._fail)

    def take_commands(self) -> None:
        """Take in the robots' commands since the last step."""
        game = self._team
        at_ball = [game.has_ball(index) for index in range(len(self._names))]
        for told in self._league.hear(at_ball):
            game.hear(*told)

    def step(self) -> None:
        """A picture after every other step: its time is that of the physics, which catches up in bursts."""
        super().step()
        if self.steps % self._every:
            return
        if abs(now_s(self) - self._zero_s - self.steps * self._team.dt_s) > SLIPPED_S:
            self._zero_s = now_s(self) - self.steps * self._team.dt_s
        truth = self._team.truth()
        view = FieldView(self._team.ball_m, truth.pos_m[:, :2], np.asarray(yaw_of(truth.quat_wxyz)))
        self._league.tell(view, self._zero_s + self.steps * self._team.dt_s)

    def tell_estimates(self, truth: Estimate, stamp_s: float) -> None:
        """Vision tells all there is."""

    def destroy_node(self) -> None:
        """Release the addresses."""
        super().destroy_node()
        if hasattr(self, "_league"):  # not where its parameters were refused
            self._league.close()

    def _fail(self, faults: list[set[str]]) -> None:
        self._league.faults = dict(enumerate(faults))


def main() -> int:
    """Run the node: `ros2 run robomarl_peers ssl_peer_node`, or the module with that name."""
    take_node_name([NAME])
    return run_node(SslPeerNode, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
