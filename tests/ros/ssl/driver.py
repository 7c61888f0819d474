"""A policy's stand-in: the first robot goes to and fro by `cmd_vel`; `ssl_node` and its simulated league are real."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from robomarl.domains.soccer.ros import messages
from robomarl.domains.soccer.ros.topics import CMD_VEL, KICK, SIGHTING
from robomarl.ros import convert, topics
from robomarl.ros.io.messages import Estimate
from robomarl.ros.operator.node_spec import NodeSpec
from tests.ros.truth import truth_to
from tests.ros.vehicles.noderig import Peer, started

TEAM = ["blue_0", "blue_1", "yellow_0", "yellow_1"]
NODES = "robomarl.domains.soccer"
PERIOD_S = 0.04
RESTS_M_S, MOVES_M_S = 0.02, 0.2


class Driver:
    """Commands the first robot, and watches where all of them really are."""

    def __init__(self, peer: Peer) -> None:
        self.peer, self.drives, self.pressed, self.turn_rad_s = peer, True, False, 2.0
        self.own: Estimate | None = None
        self.stamp_s = self._sent_s = 0.0
        self.true: Estimate | None = None
        self.seen: dict[str, np.ndarray] = {}
        peer.hear(topics.ODOMETRY, "/blue_0/odometry", self._on_own)
        peer.hear(SIGHTING, "/blue_0/sighting", self._on_sighting)
        peer.hear(topics.TRUTH, "/sim/truth", lambda message: setattr(self, "true", truth_to(message)[0]))
        self._moves = peer.sender(CMD_VEL, "/blue_0/cmd_vel")
        self._kicks = peer.sender(KICK, "/blue_0/kick")
        self._estop = peer.sender(topics.ESTOP, "/emergency_stop")
        peer.beat = self.beat

    def _on_own(self, message: Any) -> None:
        self.own, self.stamp_s = convert.odometry_to(message)

    def _on_sighting(self, message: Any) -> None:
        picture, _ = messages.sighting_to(message)
        self.seen = {thing.kind: thing.pos_m for thing in picture.things}

    def beat(self) -> None:
        if time.monotonic() - self._sent_s < PERIOD_S:
            return
        self._sent_s = time.monotonic()
        self._estop.publish(Bool(data=self.pressed))
        if self.own is None or not self.drives:
            return
        goal = np.array([-1.0 if int(time.monotonic() / 2) % 2 else -0.4, -1.0])
        accel = np.clip(4.0 * (goal - self.own.pos_m[:2]) - 3.0 * self.own.vel_m_s[:2], -2.0, 2.0)
        command = np.array([*accel, self.turn_rad_s, 0.0])
        velocity = messages.velocity_after(command, self.own, PERIOD_S)
        self._moves.publish(messages.twist_from(velocity, self.stamp_s, "blue_0"))
        self._kicks.publish(messages.kick_from(3.0, self.stamp_s, "blue_0"))

    def speed(self) -> float:
        """True, of the first robot."""
        return math.nan if self.true is None else float(np.linalg.norm(self.true.vel_m_s[0]))

    def moves(self) -> bool:
        return self.speed() > MOVES_M_S

    def rests(self) -> bool:
        return self.speed() < RESTS_M_S and abs(float(self.true.omega_rad_s[0, 2])) < 0.1  # type: ignore[union-attr]

    def says(self) -> str:
        return self.peer.says("blue_0/ssl")

    def order(self, name: str) -> None:
        client = self.peer.node.create_client(Trigger, f"/blue_0/vehicle/{name}")
        assert self.peer.wait(client.service_is_ready)
        answer = client.call_async(Trigger.Request())
        assert self.peer.wait(answer.done)

    def fault(self, *faults: str) -> None:
        """ROBOT=FAULT each."""
        client = self.peer.node.create_client(SetParameters, "/sim/set_parameters")
        assert self.peer.wait(client.service_is_ready)
        value = ParameterValue(type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=[*faults, ""])
        answer = client.call_async(SetParameters.Request(parameters=[Parameter(name="faults", value=value)]))
        assert self.peer.wait(answer.done)
        result = answer.result()
        assert result is not None and result.results[0].successful, result

    def stops_within(self, seconds: float) -> bool:
        """From now, of a machine that has other things to do: a second is added."""
        return self.peer.wait(self.rests, seconds + 1.0)


def nodes(**parameters: Any) -> list[NodeSpec]:
    """The adapter, and a simulated field in its place of the network."""
    simulated = {"scenario": "soccer_2v2", "team": TEAM, "seed": 3}
    return [
        NodeSpec("ssl_peer_node", "robomarl_peers.ssl.node ssl_peer_node", "sim", "", simulated),
        NodeSpec("ssl_node", f"{NODES}.vehicles.ssl.node", "ssl_node", "", {"team": TEAM, "sim": True, **parameters}),
    ]


@contextmanager
def driving(**parameters: Any) -> Iterator[Driver]:
    with started(*nodes(**parameters)) as peer:
        driver = Driver(peer)
        assert peer.wait(driver.moves), (peer.lines, peer.diagnostics)
        yield driver
