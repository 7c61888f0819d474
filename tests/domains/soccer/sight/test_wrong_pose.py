"""Pairs whose own place and heading are wrong, as far as a robot that sees may drive, and that drive at each other."""

import dataclasses

import numpy as np
import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.params import SafetyParams
from robomarl.core.view import Goal, Heard, LocalView, NothingSensed, Own, Plan
from robomarl.domains.soccer.core.sight.own_pose import MAX_HEADING_RAD

PAIRS, DECISIONS = 300, 260
CONTRACT = load_bundle("soccer_2v2_eyes").contract
PARAMS = dataclasses.replace(CONTRACT.safety, strangers=None, boards_m=0.0, arena=None)
FACING = np.broadcast_to(np.array([1.0, 0.0, 0.0, 0.0]), (PAIRS, 2, 4))


def turned(vectors: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """[..., 3] vectors, turned about z by [...] angles [rad]."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    return np.stack([np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y, z], -1)


def seen(pos: np.ndarray, vel: np.ndarray, told: tuple[np.ndarray, np.ndarray, Plan]) -> LocalView:
    """What each robot believes of itself, and what the other one told a decision ago."""
    mate_pos, mate_vel, *plan = (np.asarray(part)[:, ::-1, None] for part in (*told[:2], *told[2]))
    heard = Heard(
        np.ones((PAIRS, 2, 1), bool), mate_pos, mate_vel, np.full((PAIRS, 2, 1), PARAMS.period_s), Plan(*plan)
    )
    still, role = np.zeros((PAIRS, 2, 3)), np.zeros((PAIRS, 2), int)
    own = Own(pos, FACING, vel, still, np.zeros((PAIRS, 2)))
    return LocalView(own, heard, NothingSensed(), Goal(still, FACING), role, np.zeros((PAIRS, 2)))


def least_m(params: SafetyParams, place_m: float, heading_rad: float) -> float:
    """Least true distance [m] of pairs that hunt each other, late point masses with constant errors of this size."""
    random, safety = np.random.default_rng(1), SafetyFilter(params)
    heading = heading_rad * random.choice([-1.0, 1.0], (PAIRS, 2))
    pos, vel = np.zeros((PAIRS, 2, 3)), np.zeros((PAIRS, 2, 3))
    pos[:, :, 0] = random.uniform(1.2, 2.0, (PAIRS, 1)) * [-1, 1]
    pos[:, :, 1] = random.uniform(-0.5, 0.5, (PAIRS, 2))
    error = place_m * np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])  # each believes that it is farther away
    aside, carry, least = random.uniform(-0.3, 0.3, (PAIRS, 2)), safety.init((PAIRS, 2)), np.inf
    queue = [np.zeros((PAIRS, 2, 3))] * params.queue_length
    told = (pos + error, vel, carry.plan)
    for _ in range(DECISIONS):
        believed = pos + error, turned(vel, heading)
        view, told = seen(*believed, told), (*believed, carry.plan)
        towards = turned(pos[:, ::-1] - pos, aside + heading)
        wanted = 3.0 * towards / np.linalg.norm(towards, axis=-1, keepdims=True)
        carry, result = safety(carry, view, np.concatenate([wanted, np.zeros((PAIRS, 2, 1))], -1))
        queue.append(turned(np.asarray(result.command)[..., :3], -heading))
        accel, dt = queue.pop(0), params.period_s
        pos, vel = pos + vel * dt + accel * dt**2 / 2, vel + accel * dt
        least = min(least, float(np.linalg.norm(pos[:, 0] - pos[:, 1], axis=-1).min()))
    return least


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_robots_that_are_wrong_within_what_they_may_say_keep_the_filters_distance(share: float):
    assert CONTRACT.image is not None
    found = least_m(PARAMS, CONTRACT.image.max_pose_error_m, share * MAX_HEADING_RAD)
    assert found > PARAMS.safety.separation_m


def test_the_attack_finds_robots_that_do_not_reckon_with_their_errors():
    assert CONTRACT.image is not None
    sure = dataclasses.replace(PARAMS, safety=dataclasses.replace(PARAMS.safety, position_error_m=0.02))
    assert least_m(sure, CONTRACT.image.max_pose_error_m, MAX_HEADING_RAD) < PARAMS.safety.separation_m
