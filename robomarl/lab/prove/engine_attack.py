"""Malicious commands behind the filter, on an engine, as flown by `prove --worst --sim mujoco`, for any kind of team.

The robots are the scenario's, in variations that it holds out and in corners of its training
range; estimates, radio and weather are the scenario's too, and messages carry plans, as robots
send them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from robomarl.core.domain.registry import filter_for
from robomarl.core.types import Figures
from robomarl.lab.certified import certified_team
from robomarl.lab.cluster.crew import each
from robomarl.lab.evaluate.pilots import TeamGuard
from robomarl.lab.evaluate.variations import Variation, variations
from robomarl.lab.prove.campaign.adversary import Adversaries, Team, within_limits
from robomarl.lab.prove.campaign.prove import TrialMode
from robomarl.lab.sim.batch import BatchSim
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of

KINDS = ("seek", "intercept", "rush", "swap", "bang_bang")
SECONDS = 10.0
SIDE_BY_SIDE = 64
"""Episodes at most."""
PUMPED, LARGE_M_S2 = 0.3, 100.0
"""Fraction of the teams with a load whose robots all make it swing, with commands cut off at the limits."""


class Truth(NamedTuple):
    """State of E teams after a decision, without errors."""

    team: Team
    closest_m: np.ndarray
    """[E] least distance of two robots since the last decision."""
    contact: np.ndarray
    """[E] bool: a contact that this distance does not show: with an obstacle or the load, or by the engine's test."""
    centre_m: np.ndarray
    """[3] where robots rush to, and about which they swap."""
    pumping: np.ndarray | None = None
    """[E, N, 3] directions of commands that make a load swing more and more; None: robots carry nothing."""


Look = Callable[[BatchSim], Truth]
"""A batch of teams -> the truth about them."""


class Attacked(NamedTuple):
    """Results of E episodes, [E] each."""

    contact: np.ndarray
    """bool: two robots touched, by their spheres or by the engine's own test, or something else did."""
    closest_m: np.ndarray
    outside_m: np.ndarray
    """How far a centre was outside the arena."""
    fell_back: np.ndarray
    """Share of the decisions that fell back."""


class EngineTrial(NamedTuple):
    """How a variation is flown."""

    mode: TrialMode
    """Mode of the filter."""
    episodes: int
    seed: int
    """Seed of all random draws."""
    sim: str = "mujoco"
    """Engine."""


@dataclass(frozen=True)
class EngineAttack:
    """An attack on the filter of one kind of team."""

    look: Look

    def __call__(
        self,
        scenario: Scenario,
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
        flown = EngineTrial("qp" if mode == "full" else mode, episodes, seed, sim)  # pyright: ignore[reportArgumentType]
        rows = []
        for row in each(partial(self._attacked, flown), list(enumerate(variations(scenario))), "attacks on mujoco"):
            rows.append(row)
            (tell or (lambda _: None))(episodes)
        total = sum(row["episodes"] for row in rows)
        return {
            "sim": sim,
            "filter": mode,
            "seed": seed,
            "robots": scenario.count,
            "episodes": total,
            "agent_steps": total * scenario.count * _ticks(scenario),
            "contact_episodes": sum(row["contact_episodes"] for row in rows),
            "min_distance_m": min(row["min_distance_m"] for row in rows),
            "outside_m": max(row["outside_m"] for row in rows),
            "kept_m": scenario.vehicle_config.safety.separation_m,
            "variations": rows,
        }

    def _attacked(self, flown: EngineTrial, item: tuple[int, Variation]) -> Figures:
        """Attack one variation; `item` is its number and itself."""
        number, (name, varied) = item
        found = self.attack(varied, flown._replace(seed=flown.seed + 1000 * number))
        return {
            "variation": name,
            "episodes": flown.episodes,
            "contact_episodes": int(found.contact.sum()),
            "min_distance_m": float(found.closest_m.min()),
            "outside_m": float(found.outside_m.max()),
            "fallback_rate": float(found.fell_back.mean()),
        }

    def attack(self, scenario: Scenario, flown: EngineTrial) -> Attacked:
        """Fly episodes of one variation."""
        batches = math.ceil(flown.episodes / SIDE_BY_SIDE)
        size = math.ceil(flown.episodes / batches)
        team = simulation_of(scenario).batch(scenario, flown.sim, size, flown.seed)
        random = np.random.default_rng(flown.seed)
        guard = guard_of(scenario, flown.mode)
        found = [self._fly(team, guard, random) for _ in range(batches)]
        return Attacked(*(np.concatenate(parts)[: flown.episodes] for parts in zip(*found, strict=True)))

    def _fly(self, team: BatchSim, guard: TeamGuard, random: np.random.Generator) -> Attacked:
        scenario, radius = team.scenario, team.scenario.vehicle_config.body.radius_m
        team.reset()
        lead = (team.num_envs, scenario.count)
        carry, further = guard.init(lead), len(simulation_of(scenario).action(scenario).sent) - len("xyz")
        truth = self.look(team)
        hunters = Adversaries(guard.params, lead, truth.centre_m, random, KINDS)
        pumps = np.zeros((lead[0], 1, 1), bool) if truth.pumping is None else random.random((lead[0], 1, 1)) < PUMPED
        whole, closest, outside = np.ones(lead[0], bool), np.full(lead[0], np.inf), np.full(lead[0], -np.inf)
        fell, ticks = np.zeros(lead[0]), _ticks(scenario)
        for _ in range(ticks):
            accel = hunters(truth.team, random)
            if truth.pumping is not None:
                accel = np.where(pumps, within_limits(guard.params, LARGE_M_S2 * truth.pumping), accel)
            nominal = np.concatenate([accel, np.zeros((*lead, further))], -1)
            carry, result = guard(carry, team.views(), nominal)
            fell += (np.asarray(result.reason) != 0).mean(-1)
            pos = truth.team.pos
            team.step(result.command, carry.plan)
            truth = self.look(team)
            # What comes after a contact is nobody's promise.
            closest = np.where(whole, np.minimum(closest, truth.closest_m), closest)
            outside = np.where(whole, np.maximum(outside, _outside_m(guard, pos)), outside)
            whole &= ~((truth.closest_m < 2 * radius) | truth.contact)
        return Attacked(~whole, closest, outside, fell / ticks)


def guard_of(scenario: Scenario, mode: TrialMode) -> TeamGuard:
    """The filter of a scenario's robots; raises `UserError` where the certificate does not cover them."""
    params = safety_params(scenario)
    if mode == "certificate":
        return certified_team(scenario, params)
    return filter_for(simulation_of(scenario).action(scenario), params, mode)


def _ticks(scenario: Scenario) -> int:
    """Decisions of an episode."""
    return round(SECONDS / scenario.period_s)


def _outside_m(guard: TeamGuard, pos_m: np.ndarray) -> np.ndarray:
    """[E] how far a centre is outside the arena."""
    if (arena := guard.params.arena) is None:
        return np.full(len(pos_m), -np.inf)
    return np.maximum(np.array(arena.low_m) - pos_m, pos_m - np.array(arena.high_m)).max((-2, -1))
