"""What a robot that sees pixels believes, as errors that change slowly: for training without pictures. Array-generic.

The tracker's errors are alike from one decision to the next. So the own pose, and each thing's bearing, range and
velocity, have errors that are first-order Gauss-Markov processes; a thing in view is found or not by a chain of two
states; and a thing that is not found is told for a while where it would be if it went on. `python -m
benchmarks.eyes.errors` fits the numbers (`DriftConfig`, `TrackConfig`) to matches with pixels.

Shapes: [..., N] our robots, [..., N, T] the things that each may see: the ball first, then the opponents.
"""

import math
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.soccer.lab.camera import (
    EYE_DRAWS,
    POSE_DRAWS,
    CameraPicture,
    Pose,
    all_things,
    in_sight,
    true_pose,
)
from robomarl.domains.soccer.lab.physics.ball import Ball
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sections import RANGES_M, TrackConfig

NEVER_S = 10.0
"""Age of a sighting that has not been."""


class SlowErrors(NamedTuple):
    """Memory of the errors. The first three have mean 0 and variance 1."""

    pose: tuple[Array, ...]
    """[..., N] of place x, y and heading."""
    things: tuple[Array, ...]
    """[..., N, T] of bearing and range."""
    speeds: tuple[Array, ...]
    """[..., N, T] of velocity x and y."""
    found: Array
    """[..., N, T] bool: where in view, the thing is found."""
    lagged: tuple[Array, ...]
    """[..., N, T] true velocity x and y as the tracker follows it [m/s]."""
    told: tuple[Array, ...]
    """[..., N, T] place x, y [m] and velocity [m/s] as told last, field frame, without the error of the own pose."""
    age_s: Array
    """[..., N, T] time since it was last found."""
    restarts: Array
    """[...] the referee's, at the last decision (-1: there was none): all is forgotten where robots are put back."""


def no_errors(scenario: SoccerScenario, zero: Array) -> SlowErrors:
    """Return the memory of robots that have seen nothing; `zero` is [..., M]."""
    ours = zero[..., : scenario.count]
    things = ours[..., None] + namespace(zero).zeros(1 + scenario.count, zero.dtype)
    one, few = (things,) * 2, (ours,) * 3
    start = (things + NEVER_S).astype(zero.dtype)
    return SlowErrors(few, one, one, things > 0, one, (things,) * 4, start, zero[..., 0].astype(np.int32) - 1)


def believed(
    scenario: SoccerScenario, before: SlowErrors, world: tuple[OmniRobots, Ball, Array], scale: Array, draws: Array
) -> tuple[SlowErrors, tuple[Pose, CameraPicture]]:
    """Return the errors one decision later, and what our robots believe with them.

    Args:
        scenario: with `eyes.tracks`.
        before: errors of the last decision.
        world: robots [..., M], ball [...] and the number of restarts [...] now.
        scale: [..., M] factor on all errors.
        draws: [..., M, POSE_DRAWS + EYE_DRAWS * T] uniform in [0, 1).
    """
    count = scenario.count
    robots, ball, restarts = world
    true = Pose(*(part[..., :count] for part in true_pose(scenario, robots)))
    noise = math.sqrt(3.0) * (2 * draws[..., :count, :] - 1)
    each = noise[..., POSE_DRAWS:].reshape(*noise.shape[:-1], -1, EYE_DRAWS)
    chance = draws[..., :count, POSE_DRAWS:].reshape(each.shape)[..., 4]
    anew = (restarts != before.restarts)[..., None]
    pose = _own(scenario, before.pose, noise, anew)
    size = scale[..., :count]
    own = _own_pose(scenario, true, pose, size, noise)
    seen = _Seen(scenario, robots, ball)
    after = _tracks(scenario, before, seen, (each, chance, size[..., None]), anew[..., None])
    after = after._replace(pose=pose, restarts=restarts)
    return after, (own, _handed(scenario, after, true, own))


class _Seen:
    """True place and motion of all things as seen by our robots, [..., N, T] each, and whether they are in sight."""

    def __init__(self, scenario: SoccerScenario, robots: OmniRobots, ball: Ball) -> None:
        """Take the truth."""
        count = scenario.count
        x, y, vx, vy = all_things(scenario, robots, ball)
        dx, dy = x - robots.x[..., None], y - robots.y[..., None]
        self.here = robots.x[..., :count, None], robots.y[..., :count, None]
        self.offset = dx[..., :count, :], dy[..., :count, :]
        self.speed = vx[..., :count, :], vy[..., :count, :]
        self.visible = in_sight(scenario, robots, dx, dy)[..., :count, :]


def _own(scenario: SoccerScenario, before: tuple[Array, ...], noise: Array, anew: Array) -> tuple[Array, ...]:
    """Return the errors of the own pose one decision later; a robot that is put somewhere knows it about as well."""
    return tuple(
        _next(part, noise[..., k], scenario.pose.drift_s, scenario, anew)
        for part, k in zip(before, (0, 1, 4), strict=True)
    )


def _next(before: Array, noise: Array, constant_s: float | Array, scenario: SoccerScenario, anew: Array) -> Array:
    """Return a Gauss-Markov process of variance 1 one decision later; a new one where `anew`."""
    xp = namespace(before)
    keep = np.exp(-scenario.period_s / np.maximum(constant_s, 1e-6)).astype(np.float32)
    return xp.where(anew, noise, keep * before + np.sqrt(1 - keep * keep) * noise).astype(before.dtype)


def _own_pose(scenario: SoccerScenario, true: Pose, errors: tuple[Array, ...], size: Array, noise: Array) -> Pose:
    """Return the own pose as believed: its velocity is turned by the error of the heading, as wheels measure it."""
    config, (x, y, heading) = scenario.pose, errors
    turn = config.drift_rad * size * heading
    steps = [config.velocity_noise_m_s * size * noise[..., k] / math.sqrt(3.0) for k in (2, 3)]
    return Pose(
        x=true.x + config.drift_m * size * x,
        y=true.y + config.drift_m * size * y,
        vx=true.vx - turn * true.vy + steps[0],
        vy=true.vy + turn * true.vx + steps[1],
        c=true.c - true.s * turn,
        s=true.s + true.c * turn,
        turn=true.turn,
    )


def _per_thing(scenario: SoccerScenario, name: str) -> np.ndarray:
    """[T] float32: a number of the section of each thing."""
    return np.array([getattr(kind, name) for kind in _kinds(scenario)], np.float32)


def _kinds(scenario: SoccerScenario) -> list[TrackConfig]:
    tracks = scenario.eyes.tracks
    assert tracks is not None, "checked by `perceive`"
    return [tracks.ball, *[tracks.opponents] * scenario.count]


def _by_range(scenario: SoccerScenario, far: Array) -> dict[str, Array]:
    """Return the numbers that change with the distance [..., N, T], linear between `RANGES_M`, by name."""
    xp, low, high = namespace(far), RANGES_M[:-1], RANGES_M[1:]
    ramps = [xp.clip((far - a) / (b - a), 0.0, 1.0) for a, b in zip(low, high, strict=True)]
    found: dict[str, Array] = {}
    for name in ("found", "bearing_rad", "range", "speed_m_s"):
        table = np.array([getattr(kind, name) for kind in _kinds(scenario)], np.float32)
        found[name] = table[:, 0] + sum((table[:, k + 1] - table[:, k]) * ramp for k, ramp in enumerate(ramps))
    return found


def _tracks(
    scenario: SoccerScenario, before: SlowErrors, seen: _Seen, draws: tuple[Array, Array, Array], anew: Array
) -> SlowErrors:
    """Return the memory of the things one decision later; `draws`: noise, chances and the size of the errors."""
    xp, dt = namespace(seen.visible), scenario.period_s
    noise, chance, size = draws
    dx, dy = seen.offset
    numbers = _by_range(scenario, xp.sqrt(dx * dx + dy * dy))
    again = 1 - np.exp(-dt / _per_thing(scenario, "run_s"))
    drawn = xp.where(anew, chance, chance / again) < numbers["found"]
    found = xp.where((chance < again) | anew, drawn, before.found)
    errors, speeds = (
        tuple(_next(part, noise[..., k], _per_thing(scenario, constant), scenario, anew) for part, k in rows)
        for constant, rows in (
            ("error_s", zip(before.things, (0, 1), strict=True)),
            ("speed_error_s", zip(before.speeds, (2, 3), strict=True)),
        )
    )
    new = seen.visible & found
    follow = 1 - np.exp(-dt / np.maximum(_per_thing(scenario, "lag_s"), 1e-6)).astype(np.float32)
    fresh = anew | (before.age_s > _per_thing(scenario, "held_s"))
    lagged = tuple(
        xp.where(fresh, true, xp.where(new, old + follow * (true - old), old)).astype(old.dtype)
        for old, true in zip(before.lagged, seen.speed, strict=True)
    )
    turn, reach = numbers["bearing_rad"] * size * errors[0], xp.exp(numbers["range"] * size * errors[1])
    told = (
        seen.here[0] + (dx - dy * turn) * reach,
        seen.here[1] + (dy + dx * turn) * reach,
        *(part + numbers["speed_m_s"] * size * error for part, error in zip(lagged, speeds, strict=True)),
    )
    held = _gone_on(scenario, before.told)
    told = tuple(xp.where(new, a, b).astype(b.dtype) for a, b in zip(told, held, strict=True))
    age_s = xp.where(new, 0.0, xp.where(anew, NEVER_S, xp.minimum(before.age_s + dt, NEVER_S)))
    return before._replace(
        things=errors, speeds=speeds, found=found, lagged=lagged, told=told, age_s=age_s.astype(before.age_s.dtype)
    )


def _gone_on(scenario: SoccerScenario, told: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return places and velocities one decision later of things out of sight, which slow down until they rest."""
    xp, dt = namespace(told[0]), scenario.period_s
    x, y, vx, vy = told
    speed = xp.sqrt(vx * vx + vy * vy + 1e-12)
    keep = xp.maximum(1 - dt * _per_thing(scenario, "slows_m_s2") / speed, 0.0)
    vx, vy = vx * keep, vy * keep
    return x + dt * vx, y + dt * vy, vx, vy


def _handed(scenario: SoccerScenario, after: SlowErrors, true: Pose, own: Pose) -> CameraPicture:
    """Return what is told as a picture that is `eyes.latency_s` old, put into the field by the own pose as believed."""
    xp, (x, y, vx, vy) = namespace(true.x), after.told
    known = after.age_s <= _per_thing(scenario, "held_s") + 1e-3
    turn = (true.c * own.s - true.s * own.c)[..., None]
    ahead, left = x - true.x[..., None], y - true.y[..., None]
    vx, vy = vx - turn * vy, vy + turn * vx
    place = own.x[..., None] + ahead - turn * left, own.y[..., None] + left + turn * ahead
    back = scenario.eyes.latency_s
    parts = (place[0] - back * vx, place[1] - back * vy, vx, vy)
    return CameraPicture(known, *(xp.where(known, part, 0.0).astype(x.dtype) for part in parts))
