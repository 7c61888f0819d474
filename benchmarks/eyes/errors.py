"""Errors of our robots' beliefs in matches with pixels, fitted as errors that change slowly: keys of a scenario.

    python -m benchmarks.eyes.errors policies/soccer_2v2_eyes/perception.onnx --matches 8 --seed 11

Prints keys of `[pose]` and `[eyes.tracks]` with which geometric eyes are as wrong as the pixels were (`TrackConfig`,
`robomarl/domains/soccer/lab/sight/slow_errors.py`). Standard deviations are the 80th percentile of the absolute error
over 1.28, so that a few wrong spots count little; they are divided by the root mean square of the scenario's
`noise_scale`.
"""

import math
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tyro

from benchmarks.eyes.looks import Look
from benchmarks.eyes.matches import MatchesConfig, games_of
from robomarl.domains.soccer.core.sight.own_pose import turned
from robomarl.domains.soccer.core.sight.tracker import Believed, SightTracker
from robomarl.domains.soccer.lab.camera import all_things, in_sight
from robomarl.domains.soccer.lab.evaluation.evaluate import make_player
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sections import RANGES_M
from robomarl.domains.soccer.lab.sight.eyes_sim import EyesSim
from robomarl.lab.league.two_sides import BothSides
from robomarl.lab.sim.scenario import load_scenario
from robomarl.vehicles.conversion.frames import wrapped

SETTLED = 25
"""Decisions after each kick-off before errors count."""
FRESH_S = 0.06
"""A thing that is told with a younger picture than this was found in the latest one."""
WRONG_M = 0.5
"""A thing that is told farther off than this is another thing, and counts as not found."""
FLOOR = 20
"""Least number of decisions that give a number."""


@dataclass(frozen=True)
class ErrorsConfig:
    """Which matches."""

    network: tyro.conf.Positional[Path]
    """ONNX file of the perception network."""
    matches: int = 8
    """Matches against `keeper`."""
    seconds: float = 60.0
    """Length of a match."""
    look: Look = "mounted"
    """Ranges of the drawn pictures."""
    policy: str = "soccer_2v2"
    """Bundle or run of our team."""
    scenario: str = "soccer_2v2"
    """Game."""
    seed: int = 11
    """Seed of the matches."""


class Recorded(NamedTuple):
    """S decisions of E matches; N our robots, T things: the ball, then the opponents, each row the nearest told one."""

    own: np.ndarray
    """[S, E, N, 3] error of the own place [m] and heading [rad]."""
    true: np.ndarray
    """[S, E, N, T, 4] place [m] and velocity [m/s] in the robot's body frame."""
    told: np.ndarray
    """[S, E, N, T, 4] as believed."""
    seen: np.ndarray
    """[S, E, N, T] whether it is in sight."""
    age_s: np.ndarray
    """[S, E, N, T] of its picture; infinite where it is not told."""
    counts: np.ndarray
    """[S, E] bool: long enough after a kick-off."""


def record(config: ErrorsConfig) -> Recorded:
    """Play matches with pixels; return truth and beliefs."""
    scenario = load_scenario(config.scenario, SoccerScenario)
    games = MatchesConfig(config.network, config.matches, look=config.look, seed=config.seed)
    sim = games_of(games, scenario, True)
    assert isinstance(sim, EyesSim)
    ours = make_player(config.policy, scenario, scenario.roles)
    both = BothSides(scenario, ours, make_player("keeper", scenario, scenario.opponent.roles))
    sim.reset()
    memory, rows, since = both.init(sim.views()), [], np.zeros(config.matches, int)
    restarts = sim.world.referee.restarts
    for _ in range(round(config.seconds * scenario.rates.policy_hz)):
        memory, commands = both.step(memory, sim.views())
        game = sim.step(commands.command, both.plan(memory))
        since = np.where(game.referee.restarts != restarts, 0, since + 1)
        restarts = game.referee.restarts
        rows.append((*_row(scenario, sim, game), since > SETTLED))
    return Recorded(*(np.stack(parts) for parts in zip(*rows, strict=True)))


def _row(scenario: SoccerScenario, sim: EyesSim, game: SoccerWorld) -> tuple[np.ndarray, ...]:
    """Return one decision's `Recorded`, without `counts`."""
    count, robots = scenario.count, game.robots
    x, y, vx, vy = all_things(scenario, robots, game.ball)
    seen = in_sight(scenario, robots, x - robots.x[..., None], y - robots.y[..., None])[:, :count]
    poses = np.stack([robots.x, robots.y, np.arctan2(robots.s, robots.c)], -1)[:, :count].astype(np.float64)
    things = np.stack([x, y, vx, vy], -1)[:, :count].astype(np.float64)
    own, true, told = np.zeros(poses.shape), np.zeros(things.shape), np.zeros(things.shape)
    age = np.full(seen.shape, np.inf)
    for env, row in enumerate(sim.eyes.believed):
        for i, belief in enumerate(row):
            own[env, i] = belief.pose - poses[env, i]
            true[env, i] = _in_body(things[env, i], poses[env, i])
            told[env, i], age[env, i] = _nearest(belief, true[env, i])
    own[..., 2] = wrapped(own[..., 2])
    return own, true, told, seen, age


def _in_body(things: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Return places and velocities [T, 4] of the field frame in the body frame of a pose [3]."""
    rotation = turned(float(pose[2]))
    return np.concatenate([(things[:, :2] - pose[:2]) @ rotation, things[:, 2:] @ rotation], -1)


def _nearest(belief: Believed, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what is told [T, 4] and its age [T]; opponents in the order that is nearest to the true ones [T, 4]."""
    mask, pos, vel, age = belief.picture
    now = np.concatenate([pos[:, :2] + vel[:, :2] * age[:, None], vel[:, :2]], -1)
    told, age_s = _in_body(now, belief.pose), np.where(mask, age, np.inf)
    far = np.linalg.norm(true[1:, None, :2] - told[None, 1:, :2], axis=-1)
    far = np.where(mask[None, 1:], far, 10.0)
    orders = permutations(range(len(far)))
    best = min(orders, key=lambda order: sum(far[i, j] for i, j in enumerate(order)))
    rows = [0, *(1 + j for j in best)]
    return told[rows], age_s[rows]


def fitted(recorded: Recorded, scenario: SoccerScenario) -> str:
    """Return the sections of the scenario's file."""
    dt, counts = scenario.period_s, recorded.counts
    low, high = scenario.randomize.noise_scale
    size = math.sqrt((low * low + low * high + high * high) / 3)
    own = np.where(counts[..., None, None], recorded.own, np.nan)
    place = own[..., :2]
    lines = ["[pose]", f"drift_m = {_spread(place) / size:.3f}", f"drift_rad = {_spread(own[..., 2]) / size:.4f}"]
    lines.append(f"drift_s = {_constant_s(place, dt, 12):.2f}")
    tracker = SightTracker(scenario.count, 0.0)
    kinds = (("ball", [0], tracker.ball_hold_s, tracker.ball.slows_m_s2),)
    kinds += (("opponents", [*range(1, 1 + scenario.count)], tracker.robot_hold_s, tracker.robot.slows_m_s2),)
    for name, things, held_s, slows in kinds:
        lines += ["", f"[eyes.tracks.{name}]", f"held_s = {held_s:g}", f"slows_m_s2 = {slows:g}"]
        true, told = (part[..., things, :] for part in (recorded.true, recorded.told))
        seen = recorded.seen[..., things] & counts[..., None, None]
        lines += _thing_lines(Thing(true, told, seen, recorded.age_s[..., things] < FRESH_S), dt, size)
    return "\n".join(lines)


class Thing(NamedTuple):
    """All decisions about things of one kind; as in `Recorded`."""

    true: np.ndarray
    told: np.ndarray
    seen: np.ndarray
    fresh: np.ndarray
    """Its last picture is the latest."""


def _thing_lines(thing: Thing, dt: float, size: float) -> list[str]:
    """Return the keys of one `TrackConfig` that are measured."""
    true, told, seen, fresh = thing
    far, off = np.linalg.norm(true[..., :2], axis=-1), np.linalg.norm((told - true)[..., :2], axis=-1)
    found = seen & fresh & (off < WRONG_M)
    bearing = np.arctan2(told[..., 1], told[..., 0]) - np.arctan2(true[..., 1], true[..., 0])
    bearing = np.where(found, wrapped(bearing), np.nan)
    share = np.where(found, np.log(np.linalg.norm(told[..., :2], axis=-1) / far), np.nan)
    lag_s, speed = _without_lag(true[..., 2:], np.where(found[..., None], told[..., 2:], np.nan), dt)
    middles = np.sqrt(np.array(RANGES_M[:-1]) * np.array(RANGES_M[1:]))
    band = np.digitize(far, middles)
    bands = [band == k for k in range(len(RANGES_M))]
    rates = [float(found[seen & here].mean()) if (seen & here).sum() > FLOOR else 0.0 for here in bands]
    rate = np.array(rates)[band]
    luck = np.where(seen, found - rate, np.nan)
    table = {"bearing_rad": bearing, "range": share, "speed_m_s": speed}
    lines = [f"found = {[round(part, 3) for part in rates]}", f"run_s = {_constant_s(luck, dt, 4):.3f}"]
    for name, values in table.items():
        sizes = [_spread(values[here]) / size for here in bands]
        lines.append(f"{name} = {[round(part, 4) for part in _filled(sizes)]}")
    lines.append(f"error_s = {_constant_s(share, dt, 3):.3f}")
    lines.append(f"speed_error_s = {_constant_s(speed, dt, 2):.3f}")
    lines.append(f"lag_s = {lag_s:.3f}")
    return lines


def _without_lag(true: np.ndarray, told: np.ndarray, dt: float) -> tuple[float, np.ndarray]:
    """Return the time constant of a filter that brings true velocities [S, ..., 2] near to the told, and the rest."""
    best = (math.inf, 0.0, told - true)
    for lag_s in (0.0, 0.02, 0.04, 0.06, 0.08, 0.12, 0.16):
        follow, state, rows = 1 - math.exp(-dt / max(lag_s, 1e-6)), true[0], []
        for now in true:
            state = state + follow * (now - state)
            rows.append(state)
        left = told - np.stack(rows)
        cost = float(np.nanmean(np.minimum(np.abs(left), 3.0)))
        best = min(best, (cost, lag_s, left), key=lambda one: one[0])
    return best[1], best[2]


def _spread(values: np.ndarray) -> float:
    """Return the standard deviation by the 80th percentile; NaN for too few values."""
    known = np.abs(values[np.isfinite(values)])
    return float(np.percentile(known, 80)) / 1.28 if len(known) > FLOOR else math.nan


def _filled(values: list[float]) -> list[float]:
    """Return values of which those that are not known are the ones before, or the first known one."""
    known = [value for value in values if math.isfinite(value)]
    last, found = known[0] if known else 0.0, list[float]()
    for value in values:
        last = value if math.isfinite(value) else last
        found.append(last)
    return found


def _constant_s(values: np.ndarray, dt: float, steps: int) -> float:
    """Return the time constant of a process [S, ...] with gaps (NaN), by its correlation over that many decisions."""
    bound = 4 * _spread(values)
    clipped = np.clip(values, -bound, bound)
    first, second = clipped[:-steps], clipped[steps:]
    both = np.isfinite(first) & np.isfinite(second)
    alike = float((first * second)[both].mean() / ((first**2 + second**2) / 2)[both].mean())
    return -steps * dt / math.log(min(max(alike, 0.01), 0.99))


def main() -> None:
    """Print the sections."""
    config = tyro.cli(ErrorsConfig)
    print(fitted(record(config), load_scenario(config.scenario, SoccerScenario)))


if __name__ == "__main__":
    main()
