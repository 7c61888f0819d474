"""`RobotWords`: messages of a robot's policy node that its track needs: its state, and its commands."""

import numpy as np
from rclpy.lifecycle import LifecycleNode

from robomarl.ros import topics
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io import fast_messages
from robomarl.ros.robot.state_machine import State
from robomarl.ros.status_messages import announcement_reader
from robomarl.vehicles.mocap.team import TeamTracks

AT_REST = (State.STANDBY, State.READY)
"""The robot is not armed, and has not been stopped in the air: it may be carried."""
COMMANDED = (State.BLEND, State.ACTIVE, State.HOLD, State.LAND)
"""Vehicles do as they are commanded; they take off by themselves."""


class RobotWords:
    """Memory of one robot."""

    def __init__(self, node: LifecycleNode, name: str, base: str, flies: bool) -> None:
        """Listen; `flies`: commands are of the body's centre."""
        said, told = topics.ANNOUNCE, topics.COMMAND
        self._said = Mailbox(node, said, said.of(name, base), announcement_reader(name))
        reader = fast_messages.command_reader(name)
        self._told = Mailbox(node, told, told.of(name, base), reader) if flies else None
        self._state: State | None = None

    def tell(self, tracks: TeamTracks, body: str) -> None:
        """Pass on the messages since the last call."""
        for said, _ in self._said.take():
            if said.state is not self._state:
                self._state = said.state
                tracks.may_be_carried(body, said.state in AT_REST)
        for (command, stamp_s), _ in self._told.take() if self._told else ():
            # Under a load roll and pitch rates are commanded, and no acceleration.
            if self._state in COMMANDED and not np.any(command[3:5]):
                tracks.command(body, command[:3], float(command[5]), stamp_s)

    def destroy(self) -> None:
        """Listen no more."""
        for box in (self._said, self._told):
            if box is not None:
                box.destroy()
