"""A team that is up behind the link emulator, and everything that a test of faults does to it."""

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.view import Goal
from robomarl.ros import topics
from robomarl.ros.io.node_base import Mailbox
from robomarl.ros.io.processes import child_environment
from robomarl.ros.operator.console import CONFIGURE, DEACTIVATE
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import TeamNodes, bring_up
from robomarl.ros.robot.decision import Held
from robomarl.ros.robot.state_machine import Order, State

ROBOTS = ("left", "right")
LEFT, RIGHT = (f"/{name}/policy_node" for name in ROBOTS)
ROWS: dict[tuple[str, ...], None] = {}
"""Of the page of faults."""
PATIENCE_S = 30.0
"""Far more than anything here takes on a machine that has other things to do."""
Row = dict[str, float]


def fault(*row: str) -> Callable[[Any], Any]:
    """A row of the page: what is done, what must happen, within how many ticks, who says so."""
    assert len(row) == 4
    ROWS[row] = None
    return lambda test: test


@dataclass(frozen=True)
class Files:
    """What a team is brought up from."""

    folder: Path
    fleet: Path
    bundle: Path

    def plan(self) -> PlanOptions:
        return PlanOptions(
            bundle=str(self.bundle),
            root=str(self.folder),
            sim=True,
            link=True,
            record=str(self.folder / "bag"),
            params_file=str(self.folder / "params.yaml"),
        )


def write_files(folder: Path, bundle: Path, **field: Any) -> Files:
    """Fleet and parameters of a pair that is patient: faults can be taken back in time, and busy machines do."""
    robots = [{"name": name, "index": index, "folder": str(folder / name)} for index, name in enumerate(ROBOTS)]
    fleet = {"version": 1, "name": "pair", "vehicle": "crazyflie_21", "scenario": "swap_2", "robots": robots}
    (folder / "pair.yaml").write_text(yaml.safe_dump({**fleet, "field": field}))
    parameters = {"silent_after_s": 10.0, "arm_lasts_s": 600.0, "heartbeat_after_s": 3.0, "robot_lost_after_s": 3.0}
    (folder / "params.yaml").write_text(yaml.safe_dump({"/**/policy_node": {"ros__parameters": parameters}}))
    return Files(folder, folder / "pair.yaml", bundle)


class FaultRig:
    """One team; every method waits until what it did is there."""

    def __init__(self, team: TeamNodes, lines: list[str], files: Files, specs: list[NodeSpec]) -> None:
        self.team, self.console, self.files = team, team.console, files
        self._lines, self._specs = lines, {spec.full_name: spec for spec in specs}
        self.node = team.console._node
        self._link = self.node.create_client(SetParameters, "/link/set_parameters")
        self._diagnostics = Mailbox(self.node, topics.DIAGNOSTICS, "/diagnostics", _statuses)
        self.goals: dict[str, Goal] = {}
        self.said: dict[str, list[tuple[str, dict[str, str]]]] = {}
        self.rows: dict[str, list[Row]] = {name: [] for name in ROBOTS}

    def listen(self) -> None:
        for statuses, _ in self._diagnostics.take():
            for name, text, values in statuses:
                self.said.setdefault(name, []).append((text, values))
        for name in ROBOTS:
            self.rows[name] += self.console.take_ticks(name)

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        def heard() -> bool:
            self.listen()
            return condition()

        self.console.wait(heard, PATIENCE_S, what)

    def forget(self) -> None:
        """Only what comes from now on counts."""
        self.listen()
        self.said.clear()
        for rows in self.rows.values():
            rows.clear()

    def fly(self) -> None:
        """Both robots in ACTIVE, with nothing left of the fault before."""
        self.set(sensor=[""], cut=[""], loss=0.0, delay_s=0.0)
        self.console.change(DEACTIVATE, ROBOTS)
        self.goals = dict(zip(ROBOTS, self.console.reset(), strict=True))
        self._send_goals(*ROBOTS)
        assert self.console.start(ROBOTS) == dict.fromkeys(ROBOTS, "")
        self.wait_for_state(State.ACTIVE, *ROBOTS)
        self.forget()

    def set(self, **parameters: Any) -> None:
        """Parameters of the link emulator."""
        given = [Parameter(name, value=value).to_parameter_msg() for name, value in parameters.items()]
        self.console.wait(self._link.service_is_ready, PATIENCE_S, "the link emulator")
        answer = self._link.call_async(SetParameters.Request(parameters=given))
        self.console.wait(answer.done, PATIENCE_S, "the link emulator's answer")
        assert all(result.successful for result in answer.result().results)  # type: ignore[union-attr]

    def wait_for_state(self, state: State, *robots: str) -> None:
        at = lambda name: bool(self.rows[name]) and self.rows[name][-1]["state"] == state  # noqa: E731
        self.wait(lambda: all(map(at, robots)), f"{robots} in {state.name}")

    def wait_for_rows(self, robot: str, condition: Callable[[Row], bool], count: int = 3) -> list[Row]:
        """Rows of a robot that fulfil a condition, as soon as there are so many."""
        found = lambda: [row for row in self.rows[robot] if condition(row)]  # noqa: E731
        self.wait(lambda: len(found()) >= count, f"{count} such ticks of {robot}")
        return found()

    def wait_for_words(self, name: str, *words: str) -> None:
        """A diagnostic of a node that says so, in its message or its values."""

        def said() -> bool:
            texts = (f"{text} {values}" for text, values in self.said.get(name, []))
            return any(all(word in text for word in words) for text in texts)

        self.wait(said, f"{name} to say {words}")

    def wait_for_line(self, text: str) -> None:
        self.wait(lambda: any(text in line for line in self._lines), f"the log to say {text!r}")

    def _send_goals(self, *robots: str) -> None:
        for name in robots:
            with suppress(UserError):  # a killed process is in discovery for a while, and acknowledges nothing
                self.console.send_goals({name: self.goals[name]}, 1.0)

    def kill(self, name: str) -> None:
        self.team.processes.kill(name, signal.SIGKILL)

    def start(self, name: str, **parameters: Any) -> None:
        """A node again, with other parameters; None leaves one out."""
        spec = self._specs[name]
        given = {k: v for k, v in {**spec.parameters, **parameters}.items() if v is not None}
        self.team.processes.start([replace(spec, parameters=given)], child_environment(self.team.environment))

    def configure(self, robot: str) -> None:
        """Once its process answers."""
        self.forget()
        while not self.rows[robot]:  # a killed process is in discovery for a while, and does not answer
            with suppress(UserError):
                self.console.change(CONFIGURE, [robot], 3.0)
            self.listen()
        self._send_goals(robot)
        self.wait(lambda: bool(self.rows[robot]), "its ticks")

    def order(self, order: Order, who: str) -> str:
        return self.console.order(order, [who], PATIENCE_S)[who]

    def limit_file_size(self, node: str, size: int) -> None:
        """As if the disk had room for so many bytes."""
        pid = self.team.processes.running[node].popen.pid
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def send(self, signal_: signal.Signals, node: str) -> None:
        self.team.processes.running[node].popen.send_signal(signal_)


@contextmanager
def up(files: Files) -> Iterator[FaultRig]:
    """The team, configured."""
    lines: list[str] = []
    fleet, plan = load_fleet(str(files.fleet)), files.plan()
    with bring_up(fleet, plan, None, lambda name, line: lines.append(f"{name} {line}")) as team:
        team.configure()
        yield FaultRig(team, lines, files, plan_fleet(fleet, plan))


def blind(row: Row) -> bool:
    """A tick of blind braking."""
    return row["reason"] == Held.BLIND


def accelerations(rows: list[Row]) -> np.ndarray:
    """[T, 3] what was commanded."""
    return np.array([[row[f"command.acceleration.{axis}"] for axis in "xyz"] for row in rows])


def _statuses(message: DiagnosticArray) -> list[tuple[str, str, dict[str, str]]]:
    statuses: Any = message.status
    return [(s.name, s.message, {value.key: value.value for value in s.values}) for s in statuses]
