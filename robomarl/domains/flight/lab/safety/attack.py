"""Malicious commands behind the filter, on an engine, as flown by `prove --worst --sim mujoco`.

The robots are the scenario's, in variations that it holds out and in corners of its training
range; estimates, radio and weather are the scenario's too, and messages carry plans, as robots
send them.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.types import Figures
from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import positions, velocities
from robomarl.lab.certified import certified_team
from robomarl.lab.cluster.crew import each
from robomarl.lab.evaluate.pilots import TeamGuard
from robomarl.lab.evaluate.variations import Variation, variations
from robomarl.lab.prove.campaign.adversary import Adversaries, Team
from robomarl.lab.prove.campaign.prove import TrialMode
from robomarl.lab.sim.filter_params import safety_params

KINDS = ("seek", "intercept", "rush", "swap", "bang_bang")
SECONDS = 10.0
SIDE_BY_SIDE = 64
"""Episodes at most."""


class Attacked(NamedTuple):
    """Results of E episodes, [E] each."""

    contact: np.ndarray
    """bool: two robots touched, by their spheres or by the engine's own test."""
    closest_m: np.ndarray
    outside_m: np.ndarray
    """How far a centre was outside the arena."""
    fell_back: np.ndarray
    """Share of the decisions that fell back."""


def attack_all(
    scenario: FlightScenario,
    mode: str,
    episodes: int,
    seed: int,
    sim: str = "mujoco",
    tell: Callable[[int], object] | None = None,
) -> Figures:
    """Attack every variation.

    Args:
        scenario: scenario of the team.
        mode: of the filter; "full" is "qp".
        episodes: of each variation.
        seed: of all random draws.
        sim: engine.
        tell: called with the number of further episodes flown.

    Returns:
        The figures: of each variation, and the worst of all.
    """
    rows, work = [], partial(_attacked, "qp" if mode == "full" else mode, episodes, seed, sim)  # type: ignore[arg-type]
    for row in each(work, list(enumerate(variations(scenario))), "attacks on mujoco"):
        rows.append(row)
        (tell or (lambda _: None))(episodes)
    return {
        "sim": sim,
        "filter": mode,
        "seed": seed,
        "robots": scenario.count,
        "episodes": sum(row["episodes"] for row in rows),
        "contact_episodes": sum(row["contact_episodes"] for row in rows),
        "min_distance_m": min(row["min_distance_m"] for row in rows),
        "outside_m": max(row["outside_m"] for row in rows),
        "kept_m": scenario.vehicle_config.safety.separation_m,
        "variations": rows,
    }


def _attacked(mode: TrialMode, episodes: int, seed: int, sim: str, item: tuple[int, Variation]) -> Figures:
    """Attack one variation; `item` is its number and itself."""
    number, (name, varied) = item
    assert isinstance(varied, FlightScenario), "a variation is of the scenario's class"
    found = attack(varied, mode, episodes, seed + 1000 * number, sim)
    return {
        "variation": name,
        "episodes": episodes,
        "contact_episodes": int(found.contact.sum()),
        "min_distance_m": float(found.closest_m.min()),
        "outside_m": float(found.outside_m.max()),
        "fallback_rate": float(found.fell_back.mean()),
    }


def attack(scenario: FlightScenario, mode: TrialMode, episodes: int, seed: int, sim: str = "mujoco") -> Attacked:
    """Fly episodes of one variation."""
    batches = math.ceil(episodes / SIDE_BY_SIDE)
    params, size = safety_params(scenario), math.ceil(episodes / batches)
    safety: TeamGuard = certified_team(scenario, params) if mode == "certificate" else SafetyFilter(params, mode)
    team, random = make_team(scenario, sim, size, seed), np.random.default_rng(seed)
    found = [_fly(team, safety, random) for _ in range(batches)]
    return Attacked(*(np.concatenate(parts)[:episodes] for parts in zip(*found, strict=True)))


def _fly(team: TeamSim, safety: TeamGuard, random: np.random.Generator) -> Attacked:
    scenario, radius = team.scenario, team.scenario.vehicle_config.body.radius_m
    low, high = np.array(scenario.arena.low_m), np.array(scenario.arena.high_m)
    team.reset()
    lead = (team.num_envs, scenario.count)
    carry = safety.init(lead)
    hunters = Adversaries(safety.params, lead, np.array([0, 0, scenario.start.height_m]), random, KINDS)
    whole, closest, outside = np.ones(lead[0], bool), np.full(lead[0], np.inf), np.full(lead[0], -np.inf)
    fell, ticks = np.zeros(lead[0]), round(SECONDS / scenario.period_s)
    for _ in range(ticks):
        world = team.world
        pos = positions(world.body).astype(float)
        accel = hunters(Team(pos, velocities(world.body).astype(float), world.goal_m.astype(float)), random)
        nominal = np.concatenate([accel, np.zeros((*lead, 1))], -1)
        carry, result = safety(carry, team.views(), nominal)
        fell += (np.asarray(result.reason) != 0).mean(-1)
        after = team.step(result.command, carry.plan)
        # What comes after a contact is nobody's promise.
        near = np.asarray(after.closest_m, float).reshape(lead[0], -1).min(-1)
        closest = np.where(whole, np.minimum(closest, near), closest)
        out = np.maximum(low - pos, pos - high).max((-2, -1))
        outside = np.where(whole, np.maximum(outside, out), outside)
        whole &= ~((near < 2 * radius) | getattr(team, "contact", np.zeros(lead[0], bool)))
    return Attacked(~whole, closest, outside, fell / ticks)
