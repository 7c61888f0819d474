"""`navigation`: every robot drives to a goal of its own, all at once.

Published: goals and starts in different cells of a grid 0.5 m apart; reward -distance per robot
and step; success where all robots are within 0.1 m of their goals.
"""

from robomarl.core.geometry import norm
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.ground.lab.controllers.room import backed_off
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks.base import (
    DONE,
    OPEN,
    Beginning,
    DrawnPlaces,
    GroundTask,
    Mark,
    cells_m,
    per_step,
    shuffled,
)
from robomarl.lab.sim.model import TeamWorld

NEAR_M = 0.1
"""Distance [m] at which half of the reward for being near is left."""
ROOM_M = 0.44
"""Distance [m] within which teammates make a robot at its goal back off, in the script. Goals are 0.5 m apart, so
only a teammate that wants past comes this near.
"""


def begin(scenario: GroundScenario, draws: Array) -> Beginning:
    """Robots and goals in cells of their own."""
    count, size = scenario.count, scenario.start.size
    cells = shuffled(scenario, draws, 2 * count)
    heading = (draws[..., size : size + count] * 2 - 1) * 3.14159
    return Beginning(cells[..., :count, :], heading, cells[..., count:, :])


def drawn(scenario: GroundScenario) -> DrawnPlaces:
    """Return the cells of the grid, of which every robot gets one as its goal."""
    beside = min(scenario.count, max(scenario.start.shape))
    return DrawnPlaces("goal", cells_m(scenario), scenario.goal_radius_m, beside, scenario.start.spacing_m)


def away_m(world: TeamWorld) -> Array:
    """[..., N] distance to the goals."""
    return norm((world.goal_m - world.pos_m)[..., :2])


def published(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the rewards of the published table."""
    return {"distance": per_step(scenario, -away_m(after))}


def shaping(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Progress, and being there."""
    progress = (away_m(before) - away_m(after)) / scenario.period_s
    return {"progress": progress, "near": 1 / (1 + (away_m(after) / NEAR_M) ** 2)}


def arrived(scenario: GroundScenario, world: TeamWorld) -> Array:
    """[..., N] bool: at the goal."""
    return away_m(world) < scenario.goal_radius_m


def target(scenario: GroundScenario, view: LocalView) -> Array:
    """Return the goals; a robot at its goal backs off from teammates that come near: they want past, and goals
    beside each other are a wall to them.
    """
    own, goal = view.own.pos_m[..., :2], view.goal.pos_m[..., :2]
    return goal + backed_off(goal - own, view.heard.pos_m[..., :2] - own[..., None, :], view.heard.mask, ROOM_M)


def marks(scenario: GroundScenario, world: TeamWorld) -> list[Mark]:
    """The goals, with the numbers of their robots, and those too at which they are."""
    half = (scenario.goal_radius_m, scenario.goal_radius_m)
    there = arrived(scenario, world)
    return [Mark(goal[:2], half, DONE if there[i] else OPEN, str(i)) for i, goal in enumerate(world.goal_m)]


NAVIGATION = GroundTask(
    begin=begin,
    features=("goal_offset", "heading", "speed_and_turn", "mates_in_plane"),
    published=published,
    shaping=shaping,
    weights={"distance": 1.0, "progress": 10.0, "near": 1.0},
    succeeded=lambda scenario, world: arrived(scenario, world).all(-1),
    metric=lambda scenario, world: arrived(scenario, world).mean(-1),
    metric_name="arrived_share",
    marks=marks,
    target=target,
    cells=2,
    drawn=drawn,
)
