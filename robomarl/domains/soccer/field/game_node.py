"""`game_node`: two teams of simulated players behind the topics of real ones, in real time.

Beside the services of every simulator, `~/kick_off` (std_srvs/SetBool) puts all players back to
their own half and the ball into the middle; `data`: the first team begins. The referee calls it.
"""

import sys
from pathlib import Path

from std_srvs.srv import SetBool

from robomarl.domains.soccer.core.log import save_match
from robomarl.domains.soccer.field.sim_game import PitchFigures, RealTimeGame
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.ros import messages
from robomarl.domains.soccer.ros.referee import NOTHING_YET, Phase
from robomarl.domains.soccer.ros.referee_messages import match_to
from robomarl.domains.soccer.ros.topics import BALL, CMD_VEL, KICK, KICKER, MATCH, REFEREE, SIGHTING
from robomarl.field.simulated.team_sim_node import TeamSimNode
from robomarl.ros import topics
from robomarl.ros.io import away_frame
from robomarl.ros.io.messages import Estimate, Message
from robomarl.ros.io.node_base import Mailbox, publisher, run_node

PER_ROBOT = (SIGHTING, KICKER, topics.ODOMETRY)
"""Topics of each robot in publishing order: the nodes' ticks wait for the odometry."""


class GameNode(TeamSimNode[SoccerScenario]):
    """All players, the ball and the field."""

    kind = SoccerScenario
    _team: RealTimeGame

    def made(self, scenario: SoccerScenario) -> RealTimeGame:
        """The robots of both teams."""
        return RealTimeGame(scenario)

    def count_of(self, scenario: SoccerScenario) -> int:
        """Robots of both teams."""
        return scenario.players

    def connect(self) -> None:
        """The referee."""
        self._match = Mailbox(self, MATCH, MATCH.of(REFEREE, self.base), match_to)
        self._said = NOTHING_YET
        self.create_service(SetBool, "~/kick_off", self._on_kick_off)

    def connect_robots(self) -> None:
        """Connect the players' topics, in and out, and the ball's place."""
        base, names = self.base, self._names
        self._ball = publisher(self, BALL, BALL.of(topics.WORLD, base))
        self._sent = {topic: [publisher(self, topic, topic.of(n, base)) for n in names] for topic in PER_ROBOT}
        moved, kick = CMD_VEL, KICK
        self._commands = [Mailbox(self, moved, moved.of(n, base), messages.twist_to) for n in names]
        self._kicks = [Mailbox(self, kick, kick.of(n, base), messages.kick_to) for n in names]

    def take_commands(self) -> None:
        """Take in the players' commands since the last step."""
        for index, (moves, kicks) in enumerate(zip(self._commands, self._kicks, strict=True)):
            for (speed, _), info in kicks.take():
                if not self.waited(info):
                    self._team.receive_kick(index, speed)
            for (velocity, stamp_s), info in moves.take():
                if not self.waited(info):
                    self._team.receive(index, velocity, stamp_s)

    def has_begun(self) -> bool:
        """A player was commanded."""
        return self._team.has_begun

    def decide(self) -> None:
        """Count the events of the step; then publish to all robots."""
        self._said = self._match.latest() or self._said
        self._team.note(self._said.goals, self._said.phase is Phase.PLAYING)
        super().decide()

    def restart(self, seed: int) -> None:
        """A new match: new places, new players."""
        self._team.reset(seed)

    def figures(self, slipped_s: float) -> PitchFigures:
        """Return the counts since the reset."""
        return self._team.figures(slipped_s)

    def write_log(self, folder: Path) -> str:
        """The match's true log."""
        if (log := self._team.log()) is None:
            return ""
        path = folder / f"match_{self._team.figures(0.0).match:03d}.npz"
        save_match(path, log)
        return str(path)

    def tell_estimates(self, truth: Estimate, stamp_s: float) -> None:
        """Publish the players' cameras, kickers and estimates, and the ball's place."""
        game, count = self._team, self._scenario.count
        game.told(stamp_s)
        rows = zip(game.sightings(stamp_s), game.charged_s(stamp_s), game.estimates(), strict=True)
        for index, (sighting, charged_s, estimate) in enumerate(rows):
            name, on_map = self._names[index], estimate if index < count else away_frame.turned(estimate)
            made = messages.sighting_from(sighting, name), messages.kicker_from(charged_s, stamp_s)
            for topic, message in zip(PER_ROBOT, (*made, self._write[index](on_map, stamp_s)), strict=True):
                self._sent[topic][index].publish(message)
        self._ball.publish(messages.ball_from(game.ball_m, stamp_s))

    def sense(self, stamp_s: float) -> dict[str, Message]:
        """Nothing that all share."""
        return {}

    def _on_kick_off(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        with self.lock:
            self._team.kick_off(request.data)
        response.success = True
        return response


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl game_node`."""
    return run_node(GameNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
