"""`Station`: a running fleet for all pages of a server. One thread listens; pages read its snapshots."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from robomarl.core.hardware.fleet import Fleet
from robomarl.front.view.subject import looking_like, scene_of
from robomarl.lab.scene.scene import Scene, SceneMoment
from robomarl.ros.desk.event_log import FieldEvent, LogRow
from robomarl.ros.desk.member import TeamReport
from robomarl.ros.preflight.seen import CheckRow
from robomarl.ros.robot.health import OK, WARN
from robomarl.ros.robot.state_machine import Order
from robomarl.ros.timing.failed import told

if TYPE_CHECKING:
    from robomarl.field.scene.running import RunningStage
    from robomarl.ros.desk.field_desk import FieldDesk

REPORT_S = 0.1
"""Time [s] between two snapshots."""


@dataclass(frozen=True)
class FieldSnapshot:
    """Everything that a page shows, at one time."""

    report: TeamReport
    moment: SceneMoment
    rows: tuple[LogRow, ...] = ()
    """Event log, oldest first."""
    log_changes: int = 0
    steady_s: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class PreflightResult:
    """The last preflight."""

    rows: tuple[CheckRow, ...]
    operator: str
    at_s: float
    """Time since the epoch [s]."""

    @property
    def failed(self) -> int:
        """Number of checks that failed."""
        return sum(row.ok is False for row in self.rows)


class Station:
    """The thread between a desk and the pages."""

    def __init__(self, fleet: Fleet, base: str, desk: "FieldDesk", stage: "RunningStage") -> None:
        """Take the first snapshot; nothing runs before `run`."""
        self.fleet, self._base = fleet, base
        self._desk, self._stage = desk, stage
        self.scene: Scene = stage.scene
        self.checked: PreflightResult | None = None
        self._ends = threading.Event()
        self._log_changes, self._rows = -1, ()
        self.snapshot = FieldSnapshot(desk.report(), stage.moment)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the robots, in their order."""
        return self._desk.team

    @property
    def own_goals(self) -> bool:
        """True if every robot has a goal of its own; False if the team has one."""
        return self._stage.has_own_goals

    @property
    def age_s(self) -> float:
        """Age of the newest snapshot [s]."""
        return time.monotonic() - self.snapshot.steady_s

    def run(self) -> None:
        """Listen until `stop`; an error in one turn is an event, and the next turn goes on."""
        next_s = 0.0
        while not self._ends.is_set():
            try:
                next_s = self._turn(next_s)
            except Exception as error:  # the page must not go blind because of one message
                self.note(f"the page's node left something out: {told(error)}", level=WARN)
                self._ends.wait(REPORT_S)

    def _turn(self, next_s: float) -> float:
        """Look once; return the time of the next snapshot."""
        self._desk.poll()
        self._stage.advance()
        if (now_s := time.monotonic()) < next_s:
            return next_s
        self._take_snapshot()
        return now_s + REPORT_S

    def stop(self) -> None:
        """End `run`."""
        self._ends.set()

    def _take_snapshot(self) -> None:
        if self._desk.log.changes != self._log_changes:
            self._log_changes, self._rows = self._desk.log.changes, tuple(self._desk.log.frozen())
        self.snapshot = FieldSnapshot(self._desk.report(), self._stage.moment, self._rows, self._log_changes)

    def press(self, operator: str) -> None:
        """Press the E-stop."""
        self._desk.press(operator)

    def order(self, order: Order, target: str, operator: str) -> Future[str]:
        """Order a robot, or with "all" the team; see `FieldDesk.order`."""
        return self._desk.order(order, target, operator)

    def send_goal(self, robot: str, place_m: np.ndarray, operator: str) -> None:
        """Send a goal [3] to a robot, or to the whole team if it has one goal."""
        self._stage.set_goal(self.names.index(robot), place_m)
        where = ", ".join(f"{value:.2f}" for value in place_m)
        self.note(f"goal ({where}) m sent by {operator}", robot if self.own_goals else "")

    def note(self, text: str, subject: str = "", level: int = OK) -> None:
        """Write a line into the event log."""
        self._desk.note(FieldEvent(time.time(), text, subject, level))

    def check(self, operator: str) -> PreflightResult:
        """Run the preflight, which takes some seconds; nothing moves."""
        from robomarl.ros.preflight.run import CheckOptions, preflight

        rows = tuple(preflight(self.fleet, CheckOptions(namespace=self._base)))
        self.checked = PreflightResult(rows, operator, time.time())
        failed = self.checked.failed
        text = f"{failed} of {len(rows)} checks failed" if failed else f"no check of {len(rows)} failed"
        self.note(f"preflight by {operator}: {text}", level=WARN if failed else OK)
        return self.checked


@contextmanager
def running_station(fleet: Fleet, base: str) -> Iterator[Station]:
    """Open a station on the fleet's nodes, and close it.

    Raises:
        UserError: ROS refuses to start.
    """
    from robomarl.field.scene.running import RunningStage
    from robomarl.ros.desk.desk_node import desk_node
    from robomarl.ros.desk.field_desk import FieldDesk

    team = tuple(robot.name for robot in fleet.own)
    scene, task = scene_of(fleet.scenario, len(team))
    with desk_node(base) as node:
        stage = RunningStage(node, team, base, looking_like(fleet, scene), task)
        desk = FieldDesk(node, team, base)
        station = Station(fleet, base, desk, stage)
        thread = threading.Thread(target=station.run, name="station", daemon=True)
        thread.start()
        try:
            yield station
        finally:
            station.stop()
            thread.join(5.0)
            desk.close()
