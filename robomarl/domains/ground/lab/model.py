"""`MODEL`: teams of ground robots, for every task; see `robomarl.lab.sim.model.Model`."""

from robomarl.core.domain.onboard import LazyImport
from robomarl.core.geometry import components, namespace
from robomarl.core.spec import GAIN, ActionField, ActionSpec, ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.domains.ground.lab.controllers.straight import AroundLaw, StraightLaw
from robomarl.domains.ground.lab.drive import driven
from robomarl.domains.ground.lab.mjcf import robots_of
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks import task_of
from robomarl.domains.ground.lab.tasks.base import GroundOwn, world_of
from robomarl.lab.sim.model import Model, TeamWorld, accelerated
from robomarl.lab.sim.model.obstacles import obstacle_gap

NUM_DRAWS = 40
"""Uniform random numbers of each robot and decision; a start takes as many as the grid has cells, and more."""


def observation(scenario: GroundScenario) -> ObservationSpec:
    """Return the observation of the task; teammates are selected by the scenario's radio."""
    first, rule = law(scenario), scenario.rule
    names = [field.name for field in first.observation.fields] if first else []
    names += [name for name in task_of(scenario).features if name not in names]
    names += ["mates_plan"] if scenario.sees_plans else []
    names = [name for name in names if rule.count or name not in ("mates_in_plane", "mates_plan")]
    return ObservationSpec(tuple(map(ObservationField, names)), rule)


def law(scenario: GroundScenario) -> StraightLaw | None:
    """Return the controller towards the goal if policies set gains alone: straight, or around obstacles. None
    otherwise.
    """
    if scenario.least_gain_per_s is None:
        return None
    return AroundLaw(scenario) if scenario.goes_around else StraightLaw(scenario)


def action(scenario: GroundScenario) -> ActionSpec:
    """Acceleration in the plane, of robots that turn by themselves the yaw rate, and the gain where policies set it."""
    vehicle, turned = scenario.vehicle_config, accelerated(scenario)
    if scenario.least_gain_per_s is None:
        return turned
    gain = ActionField(GAIN, "1/s", "filter", scenario.least_gain_per_s, vehicle.safety.gain_per_s)
    return ActionSpec((*turned.fields, gain))


def flat(draws: Array) -> Array:
    """[..., N, D] as [..., N D]."""
    return draws.reshape(*draws.shape[:-2], -1)


def start(scenario: GroundScenario, draws: Array) -> TeamWorld:
    """Return the start that the task draws."""
    return world_of(scenario, task_of(scenario).begin(scenario, flat(draws)))


def move(scenario: GroundScenario, world: TeamWorld, command: Array, draws: Array) -> TeamWorld:
    """One decision: the last command is in force, and this one from the next decision on."""
    task, own = task_of(scenario), world.own
    after = driven(scenario, world, own.command, own.most_m_s)
    xp, dtype = namespace(world.pos_m), world.pos_m.dtype
    kept = GroundOwn(
        xp.asarray(command, dtype=own.command.dtype),
        task.most_m_s(scenario, world),
        task.update(scenario, world, flat(draws)),
    )
    rounded = {name: getattr(after, name).astype(dtype) for name in ("pos_m", "vel_m_s", "quat_wxyz", "omega_rad_s")}
    return after._replace(own=kept, **rounded)


def reward_terms(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the published reward terms, and those that only training has."""
    task = task_of(scenario)
    return {**task.published(scenario, before, after), **task.shaping(scenario, before, after)}


def left_arena(scenario: GroundScenario, world: TeamWorld) -> Array:
    """[...] bool: a robot's centre is off the floor's rectangle, or its body in an obstacle."""
    low, high = scenario.arena.low_m, scenario.arena.high_m
    x, y, z = components(world.pos_m)
    hit = obstacle_gap(scenario, (x, y, z)) < scenario.vehicle_config.body.radius_m
    return (hit | (x < low[0]) | (x > high[0]) | (y < low[1]) | (y > high[1])).any(-1)


MODEL = Model(
    observation,
    action,
    start,
    move,
    reward_terms,
    weights=lambda scenario: task_of(scenario).weights,
    succeeded=lambda scenario, world: task_of(scenario).succeeded(scenario, world),
    failed=left_arena,
    sensed=lambda scenario, world: task_of(scenario).sensed(scenario, world),
    messages=LazyImport("robomarl.domains.ground.field.sim_floor:messages"),
    mujoco=robots_of,
    law=law,
    num_draws=NUM_DRAWS,
)
