"""`FlashTrial`: link of a policy node to the process that flashes its robot: it reports status, and
follows a switch.

No ROS here. Configuring moves nothing, and a bundle with an unconfirmed switch does not fly.
"""

from dataclasses import replace
from pathlib import Path
from typing import Protocol

from robomarl.fleet.health.follow import Follower, Turn
from robomarl.fleet.health.node_status import NodeStatus, StatusServer


class Configurable(Protocol):
    """Commands that a lifecycle node accepts."""

    def trigger_configure(self) -> object:
        """Configure."""
        ...

    def trigger_cleanup(self) -> object:
        """Remove the configuration."""
        ...


class FlashTrial:
    """Flash trial of one node."""

    def __init__(self, node: Configurable) -> None:
        """Nothing is made before `begin`."""
        self._node = node
        self._follower: Follower | None = None
        self._server: StatusServer | None = None
        self._tried_id = ""
        self.turns = False
        """The node is being configured because of a flash."""
        self.on_trial = False
        """True while the node is being configured with an unconfirmed bundle."""
        self.problem = ""
        """Why it could not be configured last."""

    def begin(self, root: Path) -> None:
        """Answer in a robot's folder from now on.

        Raises:
            UserError: another node does, or the folder can't be written.
        """
        self._server, self._follower = StatusServer(root), Follower(root)

    def attend(self, status: NodeStatus, may_turn: bool) -> None:
        """Answer waiting clients, and configure the node anew if it is time; does nothing before `begin`.

        Args:
            status: status of the node.
            may_turn: it moves nothing.
        """
        if self._server is None or self._follower is None:
            return
        if may_turn and (turn := self._follower.turn(status.bundle_id)) is not None:
            self._take(turn, bool(status.bundle_id))
            return
        problem = status.problem or ("" if status.bundle_id else self.problem)
        self._server.tell(replace(status, tried_id=self._tried_id, problem=problem))

    def close(self) -> None:
        """Close the socket, if there is one; no client is answered any more."""
        if self._server is not None:
            self._server.close()

    def _take(self, turn: Turn, configured: bool) -> None:
        """Configure with the bundle that is current now; the state machine of the node rejects impossible requests."""
        self._tried_id, self.problem = turn.bundle_id, ""
        if configured:
            self._node.trigger_cleanup()
        if not turn.bundle_id:
            return
        self.turns, self.on_trial = True, turn.on_trial
        try:
            self._node.trigger_configure()
        except Exception as error:  # the node goes on: whoever flashes is told, and goes back
            self.problem = f"{type(error).__name__}: {error}"
        finally:
            self.turns = self.on_trial = False
