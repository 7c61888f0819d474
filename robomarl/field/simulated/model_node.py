"""`model_node`: the simulator of teams that are said by a `Model`.

It decides at the policy's rate: a command is in force from the decision after its arrival to the next one.
"""

import math
import sys
from collections.abc import Mapping

import numpy as np

from robomarl.core.config import UserError, suggest
from robomarl.core.domain.scenario import needed
from robomarl.core.view import Goal
from robomarl.field.simulated.team_sim_node import TeamSimNode
from robomarl.lab.sim.model.batch import ModelSim
from robomarl.lab.sim.model.engines import engines, make_model_sim
from robomarl.lab.sim.model.model import Model
from robomarl.lab.sim.model.world import TeamWorld
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of
from robomarl.ros.flight_score import Score
from robomarl.ros.io.messages import Estimate, Message
from robomarl.ros.io.node_base import run_node
from robomarl.ros.timing.failed import place_of

JITTER_M = 1e-6
"""Motion of an estimate at rest: an estimate without any change is taken for a dead sensor."""
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


class RealTimeModel:
    """The robots of a `Model`, one decision at a time, and their judge. No ROS."""

    every = 1

    def __init__(self, model: Model, scenario: Scenario) -> None:
        """Take them; call `reset` before the first step."""
        self.model, self._scenario, self._resets = model, scenario, -1
        self.width = len(model.action(scenario).sent)
        """A, elements of a command."""

    @property
    def dt_s(self) -> float:
        """Time that one step takes."""
        return self._scenario.period_s

    def reset(self, seed: int) -> None:
        """New places and goals, drawn from the seed; everybody is still."""
        self._sim = self.simulated(seed)
        self._sim.reset()
        self._seed, self._resets = seed, self._resets + 1
        self._command = np.zeros((1, len(self.goals), self.width), np.float32)
        self._has_begun = self._failed = self._touching = False
        self._steps = self._flown = self._collisions = 0
        self._succeeded_s, self._closest_m = math.nan, math.inf

    def simulated(self, seed: int) -> ModelSim:
        """One episode on the last of the model's engines."""
        return make_model_sim(self.model, self._scenario, engines(self.model)[-1], 1, seed)

    @property
    def goals(self) -> list[Goal]:
        """Goals of the robots."""
        return [Goal(goal, UPRIGHT) for goal in self.world.goal_m[0].astype(float)]

    @property
    def world(self) -> TeamWorld:
        """True state now; axes [1, N, ...]."""
        return self._sim.world

    def command(self, index: int, command: np.ndarray) -> None:
        """A command [A] arrived at a robot."""
        self._command[0, index], self._has_begun = command, True

    def set_goal(self, index: int, goal_m: np.ndarray) -> None:
        """A robot was given another goal [3]: for the judge, no robot is told here."""
        goals = self.world.goal_m.copy()
        goals[0, index] = goal_m
        self._sim.set_world(self.world._replace(goal_m=goals))

    def stop(self) -> None:
        """The E-stop is pressed: until they are commanded again, all are commanded nothing."""
        self._command[:] = 0.0

    def step(self) -> None:
        """One decision."""
        self._sim.step(self._command)
        self._steps += 1
        if self._has_begun:
            self._judge()

    def _judge(self) -> None:
        self._flown += 1
        touching = bool(self.model.touching(self._scenario, self.world).any())
        self._collisions += touching and not self._touching
        self._touching = touching
        self._failed = self._failed or bool(self.model.ended(self._scenario, self.world)[0])
        self._closest_m = min(self._closest_m, float(self.world.closest_m.min()))
        if math.isnan(self._succeeded_s) and self.model.succeeded(self._scenario, self.world)[0]:
            self._succeeded_s = self._flown * self.dt_s

    def truth(self) -> Estimate:
        """True states of all robots, [N, ...] each."""
        parts = (self.world.pos_m, self.world.quat_wxyz, self.world.vel_m_s, self.world.omega_rad_s)
        return Estimate(*(part[0].astype(float) for part in parts))

    def estimates(self, truth: Estimate) -> list[Estimate]:
        """Return the state estimate that each robot's estimator reports now; `truth` is that of now."""
        moved = truth._replace(pos_m=truth.pos_m + JITTER_M * (self._steps % 2))
        return [Estimate(*row) for row in zip(*moved, strict=True)]

    def score(self, slipped_s: float = 0.0) -> Score:
        """The judge's figures now."""
        flown = (self._flown * self.dt_s, self._succeeded_s, float(self._failed), self._collisions, self._closest_m)
        return Score(self._resets, self._seed, *flown, self._scenario.time_limit_s, slipped_s)


class ModelNode(TeamSimNode[Scenario]):
    """All robots of a team, simulated."""

    kind = Scenario
    _team: RealTimeModel

    def made(self, scenario: Scenario) -> RealTimeModel:
        """The robots; raises `UserError` where the scenario's domain is no `Model`."""
        model = needed(simulation_of(scenario).model, scenario, "model that this simulator knows")
        return RealTimeModel(model, scenario)

    def sense(self, stamp_s: float) -> dict[str, Message]:
        """Return the messages that the model gives."""
        made = self._team.model.messages(self._scenario, self._team.world, stamp_s)
        if fault := self._fault_of(made):
            raise UserError(f"{place_of(self._team.model.messages)}: messages() returned {fault}.")
        return made

    def _fault_of(self, made: object) -> str:
        """Return the fault of the messages of a model; "" if each is of its topic's type."""
        wanted = {name: made_for.msg_type for name, made_for in self._sensed.items()}
        if not isinstance(made, Mapping):
            return f"{made!r}, not a message by the name of each topic ({', '.join(wanted)})"
        for name, message in made.items():
            if name not in wanted:
                return f"a message for {name!r}; {suggest(str(name), wanted, 'the task senses').rstrip('.')}"
            if not isinstance(message, bytes | wanted[name]):
                return f"{type(message).__name__} for {name!r}, which is of type {wanted[name].__name__}"
        return ""


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl model_node`."""
    return run_node(ModelNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
