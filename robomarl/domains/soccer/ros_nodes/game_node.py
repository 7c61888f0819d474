"""`game_node`: two teams of simulated players behind the same topics as real ones, in real time.

Beside the services of every simulator, `~/kick_off` (std_srvs/SetBool) puts everybody back to the own half and the
ball into the middle; `data`: the first team begins. The referee asks for it.
"""

import math
import sys
from pathlib import Path

from std_srvs.srv import SetBool

from robomarl.config import UserError
from robomarl.domains.soccer.onboard.log import save_match
from robomarl.domains.soccer.ros_nodes import messages
from robomarl.domains.soccer.ros_nodes.referee import NOTHING_YET, Phase
from robomarl.domains.soccer.ros_nodes.referee_messages import match_to
from robomarl.domains.soccer.ros_nodes.sim_game import PitchFigures, RealTimeGame
from robomarl.domains.soccer.scenario import SoccerScenario
from robomarl.ros_nodes import topics
from robomarl.ros_nodes.io import half_turn
from robomarl.ros_nodes.io.fast_messages import OdometryWriter, TruthWriter
from robomarl.ros_nodes.io.node_base import Mailbox, publisher, run_node
from robomarl.ros_nodes.real_time import RealTimeNode
from robomarl.sim.scenario import load_scenario

PER_ROBOT = (topics.SIGHTING, topics.KICKER, topics.ODOMETRY)
"""In this order: the nodes' ticks wait for the odometry."""


class GameNode(RealTimeNode):
    """All players, the ball and the field."""

    def __init__(self) -> None:
        """Compile the model, line up, and run.

        Raises:
            UserError: the scenario does not exist, or is for another number of robots.
        """
        super().__init__()
        scenario, names = load_scenario(self.settings.scenario, SoccerScenario), self.settings.team
        if scenario.players != len(names):
            raise UserError(f"{scenario.name}: is for {scenario.players} robots, the game has {len(names)}.")
        self._game, self._names, self._count = RealTimeGame(scenario), names, scenario.count
        self._connect()
        self._game.reset(self.settings.seed)
        self.begin(self._game.dt_s)
        self.get_logger().info(f"{scenario.name}: {scenario.count} against {scenario.count} are lined up.")

    def _connect(self) -> None:
        base, names = self.base, self._names
        self._sent = {topic: [publisher(self, topic, topic.of(n, base)) for n in names] for topic in PER_ROBOT}
        self._write, self._write_truth = [OdometryWriter(name) for name in names], TruthWriter(names)
        moved, kick = topics.CMD_VEL, topics.KICK
        self._commands = [Mailbox(self, moved, moved.of(n, base), messages.twist_to) for n in names]
        self._kicks = [Mailbox(self, kick, kick.of(n, base), messages.kick_to) for n in names]
        self._truth = publisher(self, topics.TRUTH, topics.TRUTH.of("sim", base))
        self._ball = publisher(self, topics.BALL, topics.BALL.of(topics.WORLD, base))
        self._match = Mailbox(self, topics.MATCH, topics.MATCH.of(topics.REFEREE, base), match_to)
        self._said = NOTHING_YET
        self.create_service(SetBool, "~/kick_off", self._on_kick_off)

    def step(self) -> None:
        """Take commands, step, and publish when a decision is due."""
        game = self._game
        for index, (moves, kicks) in enumerate(zip(self._commands, self._kicks, strict=True)):
            for (speed, _), _ in kicks.take():
                game.receive_kick(index, speed)
            for (velocity, stamp_s), _ in moves.take():
                game.receive(index, velocity, stamp_s)
                self.began_s = self.stamp_now_s() if math.isnan(self.began_s) else self.began_s
        if self.is_pressed():
            game.stop()
        game.step()
        if self.steps % game.every == 0:
            self._said = self._match.latest() or self._said
            game.note(self._said.goals, self._said.phase is Phase.PLAYING)
            self._publish()

    def restart(self, seed: int) -> None:
        """A new match: new places, new players."""
        self._game.reset(seed)

    def figures(self, slipped_s: float) -> PitchFigures:
        """What was counted since the reset."""
        return self._game.figures(slipped_s)

    def write_log(self, folder: Path) -> str:
        """The match's true log."""
        if (log := self._game.log()) is None:
            return ""
        path = folder / f"match_{self._game.figures(0.0).match:03d}.npz"
        save_match(path, log)
        return str(path)

    def _publish(self) -> None:
        stamp_s, game = self.stamp_now_s(), self._game
        game.told(stamp_s)
        rows = zip(game.sightings(stamp_s), game.charged_s(stamp_s), game.estimates(), strict=True)
        for index, (sighting, charged_s, estimate) in enumerate(rows):
            name, on_map = self._names[index], estimate if index < self._count else half_turn.turned(estimate)
            made = messages.sighting_from(sighting, name), messages.kicker_from(charged_s, stamp_s)
            for topic, message in zip(PER_ROBOT, (*made, self._write[index](on_map, stamp_s)), strict=True):
                self._sent[topic][index].publish(message)
        self._truth.publish(self._write_truth(game.truth(), stamp_s))
        self._ball.publish(messages.ball_from(game.ball_m, stamp_s))

    def _on_kick_off(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        with self.lock:
            self._game.kick_off(request.data)
        response.success = True
        return response


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl game_node`."""
    return run_node(GameNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
