"""`Follower`: when to configure a policy node anew because its robot is being flashed. No ROS here.

A node that does not move goes along with a switch that is not confirmed yet, so that it can report
its health, and goes back with it. A bundle that became current in any other way waits until the
operator configures the node.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from robomarl.core.config import UserError
from robomarl.fleet.store import InstalledBundles, Store

LOOK_S = 0.2
"""Time [s] from one look at the folder to the next."""


@dataclass(frozen=True)
class Turn:
    """Action for the node."""

    bundle_id: str
    """Id of the bundle to configure; empty: remove the configuration."""
    on_trial: bool
    """The switch is not confirmed yet."""


class Follower:
    """Looks at one robot's folder."""

    def __init__(self, root: Path) -> None:
        """Nothing is looked at yet."""
        self._store = Store(root)
        self._went_along = False
        self._tried: InstalledBundles | None = None
        self._looked_s = 0.0

    def turn(self, loaded_id: str) -> Turn | None:
        """Return the action for a node that does not move; None for nothing. A failed action is not returned
        again.

        Args:
            loaded_id: id of the bundle with which the node is configured; empty for none.
        """
        if time.monotonic() - self._looked_s < LOOK_S:
            return None
        self._looked_s = time.monotonic()
        try:
            state = self._settled()
        except UserError:
            return None  # whoever flashes the robot, or configures the node, is told
        on_trial, current = state.pending is not None, state.current or ""
        if not on_trial and not self._went_along:
            return None
        self._went_along = on_trial or (self._went_along and loaded_id != current and state != self._tried)
        if loaded_id == current or state == self._tried:
            return None
        self._tried = state
        return Turn(current, on_trial)

    def _settled(self) -> InstalledBundles:
        state = self._store.state()
        if state.pending is not None and not self._store.holder():
            self._store.settle()
            return self._store.state()
        return state
