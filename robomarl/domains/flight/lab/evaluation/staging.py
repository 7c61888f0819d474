"""`STAGING`: flying teams and their loads, as viewers show them."""

import numpy as np

from robomarl.core.log import FlightLog
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.domains.flight.core.payload.scenario import LoadConfig
from robomarl.domains.flight.lab.payload.flight_log import load_columns
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld, positions
from robomarl.lab.scene.looks import look_of
from robomarl.lab.scene.palette import team_colours
from robomarl.lab.scene.scene import Primitive, Scene, SceneMoment, Staging, decided, planned
from robomarl.lab.scene.solids import obstacle_part

BOX_RGB = (214, 158, 84)


def scene(scenario: FlightScenario) -> Scene:
    """Return the arena, the vehicles and the load of a scenario."""
    count, load = scenario.count, scenario.load
    return Scene(
        names=tuple(f"robot_{index}" for index in range(count)),
        colours=team_colours(count),
        looks=(look_of(scenario.vehicle_config),) * count,
        low_m=scenario.arena.low_m,
        high_m=scenario.arena.high_m,
        period_s=scenario.period_s,
        solids=tuple(obstacle_part(each) for each in scenario.arena.obstacles),
        load=load_parts(load) if load else (),
        working_n=load.mass_kg * GRAVITY_M_S2 / count if load else 1.0,
        goal_m=scenario.success.position_m,
        tags=tuple(str(index) for index in range(count)),
    )


def load_parts(load: LoadConfig) -> tuple[Primitive, ...]:
    """Return the box of a load, in its own frame."""
    low, high = np.array(load.box_low_m), np.array(load.box_high_m)
    x, y, z = (high - low).tolist()
    a, b, c = ((low + high) / 2).tolist()
    return (Primitive("box", (x, y, z), (a, b, c), rgb=BOX_RGB),)


def moment(scenario: FlightScenario, world: FlightWorld, env: int) -> SceneMoment:
    """Return one episode of a batch of worlds, now."""
    shown = SceneMoment(
        time_s=float(np.asarray(world.step)[env]) * scenario.period_s,
        pos_m=np.asarray(positions(world.body))[env],
        quat_wxyz=np.stack(world.body.quat, -1)[env],
        goal_m=np.asarray(world.goal_m)[env],
        plan_m=planned(positions(world.body), world.sent[0], env),
    )
    columns = load_columns(world, scenario.period_s)
    if not columns:
        return shown
    cut = ~np.isfinite(columns["cable_m"][env])
    return shown._replace(
        goal_m=columns["load_goal"][env : env + 1, :3],
        load_pose=np.concatenate([columns["load_place_m"][env], columns["load_pose"][env, 3:]]),
        tied_m=np.where(cut[:, None], np.nan, columns["tied_m"][env]),
        tension_n=np.asarray(columns["tension_n"][env]),
    )


def log_moments(log: FlightLog) -> list[SceneMoment]:
    """Return the moments of a logged flight."""
    moments = [_logged(log, step) for step in range(len(log.time_s))]
    return [_carried(log, step, moment) for step, moment in enumerate(moments)] if log.tied_m.size else moments


def _logged(log: FlightLog, step: int) -> SceneMoment:
    """Return the robots of one row of a log."""
    shown = SceneMoment(float(log.time_s[step]), log.pos_m[step], log.quat_wxyz[step], log.goal_m[step])
    return decided(shown, log.nominal[step], log.command[step], log.active[step])


def _carried(log: FlightLog, step: int, shown: SceneMoment) -> SceneMoment:
    """Return the robots and the load of one row of a log."""
    cut = ~np.isfinite(log.cable_m[step])
    return shown._replace(
        goal_m=log.load_goal[step : step + 1, :3],
        load_pose=np.concatenate([log.load_place_m[step], log.load_pose[step, 3:]]),
        tied_m=np.where(cut[:, None], np.nan, log.tied_m[step]),
        tension_n=log.tension_n[step],
    )


def with_goal(scenario: FlightScenario, world: FlightWorld, robot: int, place_m: Array) -> FlightWorld:
    """Return the world with another goal of a robot; under a load all robots have the goal of the load."""
    goal = np.array(world.goal_m)
    goal[:, slice(None) if scenario.load else robot] = place_m
    return world._replace(goal_m=goal, arrived_s=np.asarray(world.arrived_s) * 0)


STAGING: Staging[FlightScenario, FlightWorld] = Staging(scene, moment, with_goal)
