"""The supervisor of the Crazyflie's firmware: whether the motors may turn. Plain Python.

States and transitions as the firmware's documentation has them (functional areas, supervisor): set-points that stop
make it level out after 0.5 s and lock after 2 s; so do an emergency stop and an emergency watchdog that was begun and
stops for 1 s. A locked vehicle has to be started anew.
"""

from dataclasses import dataclass
from enum import IntEnum

LEVEL_S, SHUTDOWN_S = 0.5, 2.0
"""Age of a set-point that makes it level out, and lock."""
WATCHDOG_S = 1.0
FLIES_S = 2.0
"""Time [s] after the last thrust during which the vehicle still counts as flying."""


class Super(IntEnum):
    """States of the supervisor."""

    CHECKS = 0
    """Not passed yet."""
    PASSED = 1
    """May be armed."""
    READY = 2
    FLYING = 3
    LEVEL = 4
    """Levels out: set-points have stopped."""
    LOCKED = 5


RUNS = frozenset((Super.READY, Super.FLYING, Super.LEVEL))
"""Motors may turn."""


@dataclass
class Supervisor:
    """Memory of one vehicle."""

    auto_arm: bool = True
    """Firmware of a Crazyflie 2.1: it arms itself; false: as for brushless ones, it has to be told."""
    refuses: bool = False
    """True if the vehicle never arms: for tests of components that have to notice it."""
    state: Super = Super.CHECKS
    armed: bool = False
    stopped: bool = False
    """An emergency stop came."""
    watchdog_s: float | None = None
    """When the emergency watchdog was last heard; None: it was never begun."""
    thrust_s: float = -1e9
    """When the motors last pushed."""

    def arm(self, wanted: bool) -> bool:
        """Return True if the arming request is carried out."""
        if wanted and not self.armed and (self.state is not Super.PASSED or self.refuses):
            return False
        self.armed = wanted
        return True

    def update(self, now_s: float, setpoint_s: float, tumbled: bool) -> None:
        """One step.

        Args:
            now_s: by the vehicle's clock.
            setpoint_s: when the newest set-point came.
            tumbled: it lies on its back.
        """
        emergency = self.stopped or self.watchdog_s is not None and now_s - self.watchdog_s > WATCHDOG_S
        age_s, flies = now_s - setpoint_s, now_s - self.thrust_s < FLIES_S
        before = self.state
        if emergency or self.state in (Super.FLYING, Super.LEVEL) and (age_s > SHUTDOWN_S or tumbled or not self.armed):
            self.state = Super.LOCKED
        elif self.state is Super.CHECKS and not tumbled:
            self.state = Super.PASSED
        elif self.state is Super.PASSED:
            self.state = Super.CHECKS if tumbled else Super.READY if self.armed else Super.PASSED
        elif self.state is Super.READY:
            self.state = Super.CHECKS if tumbled or not self.armed else Super.FLYING if flies else Super.READY
        elif self.state is Super.FLYING:
            self.state = Super.LEVEL if age_s > LEVEL_S else Super.FLYING if flies else Super.CHECKS
        elif self.state is Super.LEVEL and age_s <= LEVEL_S:
            self.state = Super.FLYING
        if before is not self.state:
            self._changed()

    def _changed(self) -> None:
        if self.state not in RUNS:
            self.armed = False
        if self.state is Super.PASSED and self.auto_arm and not self.refuses:
            self.armed = True

    def bits(self, tumbled: bool, high_level: tuple[bool, bool]) -> int:
        """The bit field `supervisor.info`.

        Args:
            tumbled: it lies on its back.
            high_level: the high-level commander is active; its trajectory is finished.
        """
        said = (
            self.state is Super.PASSED,
            self.armed,
            self.auto_arm,
            self.state in RUNS,
            self.state in (Super.FLYING, Super.LEVEL),
            tumbled,
            self.state is Super.LOCKED,
            False,
            high_level[0],
            high_level[1],
            not high_level[0],
        )
        return sum(bit << place for place, bit in enumerate(said))
