"""`python -m benchmarks.nodes.hostile_flights`: certified robots swap places through ROS 2 while two of them attack.

The nodes are real and come from the operator's fleet plan; the robots are MuJoCo's. Goals of the attackers follow the
nearest robot, the radio loses messages in bursts, and in each flight one policy node is killed, started again,
configured, armed and activated. Each flight is one line, and one row of `--json`. The exit status is 1 after a contact.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import onnx
import tyro
from onnx import TensorProto, helper

from benchmarks.nodes.freezes import _poses, _relay
from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.view import Goal
from robomarl.lab.foreign import import_bundle
from robomarl.ros import convert, topics
from robomarl.ros.io.node_base import Mailbox
from robomarl.ros.operator.console import DEACTIVATE
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import Rehearsal, TeamNodes, bring_up

UP = np.array([1.0, 0.0, 0.0, 0.0])
POSITION_PER_S2, VELOCITY_PER_S = 2.0, 2.5
"""Gains of the law: to the goal, and against the velocity."""
AROUND_PER_S2 = 0.7
"""Gain of the law across the way to the goal: all pass on one side."""
NEAR_GOAL_M = 0.25
PATIENCE_S = 60.0
BEHIND_M = 0.5
"""Distance behind the nearest robot at which an attacker's goal is: it is to be flown through."""


@dataclass(frozen=True)
class HostileFlights:
    """Flights to fly."""

    fleet: str = "swap_8"
    filter: str = "certificate"
    flights: int = 20
    seconds: float = 20.0
    attackers: int = 2
    loss: float = 0.3
    """Share of lost messages, in bursts of `burst`."""
    burst: float = 4.0
    kill_at_s: float = 3.0
    """When one policy node is killed; 0: never."""
    seed: int = 0
    json: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None


@dataclass(frozen=True)
class HostileOutcome:
    """Figures of a flight."""

    contacts: int
    closest_m: float
    """Least distance of two centres."""
    arrived: int
    """Robots at their goals at the end, attackers left out."""
    killed: str
    """Robot whose process was killed."""
    away_s: float
    """Time until it flew again; NaN: it did not within the flight."""


def law_bundle(folder: Path, scenario: str) -> Path:
    """Import a law as a bundle: to the goal, a little to its side, against the velocity; return its folder."""
    gains = np.zeros((6, 4), np.float32)
    eye, side = np.eye(3), np.array([[0, 1.0, 0], [-1.0, 0, 0], [0, 0, 0]])
    gains[:3, :3], gains[3:, :3] = POSITION_PER_S2 * eye + AROUND_PER_S2 * side, -VELOCITY_PER_S * eye
    nodes = [
        helper.make_node("MatMul", ["obs", "gains"], ["raw"]),
        helper.make_node("Clip", ["raw", "low", "high"], ["action"]),
    ]
    constants = {"gains": gains, "low": np.array(-3, np.float32), "high": np.array(3, np.float32)}
    made = [helper.make_tensor(n, TensorProto.FLOAT, v.shape, v.ravel()) for n, v in constants.items()]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", s]) for n, s in (("obs", 6), ("action", 4))]
    graph = helper.make_graph(nodes, "law", ends[:1], ends[1:], made)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "law.onnx")
    text = f'scenario = "{scenario}"\n[observation]\nfields = ["goal_error", "velocity"]\n[action]\nunit = "si"\n'
    (folder / "contract.toml").write_text(text)
    import_bundle(folder / "law.onnx", folder / "contract.toml", folder / "law")
    return folder / "law"


class HostileTeam(Rehearsal):
    """A team with attackers."""

    def __init__(self, team: TeamNodes, given: HostileFlights) -> None:
        """Listen to the simulator."""
        super().__init__(team)
        self._given, node = given, team.console._node
        self._truth = Mailbox(node, topics.TRUTH, topics.TRUTH.of("sim", ""), _poses, depth=50)
        self._pos_m = np.zeros((len(self.console.team), 3))
        self._status: dict[str, float] = {}

    def listen(self) -> None:
        """Ticks, truth and the judge's figures."""
        super().listen()
        for (pos_m, _), _ in self._truth.take():
            self._pos_m = pos_m
        self._status = self.console.status.latest() or self._status

    def fly(self, number: int) -> HostileOutcome:
        """One flight."""
        given, names = self._given, self.console.team
        self._land_all()
        goals = self.console.reset()
        self.console.send_goals(dict(zip(names, goals, strict=True)))
        refused = self.console.start(names)
        assert not any(refused.values()), refused
        began_s, away_s, victim = time.monotonic(), float("nan"), names[number % (len(names) - given.attackers)]
        killed_s = 0.0
        while (flown_s := time.monotonic() - began_s) < given.seconds:
            self._attack(goals)
            self.rest(0.1)
            if given.kill_at_s and not killed_s and flown_s > given.kill_at_s:
                self.team.processes.running[f"/{victim}/policy_node"].popen.kill()
                killed_s = time.monotonic()
            elif killed_s and away_s != away_s and self._flies_again(victim, goals[names.index(victim)]):
                away_s = time.monotonic() - killed_s
        at_goal = np.linalg.norm(self._pos_m - np.array([goal.pos_m for goal in goals]), axis=-1) < NEAR_GOAL_M
        honest = len(names) - given.attackers
        judged = self._status
        return HostileOutcome(
            int(judged["collisions"]), judged["min_distance_m"], int(at_goal[:honest].sum()), victim, away_s
        )

    def _land_all(self) -> None:
        """Deactivate all robots, once the one that was killed last has loaded its bundle again."""
        end_s = time.monotonic() + PATIENCE_S
        while self.team._revived and time.monotonic() < end_s:
            self.team.configure_again()
        self.console.change(DEACTIVATE, self.console.team, PATIENCE_S)

    def _attack(self, goals: list[Goal]) -> None:
        """Send each attacker through the nearest robot."""
        pos, names = self._pos_m, self.console.team
        for i in range(len(names) - self._given.attackers, len(names)):
            away = pos - pos[i]
            distance = np.linalg.norm(away, axis=-1)
            distance[i] = np.inf
            nearest = int(distance.argmin())
            through = pos[nearest] + BEHIND_M * away[nearest] / max(distance[nearest], 1e-3)
            goals[i] = goals[i]._replace(pos_m=np.clip(through, LOW_M, HIGH_M))
            self._tell(names[i], goals[i])

    def _flies_again(self, name: str, goal: Goal) -> bool:
        """Let a robot whose process was started again load its bundle, and arm and activate it once it is ready."""
        self.team.configure_again()
        if name in self.team._revived:
            return False
        self._tell(name, goal)
        with suppress(UserError):  # a dead process is in discovery for a while
            return not any(self.console.start([name]).values())
        return False

    def _tell(self, name: str, goal: Goal) -> None:
        """Send a goal, without waiting for an answer of a process that may be dead."""
        self.console._goals[name].publish(convert.goal_from(goal, time.time()))


LOW_M, HIGH_M = np.array([-3.5, -3.5, 0.6]), np.array([3.5, 3.5, 2.4])
"""Box of the attackers' goals."""


def flown(given: HostileFlights) -> Iterator[HostileOutcome]:
    """Flights of one team, brought up once."""
    fleet = load_fleet(given.fleet)
    fleet = replace(fleet, filter=given.filter, field=replace(fleet.field, on_robot_lost="continue"))
    with TemporaryDirectory() as root:
        bundle = law_bundle(Path(root), fleet.scenario)
        radio = Path(root, "radio.yaml")
        radio.write_text(f"/**/link:\n  ros__parameters:\n    loss: {given.loss}\n    burst: {given.burst}\n")
        plan = PlanOptions(bundle=str(bundle), root=root, sim=True, link=True, seed=given.seed, params_file=str(radio))
        with bring_up(fleet, plan, None, _relay()) as team:
            team.configure()
            rig = HostileTeam(team, given)
            with team.respawning():
                for number in range(given.flights):
                    yield rig.fly(number)


def main() -> int:
    """The command line."""
    given, outcomes = tyro.cli(HostileFlights), []
    for outcome in flown(given):
        outcomes.append(outcome)
        print(outcome, flush=True)
        if given.json:
            given.json.write_text(json.dumps([asdict(each) for each in outcomes], indent=1))
    hit = sum(bool(outcome.contacts) for outcome in outcomes)
    print(f"{hit} of {len(outcomes)} flights with a contact; closest {min(o.closest_m for o in outcomes):.3f} m")
    return int(hit > 0)


if __name__ == "__main__":
    sys.exit(main())
