"""`MODEL`: drones that play volleyball, for every task; see `robomarl.lab.sim.model.Model`."""

from robomarl.core.domain.onboard import LazyImport
from robomarl.core.geometry import namespace
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.domains.volleyball.lab.commands import action_of
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks import task_of
from robomarl.domains.volleyball.lab.tasks.base import NUM_DRAWS, begin, once, to_all
from robomarl.domains.volleyball.lab.world import errors_of, moved, sensed
from robomarl.lab.sim.model import Model, TeamWorld


def observation(scenario: VolleyScenario) -> ObservationSpec:
    """Return the published observation of the task."""
    rule = scenario.rule
    names = [name for name in task_of(scenario).features if rule.count or name != "mate_offset"]
    return ObservationSpec(tuple(map(ObservationField, names)), rule)


def start(scenario: VolleyScenario, draws: Array) -> TeamWorld:
    """Return the start of an episode; in tasks with way-points the first of them is the goal."""
    task = task_of(scenario)
    world = begin(scenario, task, draws)
    return first_goal(scenario, world) if scenario.waypoints_m else world


def first_goal(scenario: VolleyScenario, world: TeamWorld) -> TeamWorld:
    """Return the world with the first way-point as everybody's goal."""
    place = scenario.waypoints_m[0]
    zero = world.goal_m[..., :1] * 0
    goal = namespace(zero).concatenate([zero + value for value in place], -1)
    return world._replace(goal_m=goal.astype(world.goal_m.dtype))


def move(scenario: VolleyScenario, world: TeamWorld, command: Array, draws: Array) -> TeamWorld:
    """One decision on the engine `fast`."""
    after, touched = moved(scenario, world, command, draws)
    return judged(scenario, world, after, touched, draws)


def judged(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: Array, draws: Array) -> TeamWorld:
    """Return the moved world with the referee's record, the goals and the next errors of the ball's tracking.

    Args:
        scenario: its task has the rules.
        before: the world before the decision.
        after: its moving parts after it.
        touched: [..., N] bool: whose racket touched the ball on this engine.
        draws: [..., N, D] uniform random numbers.
    """
    result = task_of(scenario).judge(scenario, before, after, touched)
    error = errors_of(scenario, before.own.noise_scale, draws)
    return result._replace(own=result.own._replace(ball_error=error))


def reward_terms(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the published rewards, and the change of the metric, for recipes that ask for it."""
    gained = to_all(after, once(scenario, after.own.rally.gained))
    return {**task_of(scenario).terms(scenario, before, after), "metric": gained}


MODEL = Model(
    observation,
    action_of,
    start,
    move,
    reward_terms,
    weights=lambda scenario: {**task_of(scenario).weights, "metric": 0.0},
    succeeded=lambda scenario, world: world.own.rally.score >= task_of(scenario).least - 1e-3,
    failed=lambda scenario, world: task_of(scenario).failed(scenario, world),
    sensed=sensed,
    messages=LazyImport("robomarl.domains.volleyball.field.messages:messages"),
    not_modelled=("body.drag_per_s", "rotors.min_thrust_n"),
    role=lambda scenario: tuple(range(scenario.count)),
    num_draws=NUM_DRAWS,
)
