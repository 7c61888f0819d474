"""`check` of a `Model`: its engines from the same starts with the same commands, and how far apart they drift."""

import itertools
from typing import Any

import numpy as np

from robomarl.config import UserError
from robomarl.geometry import norm, rotation_angle
from robomarl.sim.model.batch import engines, make_model_sim
from robomarl.sim.model.model import Model

POSITION_LIMIT_M, ATTITUDE_LIMIT_RAD = 0.02, 0.035
HOLD_S = 0.3
"""Commands are held for so long."""
TEAMS = 8


def check_model(model: Model, scenario: Any, sims: tuple[str, ...], seconds: float, seed: int) -> dict[str, Any]:
    """Move the same commands on every engine; those that the model lacks are left out.

    Returns:
        `position_diff_m`, `attitude_diff_rad` (worst over time, robots and pairs of engines), `passed`.

    Raises:
        UserError: fewer than two engines are left.
    """
    known = tuple(sim for sim in sims if sim in engines(model))
    if len(known) < 2:
        raise UserError(f"--sims {' '.join(sims)}: {scenario.name}.toml has the engines {', '.join(engines(model))}.")
    teams = [make_model_sim(model, scenario, sim, TEAMS, seed) for sim in known]
    for team in teams:
        team.reset()
    worst = np.zeros(2)
    for command in commands(model, scenario, seconds, seed):
        worlds = [team.step(command) for team in teams]
        for a, b in itertools.combinations(worlds, 2):
            angle = rotation_angle(a.quat_wxyz.astype(float), b.quat_wxyz.astype(float)).max()
            worst = np.maximum(worst, [norm(a.pos_m - b.pos_m).max(), angle])
    return {
        "scenario": scenario.name,
        "sims": list(known),
        "seconds": seconds,
        "seed": seed,
        "teams": TEAMS,
        "position_diff_m": float(worst[0]),
        "attitude_diff_rad": float(worst[1]),
        "passed": bool((worst <= (POSITION_LIMIT_M, ATTITUDE_LIMIT_RAD)).all()),
    }


def commands(model: Model, scenario: Any, seconds: float, seed: int) -> np.ndarray:
    """[steps, E, N, A] anywhere within the limits, held for `HOLD_S`."""
    fields, random = model.action(scenario).fields, np.random.default_rng(seed)
    steps, hold = (max(1, round(s * scenario.rates.policy_hz)) for s in (seconds, HOLD_S))
    low, high = ([getattr(field, end) for field in fields] for end in ("low", "high"))
    drawn = random.uniform(low, high, (steps // hold + 1, TEAMS, scenario.count, len(fields)))
    return np.repeat(drawn, hold, 0)[:steps].astype(np.float32)


def check_table(figures: dict[str, Any]) -> str:
    """One line, and the verdict."""
    verdict = "the engines agree" if figures["passed"] else "the engines DISAGREE"
    drift = f"{figures['position_diff_m']:.2g} m, {figures['attitude_diff_rad']:.2g} rad"
    return f"{' - '.join(figures['sims'])}: {drift} apart\n{figures['scenario']}, {figures['seconds']:g} s: {verdict}."
