"""Episodes of flying teams with a policy behind a filter, counted.

Policies and filters are called once per decision for all episodes of a batch. Starts, weather and noise
depend on the seed alone, so that two policies, two filters or two engines meet the same episodes.
"""

import math
import time

import numpy as np
from tqdm import tqdm

from robomarl.domains.flight.batch import TeamSim, make_team
from robomarl.domains.flight.evaluation.hover import Hover, count_hover, hover_figures, start_hover, waiting, watched
from robomarl.domains.flight.evaluation.score import (
    Episodes,
    Step,
    count_step,
    figures,
    join,
    start_episodes,
    successes,
)
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.flight.tasks import task_of
from robomarl.domains.flight.world import World, positions, velocities
from robomarl.domains.payload.controllers.mixed_team import mixed_team
from robomarl.domains.payload.flight_log import load_columns, one_of, stacked
from robomarl.evaluate.evaluate import EvalConfig, Evaluation, conditions_of
from robomarl.evaluate.pilots import make_pilot
from robomarl.evaluate.resolve import FlownPolicy
from robomarl.log import FlightLog
from robomarl.policies.pilot import Pilot, PilotCarry
from robomarl.types import FilterResult

MAX_BATCH = 256
"""Episodes flown side by side at most."""


def evaluate_flights(policy: FlownPolicy, scenario: FlightScenario, config: EvalConfig) -> Evaluation:
    """Fly `config.episodes` episodes and count.

    Raises:
        UserError: unknown engine, or the policy does not fit the scenario's vehicle.
    """
    size = math.ceil(config.episodes / math.ceil(config.episodes / MAX_BATCH))
    return evaluate_team(policy, make_team(scenario, config.sim, size, config.seed), config)


def evaluate_team(policy: FlownPolicy, team: TeamSim, config: EvalConfig) -> Evaluation:
    """`evaluate_flights` with teams that have been made, on whatever plant; `config.sim` is no more than its name."""
    scenario, batches = team.scenario, math.ceil(config.episodes / team.num_envs)
    flight = EpisodeRecorder(make_pilot(mixed_team(policy, scenario), scenario, config.filter), team, config)
    bar = tqdm(
        total=batches * scenario.max_steps,
        unit="step",
        desc=f"{policy.name} on {config.sim}",
        leave=False,
        disable=None if config.progress else True,
    )
    with bar:
        parts = [flight.fly(bar) for _ in range(batches)]
    done, hover = (join(list(part), config.episodes) for part in zip(*parts, strict=True))
    values = {
        **conditions_of(policy, scenario, config),
        **figures(scenario, done),
        "realtime_factor": flight.realtime_factor,
    }
    values |= hover_figures(hover, flight.watched) if config.hover_s else {}
    return Evaluation(values, successes(done), flight.log())


class EpisodeRecorder:
    """Flies batch after batch and keeps the record of one episode."""

    def __init__(self, pilot: Pilot, team: TeamSim, config: EvalConfig) -> None:
        """Nothing flies before `fly`."""
        self._pilot, self._team, self._config = pilot, team, config
        self._task = task_of(team.scenario)
        self._rows: list[tuple[np.ndarray, ...]] = []
        self._load_rows: list[dict[str, np.ndarray]] = []
        self._flown, self._seconds, self._wall_s = 0, 0.0, 0.0
        self.watched = watched(team.scenario, self._task, config.hover_s)
        """Decisions after each success."""

    @property
    def realtime_factor(self) -> float:
        """Simulated over elapsed seconds, all episodes summed, the first decision (compilation) left out."""
        return self._seconds / self._wall_s if self._wall_s else 0.0

    def fly(self, bar: tqdm) -> tuple[Episodes, Hover]:
        """One batch, until every episode is over and every team that succeeded was watched."""
        team, scenario, task = self._team, self._team.scenario, self._task
        team.reset()
        carry = self._pilot.init(team.views())
        done, started_s = start_episodes(team.num_envs), 0.0
        hover = start_hover(scenario, team.num_envs, self.watched)
        for step in range(scenario.max_steps):
            if step == 1:
                started_s = time.perf_counter()
            on, arrived = done.running, waiting(done, hover)
            if not on.any():
                bar.update(scenario.max_steps - step)
                break
            carry, decision = self._decide(carry, on)
            done = count_step(scenario, task, done, decision)
            hover = count_hover(scenario, task, hover, arrived, decision)
            bar.update()
        self._wall_s += time.perf_counter() - started_s
        self._seconds += float(np.maximum(done.steps - 1, 0).sum()) * scenario.period_s
        self._flown += team.num_envs
        with team.aside():
            return done, self._watch(carry, done, hover)

    def _decide(self, carry: PilotCarry, running: np.ndarray) -> tuple[PilotCarry, Step]:
        """One decision of all teams."""
        team, task = self._team, self._task
        before = team.world
        carry, result = self._pilot.step(carry, team.views())
        after = team.step(result.command, self._pilot.plan(carry))
        self._record(before, result, running)
        terms = task.reward_terms(team.scenario, before, after, result.command)
        reward = sum(task.weights[k] * team.scenario.period_s * v for k, v in terms.items())
        contact = getattr(team, "contact", np.zeros(team.num_envs, bool))
        return carry, Step(before, after, result, np.asarray(reward), contact)

    def _watch(self, carry: PilotCarry, done: Episodes, hover: Hover) -> Hover:
        """Fly on until every team that succeeded was watched for long enough."""
        nobody = np.zeros(len(done.running), bool)
        while (on := waiting(done, hover)).any():
            carry, decision = self._decide(carry, nobody)
            hover = count_hover(self._team.scenario, self._task, hover, on, decision)
        return hover

    def log(self) -> FlightLog | None:
        """Flight of the recorded episode."""
        if not self._rows:
            return None
        scenario = self._team.scenario
        vehicle = scenario.vehicle_config
        columns = (np.stack(column) for column in zip(*self._rows, strict=True))
        time_s = np.arange(len(self._rows)) * scenario.period_s
        sizes = (vehicle.body.radius_m, vehicle.safety.separation_m)
        return FlightLog(*[time_s, *columns, *sizes], **stacked(self._load_rows))

    def _record(self, world: World, result: FilterResult, running: np.ndarray) -> None:
        if self._config.record is None:
            return
        env = self._config.record - self._flown
        if 0 <= env < len(running) and running[env]:
            body = world.body
            columns = (
                positions(body),
                np.stack(body.quat, -1),
                velocities(body),
                world.goal_m,
                result.nominal,
                result.command,
                result.active,
            )
            self._rows.append(tuple(np.asarray(c)[env].copy() for c in columns))
            self._load_rows.append(one_of(load_columns(world, self._team.scenario.period_s), env))
