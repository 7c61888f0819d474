"""`MATCH_MODEL`: two teams of drones that play volleyball, as a `Model` whose robots are those of both teams."""

from dataclasses import dataclass

import numpy as np

from robomarl.core.domain.onboard import LazyImport
from robomarl.core.features import NeighbourRule
from robomarl.core.geometry import namespace, norm
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.core.view import LocalView, Plan
from robomarl.domains.volleyball.lab.match.rules import FAULTS
from robomarl.domains.volleyball.lab.match.scenario import MatchScenario
from robomarl.domains.volleyball.lab.match.world import begin, both_views, judge, possession_of
from robomarl.domains.volleyball.lab.tasks.base import BALL, NUM_DRAWS, STATE, beside_ball_m, once
from robomarl.domains.volleyball.lab.world import errors_of, moved
from robomarl.lab.sim.model import Model, TeamWorld, accelerated

METRIC = "win_rate"
DOWN = tuple(FAULTS.index(name) for name in ("fallen", "too_close"))
"""Faults that are punished by themselves."""


def observed(scenario: MatchScenario) -> tuple[str, ...]:
    """Return the names of what a robot observes: the published elements, and last which mates may hit."""
    count = scenario.count
    if count == 1:
        return (*STATE, BALL[0], "opponent_offset", *BALL[1:], "turn", "team_hits_1")
    of_team = (f"number_{count}", "may_not_hit", f"players_{count}", f"team_hits_{count}")
    return (*STATE, *BALL, "turn", *of_team)


def observation(scenario: MatchScenario) -> ObservationSpec:
    """Return the observation."""
    return ObservationSpec(tuple(map(ObservationField, observed(scenario))), NeighbourRule())


def both_ways(scenario: MatchScenario, command: Array) -> Array:
    """Commands [..., M, A] with those of the second team turned from its court frame to the world, or back."""
    xp, signs = namespace(command), np.ones((scenario.robots, command.shape[-1]), np.float32)
    signs[scenario.count :, :2] = -1
    return command * xp.asarray(signs, dtype=command.dtype)


@dataclass(frozen=True)
class MatchModel(Model[MatchScenario]):
    """Robots are those of both teams; commands, plans and views of each team are in its own court frame."""

    def clipped(self, scenario: MatchScenario, command: Array) -> Array:
        """Return the commands that are sent, within their limits, in the world frame."""
        return both_ways(scenario, super().clipped(scenario, command))

    def completed(
        self, scenario: MatchScenario, before: TeamWorld, after: TeamWorld, plan: Plan | None = None
    ) -> TeamWorld:
        """The world after a decision with messages, distances and the count of decisions brought up to date."""
        if plan is not None:
            plan = Plan(*(both_ways(scenario, part) for part in plan))
        return super().completed(scenario, before, after, plan)

    def views(self, scenario: MatchScenario, world: TeamWorld) -> LocalView:
        """Return the view of every robot, [..., M, ...]."""
        return both_views(scenario, world)


def move(scenario: MatchScenario, world: TeamWorld, command: Array, draws: Array) -> TeamWorld:
    """One decision on the engine `fast`."""
    after, touched = moved(scenario, world, command, draws)
    return judged(scenario, world, after, touched, draws)


def judged(scenario: MatchScenario, before: TeamWorld, after: TeamWorld, touched: Array, draws: Array) -> TeamWorld:
    """Return the moved world with the referee's record and the next errors of the tracking, as `model.judged`."""
    result = judge(scenario, before, after, touched)
    error = errors_of(scenario, before.own.noise_scale, draws)
    return result._replace(own=result.own._replace(ball_error=error))


def by_side(scenario: MatchScenario, value: Array) -> Array:
    """Numbers of both sides [..., 2] as those of every robot [..., M]."""
    return namespace(value).repeat(value, scenario.count, -1)


def reward_terms(scenario: MatchScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the published rewards of every robot, [..., M], and the change of the result, as `metric`."""
    xp, rally = namespace(after.pos_m), after.own.rally
    record, last = possession_of(rally.marks), possession_of(before.own.rally.marks)
    shape = record.may_not.shape
    hits = rally.hit.reshape(shape).any(-1)
    change = xp.stack([rally.gained, -rally.gained], -1)
    down = (record.found[..., DOWN] > last.found[..., DOWN]).any(-1)
    return {
        "win": once(scenario, by_side(scenario, 2 * change)),
        "hit": once(scenario, by_side(scenario, hits)),
        "near": once(scenario, near_ball(scenario, after)),
        "anchor": once(scenario, 1 / (1 + norm(after.pos_m - after.goal_m))),
        "down": once(scenario, by_side(scenario, down)),
        "metric": once(scenario, by_side(scenario, change)),
    }


def near_ball(scenario: MatchScenario, world: TeamWorld) -> Array:
    """[..., M] 1 / (1 + d), d [m] the least distance to the ball of all robots of the side that may hit it, else 0.

    With one robot on a side, d is the horizontal distance.
    """
    xp, record = namespace(world.pos_m), possession_of(world.own.rally.marks)
    away = norm(world.own.ball_pos_m[..., None, :] - world.pos_m) if scenario.count > 1 else beside_ball_m(world)
    may = record.may_not < 0.5
    least = xp.where(may, away.reshape(may.shape), np.inf).min(-1)
    return by_side(scenario, 1 / (1 + least))


def weights(scenario: MatchScenario) -> dict[str, float]:
    """Return the published weights."""
    alone = scenario.count == 1
    return {
        "win": 100.0,
        "hit": 5.0 if alone else 10.0,
        "near": 0.5,
        "anchor": 0.0 if alone else 0.05,
        "down": -100.0,
        "metric": 0.0,
    }


MATCH_MODEL = MatchModel(
    observation,
    accelerated,
    begin,
    move,
    reward_terms,
    weights=weights,
    succeeded=lambda scenario, world: world.own.rally.score > 0.75,
    failed=lambda scenario, world: world.own.rally.is_over,
    messages=LazyImport("robomarl.domains.volleyball.field.messages:messages"),
    not_modelled=("body.drag_per_s", "rotors.min_thrust_n"),
    num_draws=NUM_DRAWS,
)
