"""Mistakes of frames and units are named from flown tracks, and sound tracks are not blamed."""

from dataclasses import replace

import numpy as np
import pytest

from robomarl.core.geometry import quat_conjugate, rotate
from robomarl.core.types import GRAVITY_M_S2
from robomarl.vehicles.conversion import plausible
from robomarl.vehicles.conversion.attitude import attitude_and_thrust
from robomarl.vehicles.conversion.frames import swap_attitude, swap_body, swap_world, xyzw
from robomarl.vehicles.conversion.plausible import StateTrack, judged

TIME_S = np.arange(0.0, 4.0, 0.02)
UP = np.array([0.0, 0.0, GRAVITY_M_S2])


def flown(seed: int, noise: float = 1.0) -> StateTrack:
    """A multirotor on a sum of sines, its attitude that of its acceleration, all sensors noisy."""
    rng = np.random.default_rng(seed)
    rates, phases = rng.uniform(1.0, 2.5, (3, 3)), rng.uniform(0, 6.28, (3, 3))
    sizes = rng.uniform(0.2, 0.5, (3, 3))
    angles = TIME_S[:, None, None] * rates + phases
    swing = (sizes * rates**2 * np.sin(rates * TIME_S[:, None, None] + phases)).sum(-1)
    sizes *= 1.5 / np.sqrt((swing**2).mean(0))[:, None]  # every axis is accelerated
    pos = (sizes * np.sin(angles)).sum(-1) + np.array([2.0, -1.0, 3.0])
    vel = (sizes * rates * np.cos(angles)).sum(-1)
    accel = (-sizes * rates**2 * np.sin(angles)).sum(-1)
    yaw = 0.8 * np.sin(rng.uniform(0.8, 1.5) * TIME_S) + rng.uniform(-3, 3)
    quat, thrust = attitude_and_thrust(accel, yaw, 1.0)
    omega = plausible.rates_of(TIME_S, quat)
    force = rotate(quat_conjugate(quat), accel + UP)
    jitter = [rng.normal(size=pos.shape) * noise * size for size in (0.0005, 0.02, 0.05, 0.2)]
    return StateTrack(TIME_S, pos + jitter[0], vel + jitter[1], quat, omega + jitter[2], force + jitter[3], flies=True)


def still(seed: int) -> StateTrack:
    rng = np.random.default_rng(seed)
    level = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (len(TIME_S), 4))
    jitter = rng.normal(size=(4, len(TIME_S), 3)) * np.array([0.0002, 0.01, 0.01, 0.1])[:, None, None]
    return StateTrack(TIME_S, jitter[0], jitter[1], level, jitter[2], UP + jitter[3])


def mirrored(vectors: np.ndarray) -> np.ndarray:
    return vectors * (1.0, -1.0, 1.0)


def to_ned(track: StateTrack) -> StateTrack:
    force = None if track.force_m_s2 is None else swap_body(track.force_m_s2)
    return StateTrack(
        track.time_s,
        swap_world(track.pos_m),
        swap_world(track.vel_m_s),
        swap_attitude(track.quat_wxyz),
        swap_body(track.omega_rad_s),
        force,
        track.flies,
    )


def force_of(track: StateTrack) -> np.ndarray:
    assert track.force_m_s2 is not None
    return track.force_m_s2


SPOILED = {
    "NED and FRD are read as ENU and FLU": to_ned,
    "position and velocity are in NED": lambda t: replace(t, pos_m=swap_world(t.pos_m), vel_m_s=swap_world(t.vel_m_s)),
    "in FRD and read as FLU": lambda t: replace(
        t, omega_rad_s=swap_body(t.omega_rad_s), force_m_s2=swap_body(force_of(t))
    ),
    "degrees": lambda t: replace(t, omega_rad_s=np.rad2deg(t.omega_rad_s)),
    "position and velocity are in a left-handed": lambda t: replace(
        t, pos_m=mirrored(t.pos_m), vel_m_s=mirrored(t.vel_m_s)
    ),
    "position, velocity and attitude are in a left-handed": lambda t: replace(
        t, pos_m=mirrored(t.pos_m), vel_m_s=mirrored(t.vel_m_s), quat_wxyz=t.quat_wxyz * (1.0, -1.0, 1.0, -1.0)
    ),
    "y up": lambda t: replace(
        t, pos_m=t.pos_m[:, [0, 2, 1]] * (1.0, 1.0, -1.0), vel_m_s=t.vel_m_s[:, [0, 2, 1]] * (1.0, 1.0, -1.0)
    ),
    "xyzw": lambda t: replace(t, quat_wxyz=xyzw(t.quat_wxyz)),
    "the world into the body": lambda t: replace(t, quat_wxyz=quat_conjugate(t.quat_wxyz)),
    "velocity is in the body frame": lambda t: replace(t, vel_m_s=rotate(quat_conjugate(t.quat_wxyz), t.vel_m_s)),
    "millimetres": lambda t: replace(t, pos_m=t.pos_m * 1000),
}


def test_every_mistake_is_tried():
    assert len(SPOILED) == len(plausible.MISTAKES)


@pytest.mark.parametrize("seed", range(4))
def test_sound_tracks_are_not_blamed(seed: int):
    assert judged(flown(seed)) == ("", ())


@pytest.mark.parametrize("name", SPOILED)
@pytest.mark.parametrize("count", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_mistakes_are_named(name: str, count: int):
    said = [judged(SPOILED[name](flown(seed))).problem for seed in range(count)]
    named = [name in problem for problem in said]
    assert np.mean(named) >= 0.95, said  # x and y may happen to move alike
    assert np.mean([" or " not in problem for problem in said]) >= 0.9, said


@pytest.mark.parametrize("name", ["NED and FRD are read as ENU and FLU", "left-handed"])
def test_in_flight_the_accelerometer_is_not_needed(name: str):
    for seed in range(3):
        bare = replace(flown(seed), force_m_s2=None)
        spoiled = to_ned(bare) if name.startswith("NED") else SPOILED[f"position and velocity are in a {name}"](bare)
        assert name in judged(spoiled).problem


def test_gravity_alone_shows_the_frame_of_a_vehicle_that_stands():
    found = judged(still(0))
    assert found.problem == "" and found.unjudged == (plausible.VELOCITY, plausible.RATES, plausible.PUSH)
    turned = replace(still(0), force_m_s2=swap_body(force_of(still(0))))
    assert "FRD" in judged(turned).problem and "gravity" in judged(turned).problem


def test_what_can_not_be_judged_is_said():
    bare = replace(still(0), force_m_s2=None)
    assert judged(bare) == ("", (plausible.VELOCITY, plausible.RATES, plausible.GRAVITY, plausible.PUSH))


def test_nonsense_has_no_known_reason():
    track = flown(0)
    wild = replace(track, vel_m_s=np.random.default_rng(0).normal(size=track.vel_m_s.shape) * 3)
    assert judged(wild).problem.endswith("for no known reason")


def test_a_vehicle_that_is_put_elsewhere_is_not_a_vehicle_in_millimetres():
    track = still(0)
    jumped = replace(track, pos_m=track.pos_m + np.where(TIME_S > 2.0, 1.0, 0.0)[:, None])
    assert "for no known reason" in judged(jumped).problem
