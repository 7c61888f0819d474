"""`GameWords`: when players may be put elsewhere: before they are armed, and at a kick-off."""

import math
from collections.abc import Mapping

from robomarl.domains.soccer.ros.referee import Said
from robomarl.domains.soccer.ros.referee_messages import match_to
from robomarl.domains.soccer.ros.topics import MATCH, REFEREE
from robomarl.domains.soccer.vehicles.ssl.addresses import Shirt
from robomarl.domains.soccer.vehicles.ssl.vision import VisionTracks
from robomarl.ros import topics
from robomarl.ros.io.node_base import Mailbox
from robomarl.ros.robot.state_machine import State
from robomarl.ros.status_messages import announcement_reader
from robomarl.vehicles.adapter_node import AdapterNode
from robomarl.vehicles.mocap.robot_words import AT_REST

KICK_OFF_S = 2.0
"""Time [s] after a kick-off by the referee within which players are put back."""


class GameWords:
    """Memory of the messages of players and their referee."""

    def __init__(self, node: AdapterNode, shirts: Mapping[str, Shirt], base: str) -> None:
        """Listen; `shirts`: by the names of robots."""
        said = topics.ANNOUNCE
        self._said = {n: Mailbox(node, said, said.of(n, base), announcement_reader(n)) for n in shirts}
        self._match = Mailbox(node, MATCH, MATCH.of(REFEREE, base), match_to)
        self._shirts, self._states = shirts, dict[str, State]()
        self._game: Said | None = None
        self._kick_off_s = -math.inf

    def tell(self, tracks: VisionTracks, now_s: float) -> None:
        """Which robots may be put elsewhere now."""
        for game, _ in self._match.take():
            before, self._game = self._game, game
            if before is not None and before.kick_offs != game.kick_offs:
                self._kick_off_s = now_s
        kicks_off = 0 <= now_s - self._kick_off_s < KICK_OFF_S
        for name, box in self._said.items():
            for said, _ in box.take():
                self._states[name] = said.state
            tracks.may_be_put(self._shirts[name], kicks_off or self._states.get(name) in AT_REST)
