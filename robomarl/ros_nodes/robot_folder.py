"""`RobotFolder`: what a policy node keeps in its robot's folder: the flash lock while it moves, and a latched E-stop.

No ROS here.
"""

from contextlib import ExitStack
from pathlib import Path

from robomarl.config import UserError
from robomarl.fleet.store import Store

ESTOP_FILE = "estop"
"""In the robot's folder as long as the E-stop is latched: it outlives the process."""


class RobotFolder:
    """The folder of one robot; without a folder nothing is kept."""

    def __init__(self, robot_root: str, bundle_id: str, flashed: bool) -> None:
        """Name the folder.

        Args:
            robot_root: the robot's folder, or "".
            bundle_id: what this process has loaded.
            flashed: from that folder; otherwise what is flashed meanwhile does not matter.
        """
        self._root = Path(robot_root) if robot_root else None
        self._bundle_id, self._flashed = bundle_id, flashed
        self._held = ExitStack()

    @property
    def estop_latched(self) -> bool:
        """An E-stop has not been reset yet."""
        return self._root is not None and (self._root / ESTOP_FILE).exists()

    def latch_estop(self, pressed: bool) -> None:
        """Keep an E-stop, or forget it."""
        if self._root is None or pressed == self.estop_latched:
            return
        if pressed:
            self._root.mkdir(parents=True, exist_ok=True)
            (self._root / ESTOP_FILE).touch()
        else:
            (self._root / ESTOP_FILE).unlink(missing_ok=True)

    def bundle_problem(self) -> str:
        """What stands against flying with the bundle that was loaded; "" if nothing does."""
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
        if refusal := self.bundle_problem():
            self.unlock()
        return refusal

    def unlock(self) -> None:
        """The robot may be flashed again."""
        self._held.close()
