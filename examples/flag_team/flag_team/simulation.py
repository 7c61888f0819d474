"""The same team simulated: where it starts, how it moves, what it is rewarded for."""

from dataclasses import dataclass

import numpy as np

from flag_team.onboard import FlagSensed
from robomarl.core.geometry import norm
from robomarl.core.spec import ActionField, ActionSpec, ObservationField, ObservationSpec
from robomarl.lab.evaluate.model_episodes import simulation_of_model
from robomarl.lab.sim.model import Model, TeamScenario, placed, point_masses

ACCELERATION = [ActionField(f"acceleration.{axis}", "m/s^2", "world", -2.0, 2.0) for axis in "xyz"]


@dataclass(frozen=True, kw_only=True)
class FlagScenario(TeamScenario):
    flag_within_m: float


def start(scenario, draws):
    line = np.array([(0.0, i, 1.0) for i in range(scenario.count)], np.float32) + 0 * draws[..., :3]
    flag_m = scenario.flag_within_m * draws[..., :1, 3] + 0 * line[..., 0]
    return placed(line + draws[..., :3] - 0.5, line, own=flag_m)


def move(scenario, world, command, draws):
    change, late = command[..., :3] * scenario.period_s, (scenario.period_s + scenario.physics_dt_s) / 2
    pos_m = world.pos_m + world.vel_m_s * scenario.period_s + change * late
    return world._replace(pos_m=pos_m, vel_m_s=world.vel_m_s + change)


def away_m(world):
    return norm(world.goal_m + world.own[..., None] * np.array([1, 0, 0], np.float32) - world.pos_m)


def reward_terms(scenario, before, after):
    return {"progress": (away_m(before) - away_m(after)) / scenario.period_s, "near": 1 / (1 + 4 * away_m(after))}


def messages(scenario, world, stamp_s):
    from geometry_msgs.msg import Point, PointStamped

    from robomarl.ros.convert import header

    return {"flag": PointStamped(header=header(stamp_s), point=Point(x=float(world.own[0, 0])))}


MODEL = Model(
    lambda scenario: ObservationSpec(tuple(map(ObservationField, ("goal_error", "velocity", "flag_error")))),
    lambda scenario: ActionSpec((*ACCELERATION, ActionField("yaw_rate", "rad/s", "world", -1.0, 1.0))),
    start,
    move,
    reward_terms,
    weights=lambda scenario: {"progress": 1.0, "near": 2.0},
    succeeded=lambda scenario, world: (away_m(world) < 0.3).all(-1),
    sensed=lambda scenario, world: FlagSensed(world.own),
    messages=messages,
    mujoco=point_masses,
    not_modelled=("body", "rotors", "control"),
)
SIMULATION = simulation_of_model(MODEL, FlagScenario)
