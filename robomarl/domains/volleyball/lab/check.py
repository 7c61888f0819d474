"""Comparison of the engines: drones under commands anywhere within their limits, and bounces of the ball.

In the trial of bounces each ball falls on the racket of the first drone, from above and aside, while
all drones hover; its velocity before and after, and its place later, are compared.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np

from robomarl.core.geometry import norm, rotation_angle
from robomarl.core.types import Figures
from robomarl.domains.volleyball.lab.commands import action_of, hovering
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.lab.probe import CheckTrial, Probe, Seen
from robomarl.lab.sim.check import held
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.model.vehicle_keys import felt
from robomarl.lab.sim.scenario import Scenario

ATTITUDE_GAINS = ("control.tilt_per_s", "control.min_lift_m_s2")
APART_M = 8.0
"""Distance [m] between drones that are driven anywhere."""
HOLD_S = 0.3
"""Time [s] for which commands are held."""
BALL_UP_M = 2.0
"""Height [m] over the racket from which the balls come."""
ASIDE_M = 0.6
"""Largest offset of a contact from the middle of the racket, over its radius."""
FALL_S = (0.15, 0.3)
"""Range of times [s] until the contact."""
BOUNCE_S = 0.4
"""Length [s] of the trial of bounces."""
UNUSED_GAINS = {
    "acceleration": (),
    "thrust_rates": ATTITUDE_GAINS,
    "rotor_thrusts": (*ATTITUDE_GAINS, "control.rate_per_s", "control.yaw_rate_per_s"),
}
"""Gains of the vehicle file that commands of a kind go past, so that no engine needs them."""
SIDEWAYS_M_S = 1.0
"""Largest horizontal speed of the balls, each axis."""


def driven(
    scenario: VolleyScenario, world: TeamWorld, random: np.random.Generator, seconds: float
) -> tuple[TeamWorld, np.ndarray]:
    """Drones in a row, the ball out of reach; commands [T, E, N, 4] anywhere within the limits."""
    fields, shape = action_of(scenario).fields, world.closest_m.shape
    steps, hold = (max(1, round(s * scenario.rates.policy_hz)) for s in (seconds, HOLD_S))
    ends = np.array([field.low for field in fields]), np.array([field.high for field in fields])
    away = np.array([0.0, 0.0, 100.0], np.float32) + 0 * world.own.ball_pos_m
    commands = held(random, ends, (steps, *shape), hold)
    lifts = {"thrust_rates": [0], "rotor_thrusts": [0, 1, 2, 3]}.get(scenario.command, [2])
    commands[:hold, 0, :, lifts] = ends[0][lifts[0]]  # the least lift, which few draws ask for
    return row_of(scenario, world, away, 0 * away), commands


def row_of(scenario: VolleyScenario, world: TeamWorld, ball_m: np.ndarray, ball_m_s: np.ndarray) -> TeamWorld:
    """Return the world with its drones in a row, and the ball at [E, 3] with a velocity [E, 3]."""
    row = np.arange(scenario.robots)[:, None] * np.array([0, APART_M, 0]) + np.array([4.5, 0, 20.0]) + 0 * world.pos_m
    own = world.own._replace(ball_pos_m=ball_m.astype(np.float32), ball_vel_m_s=ball_m_s.astype(np.float32))
    return world._replace(pos_m=row.astype(np.float32), own=own)


def bounced(
    scenario: VolleyScenario, world: TeamWorld, random: np.random.Generator, seconds: float
) -> tuple[TeamWorld, np.ndarray]:
    """Upright drones that hover, and a ball for the first of each team; commands [T, E, N, 4] of hovering."""
    count = len(world.pos_m)
    upright = world._replace(quat_wxyz=0 * world.quat_wxyz + np.array([1, 0, 0, 0], np.float32))
    steps = max(1, round(BOUNCE_S * scenario.rates.policy_hz))
    still = np.zeros((steps, *world.closest_m.shape, 4), np.float32) + np.array(hovering(scenario), np.float32)
    if scenario.ball is None or scenario.racket is None:
        return row_of(scenario, upright, world.own.ball_pos_m, world.own.ball_vel_m_s), still
    after_s, angle = random.uniform(*FALL_S, (count, 1)), random.uniform(-np.pi, np.pi, (count, 1))
    sideways = random.uniform(-SIDEWAYS_M_S, SIDEWAYS_M_S, (count, 2))
    aside = ASIDE_M * scenario.racket.radius_m * random.uniform(0, 1, (count, 1))
    place = np.array([4.5, 0.0]) + aside * np.concatenate([np.cos(angle), np.sin(angle)], -1) - after_s * sideways
    low = 20.0 + scenario.racket.above_m + scenario.ball.radius_m
    falls = (9.81 * after_s**2 / 2 - BALL_UP_M) / after_s  # so that it falls through this height in that time
    ball = np.concatenate([place, np.full((count, 1), low + BALL_UP_M)], -1)
    return row_of(scenario, upright, ball, np.concatenate([sideways, falls], -1)), still


def certain(scenario: VolleyScenario, seconds: float) -> VolleyScenario:
    """The scenario with equal restitution at all hits."""
    if scenario.racket is None:
        return scenario
    return replace(scenario, racket=replace(scenario.racket, scatter=0.0))


def seen(world: TeamWorld) -> tuple[np.ndarray, ...]:
    """Places [E, N, 3] and attitudes [E, N, 4] of the drones, place and velocity [E, 3] of the ball, hits [E]."""
    own = world.own
    return (world.pos_m, world.quat_wxyz.astype(float), own.ball_pos_m, own.ball_vel_m_s, own.rally.touches.any(-1))


def compare(scenario: VolleyScenario, first: tuple[Seen, ...], second: tuple[Seen, ...]) -> Figures:
    """Return the largest differences of places, attitudes and the ball, and the share of balls that both engines hit.

    The ball's velocity is compared at the end of the trial, and its place relative to the time since the
    contact: a contact of some milliseconds shifts it by about its length times the speed.
    """
    (drive, bounce), (other_drive, other_bounce) = first, second
    pairs = [(a, b) for a, b in zip(drive + bounce, other_drive + other_bounce, strict=True)]
    figures = {
        "position_diff_m": max(float(norm(a[0] - b[0]).max()) for a, b in pairs),
        "attitude_diff_rad": max(float(rotation_angle(a[1], b[1]).max()) for a, b in pairs),
    }
    if scenario.ball is None:
        return figures
    before = [norm(a[2] - b[2]).max() for a, b in pairs[: len(drive)]]
    last, other = bounce[-1], other_bounce[-1]
    hits = [np.any([row[4] for row in rows], 0) for rows in (bounce, other_bounce)]
    return {
        **figures,
        "ball_flight_diff_m": float(max(before)),
        "ball_diff_m": float(norm(last[2] - other[2]).max()),
        "ball_speed_diff_m_s": float(norm(last[3] - other[3]).max()),
        "hit_share": float(np.mean(hits[0] & hits[1])),
    }


def probe_of(scenario: VolleyScenario) -> Probe[VolleyScenario, TeamWorld]:
    """Return how the engines are compared."""
    limits = {"position_diff_m": 0.02, "attitude_diff_rad": 0.035}
    ball = {"ball_flight_diff_m": 0.01, "ball_diff_m": 0.1, "ball_speed_diff_m_s": 0.2}
    return Probe(
        (CheckTrial(driven), CheckTrial(bounced, certain)),
        compare,
        limits if scenario.ball is None else limits | ball,
        {} if scenario.ball is None else {"hit_share": 1.0},
        seen=seen,
        mistaken=mistaken,
        engines=("fast", "mujoco"),
        compared="drones under commands anywhere within their limits; the ball's flight and its bounce off a racket",
        felt=lambda chosen, driver: felt(chosen, cast("Callable[[Scenario], Seen]", driver)),
        not_modelled=("body.drag_per_s", "rotors.min_thrust_n", *UNUSED_GAINS[scenario.command]),
    )


def mistaken(world: TeamWorld, restitution: float) -> TeamWorld:
    """Return the world with another restitution of the ball."""
    return world._replace(own=world.own._replace(restitution=world.own.restitution * 0 + np.float32(restitution)))
