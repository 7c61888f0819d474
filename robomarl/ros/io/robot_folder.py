"""`RobotFolder`: a policy node's files in its robot's folder: the flash lock while it moves, and a
latched E-stop.

No ROS here.
"""

from contextlib import ExitStack
from pathlib import Path

from robomarl.core.config import UserError
from robomarl.fleet.store import Store
from robomarl.ros.io.estop_latch import EstopLatch

ESTOP_FILE = "estop"
"""Name of the E-stop file in the robot's folder; see `EstopLatch`."""


class RobotFolder:
    """The folder of one robot; without a folder nothing is kept."""

    def __init__(self, robot_root: str, bundle_id: str, flashed: bool) -> None:
        """Name the folder.

        Args:
            robot_root: the robot's folder, or "".
            bundle_id: bundle that this process has loaded.
            flashed: True if it is from that folder; otherwise a flash in the meantime does not matter.
        """
        self._root = Path(robot_root) if robot_root else None
        self._bundle_id, self._flashed = bundle_id, flashed
        self._held = ExitStack()
        self.estop = EstopLatch(self._root and self._root / ESTOP_FILE)
        """Latch of an E-stop that has not been reset yet."""

    def problem(self) -> str:
        """Return the reason not to fly: the disk keeps no E-stop, another bundle was flashed; "" if there is none."""
        if self.estop.problem:
            return self.estop.problem
        if self._root is None or not self._flashed:
            return ""
        try:
            state = Store(self._root).state()
        except UserError as error:
            return str(error)
        if state.pending is not None:
            return f"a flash of bundle {(state.current or 'none')[:12]} has not ended; configure again"
        if (current := state.current) == self._bundle_id:
            return ""
        return f"bundle {(current or 'none')[:12]} was flashed since {self._bundle_id[:12]} was loaded; configure again"

    def lock(self, name: str) -> str:
        """Keep others from flashing the robot as long as it moves; returns why it may not move."""
        if self._root is None:
            return ""
        try:
            self._held.enter_context(Store(self._root).lock(f"{name}, which is active,"))
        except UserError as error:
            return str(error)
        if refusal := self.problem():
            self.unlock()
        return refusal

    def unlock(self) -> None:
        """The robot may be flashed again."""
        self._held.close()
