"""The same team simulated: where it starts, how it moves, what it is rewarded for, and the baseline."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cover_team.film import film
from cover_team.onboard import ROLES, CoverSensed, cell_middle
from robomarl.core.filter.params import Arena, from_vehicle
from robomarl.core.geometry import namespace, norm
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.lab.evaluate.model_episodes import simulation_of_model
from robomarl.lab.sim.model import Model, TeamScenario, accelerated, placed, point_masses


@dataclass(frozen=True, kw_only=True)
class CoverScenario(TeamScenario):
    """With the area, and how near to the middle of its cell a robot has to be."""

    area_low_m: tuple[float, float]
    area_high_m: tuple[float, float]
    arrived_m: float


class CoverOwn(NamedTuple):
    """What is true besides places and velocities: the source, [..., N, 2], the same for all robots."""

    source_m: Array


def start(scenario, draws):
    """In a row near the left edge; the source is anywhere in the right half."""
    low, high = np.float32(scenario.area_low_m), np.float32(scenario.area_high_m)
    share = (np.arange(scenario.count, dtype=np.float32)[:, None] + 0.5) / scenario.count
    spread = np.concatenate([0 * share + 0.1, share], -1)
    place = low + (high - low) * (spread + 0.05 * draws[..., :2])
    source_m = low + (high - low) * (np.float32([0.5, 0]) + np.float32([0.5, 1]) * draws[..., :1, 2:4]) + 0 * place
    flat = namespace(draws).concatenate([place, 0 * place[..., :1]], -1)
    return aimed(scenario, placed(flat, flat, CoverOwn(source_m)))


def aimed(scenario, world):
    """With the middle of its cell as each robot's goal: it is what success and errors are judged by."""
    middle, xp = cell_middle(MODEL.views(scenario, world)), namespace(world.pos_m)
    return world._replace(goal_m=xp.concatenate([middle, world.pos_m[..., 2:]], -1))


def move(scenario, world, command, draws):
    """One decision of a point that is accelerated as commanded."""
    change, late = command[..., :3] * scenario.period_s, (scenario.period_s + scenario.physics_dt_s) / 2
    pos_m = world.pos_m + world.vel_m_s * scenario.period_s + change * late
    return aimed(scenario, world._replace(pos_m=pos_m, vel_m_s=world.vel_m_s + change))


def away_m(world):
    """[..., N] from each robot to the middle of its cell."""
    return norm(world.goal_m - world.pos_m)


def reward_terms(scenario, before, after):
    """For the way there, and for being there; per second."""
    return {"nearer": (away_m(before) - away_m(after)) / scenario.period_s, "there": 1 / (1 + 4 * away_m(after))}


def sensed(scenario, world):
    """As the nodes sense it, for all robots."""
    corner = 0 * world.own.source_m
    low_m, high_m = np.float32(scenario.area_low_m), np.float32(scenario.area_high_m)
    return CoverSensed(world.own.source_m, corner + low_m, corner + high_m)


def messages(scenario, world, stamp_s):
    """What the simulator tells all robots; `world` is of one team, with a leading axis of 1: [1, N, ...]."""
    from geometry_msgs.msg import Point, PointStamped

    from robomarl.ros.convert import header

    x, y = world.own.source_m[0, 0].astype(float)
    return {"source": PointStamped(header=header(stamp_s), point=Point(x=float(x), y=float(y)))}


def seen(*names):
    """Fields of an observation."""
    return tuple(map(ObservationField, names))


class Lloyd:
    """The baseline: towards the middle of the own cell, not faster than is allowed."""

    observation = ObservationSpec(seen("cell_error", "velocity"))

    def __init__(self, scenario):
        self._speed_m_s = 0.8 * scenario.vehicle_config.limits.speed_m_s

    def act(self, obs):
        """[..., 5] to the command [..., 4]."""
        error, velocity = obs[..., :2], obs[..., 2:4]
        wanted = error * np.minimum(0.5, self._speed_m_s / (norm(error)[..., None] + 1e-6))
        return np.concatenate([2 * (wanted - velocity), 0 * obs[..., :2]], -1)


def filter_params(scenario, mates):
    """The filter's figures are the vehicle's; the area's edges are its walls."""
    arena = Arena((*scenario.area_low_m, -0.1), (*scenario.area_high_m, 0.5))
    return from_vehicle(scenario.vehicle_config, scenario.period_s, arena, mates)


MODEL = Model(
    lambda scenario: ObservationSpec(seen("cell_error", "velocity", "cover_role", "neighbours"), scenario.radio.rule),
    accelerated,
    start,
    move,
    reward_terms,
    weights=lambda scenario: {"nearer": 2.0, "there": 1.0},
    succeeded=lambda scenario, world: (away_m(world) < scenario.arrived_m).all(-1),
    sensed=sensed,
    messages=messages,
    role=lambda scenario: tuple(range(scenario.count)),
    mujoco=point_masses,
    not_modelled=("body", "drive"),
)
SIMULATION = simulation_of_model(
    MODEL,
    CoverScenario,
    film=film,
    law=Lloyd,
    filter_params=filter_params,
    roles=lambda scenario, robots: ROLES[:robots],
)
