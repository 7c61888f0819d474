"""`check`: the engines from the same start with the same commands, and how far apart they drift.

The commands are harsh: accelerations anywhere within the vehicle's limits, held for 0.2 to 0.4 s, with yaw
rates on top; masses, thrusts, motors, delays and wind are drawn as in the scenario, equal for all engines.
Robots start so far apart and so high that nothing touches: the engines differ in what a contact does.
"""

import dataclasses
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from robomarl.config import UserError
from robomarl.domains.flight.batch import TeamSim, make_team
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.flight.world import World, positions
from robomarl.domains.payload.check import check_load
from robomarl.geometry import norm, rotation_angle
from robomarl.sim.batch import SIMS

POSITION_LIMIT_M = 0.02
ATTITUDE_LIMIT_RAD = math.radians(2.0)
HOLD_S = (0.2, 0.4)


@dataclass(frozen=True)
class CheckConfig:
    """How the engines are compared."""

    sims: tuple[str, ...] = SIMS
    seconds: float = 2.0
    seed: int = 0
    teams: int = 8
    """Teams side by side, each with its own draws and commands."""

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            UserError: fewer than two engines, one of them twice, or no time.
        """
        if len(set(self.sims)) < 2 or len(set(self.sims)) < len(self.sims):
            raise UserError(f"--sims {' '.join(self.sims)}: name two or more different engines of {', '.join(SIMS)}.")
        if self.seconds <= 0 or self.teams < 1:
            raise UserError(f"--seconds {self.seconds:g} and teams = {self.teams} must be above 0.")


def check_engines(
    scenario: FlightScenario, config: CheckConfig, mass_scale: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Fly the same commands on every engine.

    Args:
        scenario: what is compared.
        config: engines, duration, seed.
        mass_scale: engine -> factor on all its masses, to see that an error is found.

    Returns:
        `position_diff_m`, `attitude_diff_rad` (worst over time, robots and pairs of engines), `passed`, `pairs`.

    Raises:
        UserError: there is no engine of that name.
    """
    if scenario.load is not None:
        return about(scenario, config) | check_load(scenario, load_sims(config.sims), config, mass_scale or {})
    apart = spread_out(scenario, config.seconds)
    teams = {sim: make_team(apart, sim, config.teams, config.seed) for sim in config.sims}
    for sim, team in teams.items():
        start = team.reset()
        team.set_world(scale_mass(start, (mass_scale or {}).get(sim, 1.0)))
    steps = max(1, round(config.seconds * scenario.rates.policy_hz))
    worst = dict.fromkeys(itertools.combinations(config.sims, 2), np.zeros(2))
    for command in tqdm(harsh_commands(apart, config, steps), desc="check", unit="step", leave=False, disable=None):
        for pair, drift in _drift(teams, command).items():
            worst[pair] = np.maximum(worst[pair], drift)
    return _figures(scenario, config, worst)


def load_sims(sims: tuple[str, ...]) -> tuple[str, ...]:
    """The engines among these that know loads: `mjx` does not.

    Raises:
        UserError: fewer than two.
    """
    known = tuple(sim for sim in sims if sim != "mjx")
    if len(known) < 2:
        raise UserError(f"--sims {' '.join(sims)}: mjx has no loads; name fast and mujoco.")
    return known


def about(scenario: FlightScenario, config: CheckConfig) -> dict[str, Any]:
    """What was compared."""
    return {
        "scenario": scenario.name,
        "sims": list(config.sims if scenario.load is None else load_sims(config.sims)),
        "seconds": config.seconds,
        "seed": config.seed,
        "teams": config.teams,
    }


def spread_out(scenario: FlightScenario, seconds: float) -> FlightScenario:
    """The scenario with a start from which nobody can meet another or the floor within the time."""
    limits = scenario.vehicle_config.limits
    sides = zip(limits.accel_min_m_s2, limits.accel_max_m_s2, strict=True)
    accel = math.hypot(*(max(-low, high) for low, high in sides))
    reach = accel * seconds**2 / 2 + 2 * scenario.start.speed_m_s * seconds + 1.0
    start = dataclasses.replace(scenario.start, min_spacing_m=2 * reach + 1.0, height_m=reach)
    goal = dataclasses.replace(scenario.goal, kind="far_side")
    return dataclasses.replace(scenario, start=start, goal=goal)


def scale_mass(world: World, factor: float) -> World:
    """The same state with other masses, which the controller does not know of."""
    physics = world.hidden.physics
    heavier = physics._replace(mass_kg=physics.mass_kg * np.float32(factor))
    return world._replace(hidden=world.hidden._replace(physics=heavier))


def harsh_commands(scenario: FlightScenario, config: CheckConfig, steps: int) -> np.ndarray:
    """[steps, E, N, 4] commands within the limits, each element held for `HOLD_S`."""
    limits, random = scenario.vehicle_config.limits, np.random.default_rng(config.seed)
    low = np.array([*limits.accel_min_m_s2, -limits.yaw_rate_rad_s], np.float32)
    high = np.array([*limits.accel_max_m_s2, limits.yaw_rate_rad_s], np.float32)
    shape = (config.teams, scenario.count)
    shortest, longest = (max(1, round(s * scenario.rates.policy_hz)) for s in HOLD_S)
    commands = np.zeros((steps, *shape, 4), np.float32)
    left = np.zeros(shape, int)
    now = np.zeros((*shape, 4), np.float32)
    for step in range(steps):
        fresh = left == 0
        now = np.where(fresh[..., None], random.uniform(low, high, (*shape, 4)), now)
        left = np.where(fresh, random.integers(shortest, longest + 1, shape), left) - 1
        commands[step] = now
    return commands


def _drift(teams: dict[str, TeamSim], command: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """One decision on every engine; worst position [m] and attitude [rad] difference for each pair."""
    worlds = {sim: team.step(command) for sim, team in teams.items()}
    drift = {}
    for pair in itertools.combinations(worlds, 2):
        a, b = (worlds[sim].body for sim in pair)
        angle = rotation_angle(np.stack(a.quat, -1).astype(float), np.stack(b.quat, -1).astype(float))
        drift[pair] = np.array([norm(positions(a) - positions(b)).max(), angle.max()])
    return drift


def _figures(scenario: FlightScenario, config: CheckConfig, worst: dict[tuple[str, str], np.ndarray]) -> dict[str, Any]:
    pairs = [
        {
            "first": a,
            "second": b,
            "position_diff_m": float(w[0]),
            "attitude_diff_rad": float(w[1]),
            "passed": _ok(w),
        }
        for (a, b), w in worst.items()
    ]
    overall = np.max(list(worst.values()), axis=0)
    return {
        **about(scenario, config),
        "position_diff_m": float(overall[0]),
        "attitude_diff_rad": float(overall[1]),
        "position_limit_m": POSITION_LIMIT_M,
        "attitude_limit_rad": ATTITUDE_LIMIT_RAD,
        "passed": _ok(overall),
        "pairs": pairs,
    }


def _ok(worst: np.ndarray) -> bool:
    """Whether both differences are within the limits; a NaN is not."""
    return bool(worst[0] <= POSITION_LIMIT_M and worst[1] <= ATTITUDE_LIMIT_RAD)


def table(figures: dict[str, Any]) -> str:
    """One line for each pair of engines, and the verdict."""
    lines = [f"{'engines':<18}{'position m':>12}{'attitude deg':>14}"]
    for pair in figures["pairs"]:
        name = f"{pair['first']} - {pair['second']}"
        degrees = math.degrees(pair["attitude_diff_rad"])
        lines.append(f"{name:<18}{pair['position_diff_m']:>12.2g}{degrees:>14.2g}")
    limit = math.degrees(figures["attitude_limit_rad"])
    lines.append(f"{'limit':<18}{figures['position_limit_m']:>12.2g}{limit:>14.2g}")
    verdict = "the engines agree" if figures["passed"] else "the engines DISAGREE"
    return "\n".join([*lines, f"{figures['scenario']}, {figures['seconds']:g} s of harsh commands: {verdict}."])
