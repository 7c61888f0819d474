"""`python -m benchmarks.nodes.freezes`: one process of a flying team stands still for a while, at a random instant.

The nodes are real and come from the operator's fleet plan; the robots are MuJoCo's. One process gets SIGSTOP, and
SIGCONT after the given time. A flight is over when every robot stands on the ground or rests in the air with its state
unchanged. Each flight is one line, and one row of `--json`: states at the end and on the way, heights, closest
distance, contacts. The exit status is 1 unless every flight ended as `STATED`, at rest and without a contact.
"""

import argparse
import json
import math
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros import topics
from robomarl.ros.io.node_base import Mailbox
from robomarl.ros.operator.console import DEACTIVATE
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import Rehearsal, TeamNodes, bring_up
from robomarl.ros.robot.state_machine import State
from robomarl.ros.timing.priority import real_time

FLEET, BUNDLE, VICTIM = "local_4", "policies/swap_4", 1
NODES = {
    "policy": "/robot_1/policy_node",
    "monitor": "/monitor",
    "recorder": "/recorder",
    "sim": "/sim",
    "link": "/link",
    "adapter": "/crazyflie_node",
    "all": "",
}
"""Processes that can be frozen, by the word for them; all of them at once are a machine that is suspended."""
GOES_ON = "ACTIVE in the air; others ACTIVE in the air"
VICTIM_DOWN = "STOP on the ground; others HOLD in the air"
ALL_DOWN = "STOP on the ground; others STOP on the ground"
STATED = {
    "policy": (GOES_ON, *(VICTIM_DOWN,) * 3, "FROZEN on the ground; others HOLD in the air"),
    "monitor": (GOES_ON, *(ALL_DOWN,) * 4),
    "recorder": (GOES_ON,) * 5,
    "sim": (GOES_ON, *(ALL_DOWN,) * 3, "STOP in the air; others STOP in the air"),  # nothing moves in it any more
    "link": (GOES_ON, *(ALL_DOWN,) * 4),
    "adapter": (GOES_ON, *(ALL_DOWN,) * 4),
    "all": (GOES_ON, *(ALL_DOWN,) * 3),
}
"""How a flight ends, for each of `FREEZES_S`: docs/faults.md says by which way."""
FREEZES_S = (0.3, 1.0, 5.0, 9.0, math.inf)
WITHIN_S = (0.2, 4.0)
"""Of the flight, when the freeze begins."""
FOREVER_S = 12.0
"""A freeze that does not end within this has no other consequences later."""
RESTS_S, SLOW_M_S, GROUND_M = 1.5, 0.1, 0.15
"""Rest means: for so long no state changes and no robot is faster; lower than the last one it stands."""
SWAPS_S = 12.0
"""A team that flies on has arrived, and rests, by then."""
PATIENCE_S = 45.0


@dataclass(frozen=True)
class Outcome:
    """What came of one flight."""

    process: str
    freeze_s: float
    """inf: for ever."""
    at_s: float
    """Of the flight, when the process was stopped."""
    frozen_s: float
    """How long it really was; NaN: for ever."""
    states: tuple[str, ...]
    """Of the robots at the end, in the order of their indices."""
    passed: tuple[str, ...]
    """States that each robot went through from the freeze on, joined by `>`."""
    heights_m: tuple[float, ...]
    contacts: int
    closest_m: float
    rested: bool
    """Every robot stood on the ground or at one place at the end."""

    @property
    def action(self) -> str:
        """What must be the same in every flight: of the robot of the process, and of the others."""
        own, others = self.states[VICTIM], {s for i, s in enumerate(self.states) if i != VICTIM}
        down = ["on the ground" if height < GROUND_M else "in the air" for height in self.heights_m]
        places = {place for i, place in enumerate(down) if i != VICTIM}
        return f"{own} {down[VICTIM]}; others {'/'.join(sorted(others))} {'/'.join(sorted(places))}"

    @property
    def as_stated(self) -> bool:
        """The flight ended as `STATED`, at rest and without a contact; a freeze that is not listed is not stated."""
        stated = dict(zip(FREEZES_S, STATED[self.process], strict=False)).get(self.freeze_s, self.action)
        return self.action == stated and self.rested and not self.contacts

    @property
    def line(self) -> str:
        """The flight as one line."""
        heights = " ".join(f"{height:.2f}" for height in self.heights_m)
        return (
            f"{self.process} {self.freeze_s:g} s ({self.frozen_s:.2f}) at {self.at_s:.2f} s: {self.action}; "
            f"heights {heights} m; closest {self.closest_m:.3f} m, {self.contacts} contacts; "
            f"{'' if self.rested else 'NOT AT REST; '}{'' if self.as_stated else 'NOT AS STATED; '}"
            f"{' | '.join(self.passed)}"
        )


class FrozenTeam(Rehearsal):
    """A team that flies again and again, and what is seen of it."""

    def __init__(self, team: TeamNodes, process: str) -> None:
        """Listen to the simulator; `process` is a word of `NODES`."""
        super().__init__(team)
        self._process = process
        node = team.console._node
        self._truth = Mailbox(node, topics.TRUTH, topics.TRUTH.of("sim", ""), _poses, depth=50)
        self._pos_m, self._vel_m_s = np.zeros((4, 3)), np.zeros((4, 3))
        self._status: dict[str, float] = {}
        self._changed_s = -math.inf
        self._passed: dict[str, list[str]] = {}
        self._frozen_s = math.nan
        self._silent: set[str] = set()
        """Robots that have told nothing since the end of the freeze."""

    def listen(self) -> None:
        """Ticks, truth and the judge's figures."""
        for name in self.ticks:
            for row in self.console.take_ticks(name):
                self._note(name, State(int(row["state"])).name)
                self._silent.discard(name)
        for (pos_m, vel_m_s), _ in self._truth.take():
            self._pos_m, self._vel_m_s = pos_m, vel_m_s
            self._changed_s = time.monotonic() if np.abs(self._vel_m_s).max() > SLOW_M_S else self._changed_s
        self._status = self.console.status.latest() or self._status

    def fly(self, freeze_s: float, at_s: float) -> Outcome:
        """One flight with a freeze; the process goes on at the end, whatever it was."""
        self._begin()
        self.rest(at_s)
        for name, passed in self._passed.items():
            self._passed[name] = passed[-1:]
        with self._frozen():
            self.rest(min(freeze_s, FOREVER_S))
            if math.isinf(freeze_s):
                return self._end(freeze_s, at_s)
        return self._end(freeze_s, at_s)

    @contextmanager
    def _frozen(self) -> Iterator[None]:
        running = self.team.processes.running
        stopped = [running[name].popen for name in ([NODES[self._process]] if NODES[self._process] else running)]
        real_time(True)  # a busy machine would make the freeze longer
        began_s = time.monotonic()
        for process in stopped:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in stopped:
                process.send_signal(signal.SIGCONT)
            self._frozen_s = time.monotonic() - began_s
            real_time(False)

    def _begin(self) -> None:
        names = self.console.team
        self.console.change(DEACTIVATE, names)
        goals = dict(zip(names, self.console.reset(), strict=True))
        self.console.send_goals(goals)
        refused = self.console.start(names)
        assert not any(refused.values()), refused
        self._passed = {name: [] for name in names}
        self.until(lambda: all(p[-1:] == ["ACTIVE"] for p in self._passed.values()), PATIENCE_S, "all ACTIVE")

    def _end(self, freeze_s: float, at_s: float) -> Outcome:
        self._changed_s = time.monotonic()
        flown_s = self._changed_s + (SWAPS_S - at_s - min(freeze_s, FOREVER_S))
        silent, frozen = math.isinf(freeze_s) and self._process == "sim", self.console.team[VICTIM]
        self._silent = set(self._passed) - ({frozen} if math.isinf(freeze_s) and self._process == "policy" else set())

        def over() -> bool:
            passed = self._passed
            flies_on = any(p[-1] == "ACTIVE" for p in passed.values())
            lands = any(p[-1] == "LAND" for p in passed.values())
            waits = flies_on and time.monotonic() < flown_s
            above = (self._pos_m[:, 2] > GROUND_M).tolist()
            sinks = any(p[-1] == "STOP" and up for p, up in zip(passed.values(), above, strict=True))
            return not (self._silent or lands or waits or sinks) and self._rests()

        end_s = time.monotonic() + PATIENCE_S
        self.until(lambda: silent or over() or time.monotonic() > end_s, PATIENCE_S + 1, "the end")
        states, judged = [p[-1] for p in self._passed.values()], self._status
        if math.isinf(freeze_s) and self._process == "policy":
            states[VICTIM] = "FROZEN"  # what it told last is long past
        return Outcome(
            process=self._process,
            freeze_s=freeze_s,
            at_s=at_s,
            frozen_s=math.nan if math.isinf(freeze_s) else self._frozen_s,
            states=tuple(states),
            passed=tuple(">".join(p) for p in self._passed.values()),
            heights_m=tuple(self._pos_m[:, 2].round(3).tolist()),
            contacts=int(judged["collisions"]),
            closest_m=judged["min_distance_m"],
            rested=silent or self._rests(),
        )

    def _rests(self) -> bool:
        """No state has changed and no robot moved of late."""
        return time.monotonic() - self._changed_s > RESTS_S

    def _note(self, name: str, state: str) -> None:
        passed = self._passed.setdefault(name, [])
        if passed[-1:] != [state]:
            passed.append(state)
            self._changed_s = time.monotonic()


def flown(process: str, freezes_s: list[float], flights: int, seed: int) -> Iterator[Outcome]:
    """Flights of one team with freezes of one process, in turn; brought up once for all of them.

    Crazyflies that have stopped their motors by themselves are switched off and on before they fly again: with an
    adapter the team is brought up for each flight.
    """
    draws = random.Random(seed)
    flights_s = [(freeze_s, draws.uniform(*WITHIN_S)) for _ in range(flights) for freeze_s in freezes_s]
    for part in [[flight] for flight in flights_s] if process == "adapter" else [flights_s]:
        with TemporaryDirectory() as root, bring_up(load_fleet(FLEET), _plan(process, root), None, _relay()) as team:
            team.configure()
            rig = FrozenTeam(team, process)
            for freeze_s, at_s in part:
                yield rig.fly(freeze_s, at_s)


def _plan(process: str, root: str) -> PlanOptions:
    adapter = process == "adapter"
    return PlanOptions(
        bundle=str(Path(BUNDLE).resolve()),
        root=root,
        sim=True,
        link=process == "link",
        record=str(Path(root, "bag")) if process == "recorder" else "",
        vehicles="crazyflie" if adapter else "",
        ground=adapter,
    )


def _relay() -> Callable[[str, str], None]:
    """Print what nodes say where the environment asks for it."""
    shown = bool(os.environ.get("FREEZES_VERBOSE"))
    return lambda name, line: print(f"    {name} {line}", flush=True) if shown else None


def _poses(message: Any) -> tuple[np.ndarray, np.ndarray]:
    """[N, 3] places and [N, 3] velocities."""
    point = message.points[0]
    place, speed = [t.translation for t in point.transforms], [v.linear for v in point.velocities]
    return np.array([(p.x, p.y, p.z) for p in place]), np.array([(v.x, v.y, v.z) for v in speed])


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--process", choices=NODES, default="policy")
    parser.add_argument("--freeze", type=float, nargs="+", default=[0.3, 1.0, 5.0, 9.0], help="seconds; inf: for ever")
    parser.add_argument("--flights", type=int, default=20, help="of each freeze")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="file for the flights")
    given = parser.parse_args()
    outcomes: list[Outcome] = []
    for outcome in flown(given.process, given.freeze, given.flights, given.seed):
        outcomes.append(outcome)
        print(outcome.line, flush=True)
        if given.json:
            given.json.write_text(json.dumps([asdict(o) | {"action": o.action} for o in outcomes], indent=1))
    for freeze_s in given.freeze:
        those = [o for o in outcomes if o.freeze_s == freeze_s]
        count = {action: sum(o.action == action for o in those) for action in sorted({o.action for o in those})}
        print(
            f"{given.process} {freeze_s:g} s, {len(those)} flights: {count}, {sum(o.contacts for o in those)} contacts"
        )
    return 0 if all(o.as_stated for o in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
