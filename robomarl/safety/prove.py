"""The safety campaign: teams whose nominal commands try to make them collide.

    python -m robomarl.safety.prove crazyflie_21 --agent-steps 2e6

The realistic case of the safety study (50 Hz, delayed commands, bounded noise, 30 % of the messages lost), on
the numbers of a vehicle file: delay between half and all of what the filter assumes, noise and acceleration
error up to the assumed bounds. Contacts are looked for between the samples as well. What it does not contain
is in `docs/safety.md`.
"""

import argparse
import json
import math
from typing import Any

import numpy as np

from robomarl.hardware_configs.vehicle import Vehicle, load_vehicle
from robomarl.safety.adversary import Adversaries, Team, swap
from robomarl.safety.campaign import HEIGHT_M, Campaign, Plant, World
from robomarl.safety.constants import Mode
from robomarl.safety.deadlock import DeadlockCarry, turn_right
from robomarl.safety.filter import Arena, Reason, SafetyFilter, SafetyParams, from_vehicle
from robomarl.types import FilterResult

BATCH = 64
"""Most episodes that fly side by side."""
ARRIVED_M, ARRIVED_M_S = 0.15, 0.3
"""A robot has arrived from when on it stays within these."""


def prove(
    campaign: Campaign, vehicle: Vehicle, period_s: float, agent_steps: float, mode: Mode = "qp", seed: int = 0
) -> dict[str, Any]:
    """Fly as many batches as that many decisions need, and sum up.

    Args:
        campaign: what the robots are put through.
        vehicle: their type.
        period_s: time between two decisions.
        agent_steps: at least so many decisions.
        mode: of the filter.
        seed: of all that is drawn.

    Returns:
        The figures, by the names of `robomarl prove --json`.
    """
    side = campaign.ring_m + 1.0
    arena = Arena((-side, -side, 0.1), (side, side, 2 * HEIGHT_M))
    safety = SafetyFilter(from_vehicle(vehicle, period_s, arena, campaign.count - 1), mode)
    per_episode = campaign.count * round(campaign.seconds / period_s)
    episodes = math.ceil(agent_steps / per_episode)
    batches = [min(BATCH, episodes - done) for done in range(0, episodes, BATCH)]
    tallies = [fly(campaign, vehicle, safety, (n, seed + i)) for i, n in enumerate(batches)]
    return figures(tallies) | {"filter": mode, "vehicle": vehicle.name, "task": campaign.task}


def fly(
    campaign: Campaign, vehicle: Vehicle, safety: SafetyFilter, batch: tuple[int, int], plant: Plant | None = None
) -> "Tally":
    """Fly a batch of episodes side by side.

    Args:
        campaign: what the robots are put through.
        vehicle: its radius says when two robots touch.
        safety: the filter.
        batch: number of episodes, and the seed of all that is drawn.
        plant: the robots; point masses by default.
    """
    random = np.random.default_rng(batch[1])
    params, world = safety.params, World(campaign, safety.params, batch[0], random)
    lead = world.team.pos.shape[:2]
    adversaries = Adversaries(params, lead, np.array([0, 0, HEIGHT_M]), random)
    carry, active = safety.init(lead), np.zeros(lead, bool)
    stuck = DeadlockCarry(np.zeros(lead), np.zeros(lead))
    tally = Tally(vehicle, params, world.team)
    for _ in range(round(campaign.seconds / params.period_s)):
        view = world.view()
        hunt = campaign.task == "adversarial"
        accel = adversaries(world.team, random) if hunt else swap(params, world.seen)
        nominal = np.concatenate([accel, np.zeros((*lead, 1))], -1)
        if campaign.detour and not hunt:
            stuck, nominal = turn_right(stuck, view, nominal, active, params.period_s)
        carry, result = safety(carry, view, nominal)
        active = result.active
        path = world.step(result.command[..., :3], carry.plan, plant)
        tally.add(result, path, world.team)
    return tally


class Tally:
    """Counts contacts, arrivals and what the filter did, over one batch."""

    def __init__(self, vehicle: Vehicle, params: SafetyParams, team: Team) -> None:
        """Start with nothing seen."""
        self.vehicle, self.params = vehicle, params
        self.first, self.second = np.triu_indices(team.pos.shape[1], 1)
        self.touching = np.zeros((len(team.pos), len(self.first)), bool)
        self.hit = np.zeros(len(team.pos), bool)
        self.arrival_s = np.full(team.pos.shape[:2], math.inf)
        self.steps = self.collisions = self.active = self.strained = 0
        self.reasons = np.zeros(len(Reason), int)
        self.least_m = self.least_scaled_m = math.inf
        self.fastest_m_s, self.outside_m, self.time_s = 0.0, -math.inf, 0.0

    def add(self, result: FilterResult, path: np.ndarray, team: Team) -> None:
        """One period: what the filter did, the positions within the period [S+1, E, N, 3], the state after it."""
        self.steps += result.active.size
        self.active += int(result.active.sum())
        self.strained += int((result.slack > 1e-6).sum())
        self.reasons += np.bincount(result.reason.ravel(), minlength=len(Reason))
        self._touch(path[:, :, self.first] - path[:, :, self.second])
        speed = np.linalg.norm(team.vel, axis=-1)
        self.fastest_m_s = max(self.fastest_m_s, float(speed.max()))
        if self.params.arena:
            low, high = self.params.arena.low_m, self.params.arena.high_m
            self.outside_m = max(self.outside_m, float(np.maximum(low - path, path - high).max()))
        self.time_s += self.params.period_s
        there = (np.linalg.norm(team.goal - team.pos, axis=-1) < ARRIVED_M) & (speed < ARRIVED_M_S)
        self.arrival_s = np.where(there, np.minimum(self.arrival_s, self.time_s), math.inf)

    def _touch(self, apart: np.ndarray) -> None:
        distance = closest(apart).min(0)
        scaled = closest(apart / [1.0, 1.0, self.params.safety.downwash_ratio])
        self.least_m = min(self.least_m, float(distance.min(initial=math.inf)))
        self.least_scaled_m = min(self.least_scaled_m, float(scaled.min(initial=math.inf)))
        now = distance < 2 * self.vehicle.body.radius_m
        self.collisions += int((now & ~self.touching).sum())
        self.touching, self.hit = now, self.hit | now.any(-1)


def closest(apart: np.ndarray) -> np.ndarray:
    """Least length on each straight piece between differences of positions, [S+1, ..., 3] -> [S, ...]."""
    start, along = apart[:-1], np.diff(apart, axis=0)
    square = np.maximum((along * along).sum(-1), 1e-18)
    share = np.clip(-(start * along).sum(-1) / square, 0.0, 1.0)
    return np.linalg.norm(start + share[..., None] * along, axis=-1)


def figures(tallies: list[Tally]) -> dict[str, Any]:
    """Rates, bounds and extremes over batches."""
    steps, episodes = sum(t.steps for t in tallies), sum(len(t.hit) for t in tallies)
    collisions, hit = sum(t.collisions for t in tallies), sum(int(t.hit.sum()) for t in tallies)
    reasons = np.sum([t.reasons for t in tallies], 0) / steps
    arrival = np.concatenate([t.arrival_s.ravel() for t in tallies])
    here = arrival[np.isfinite(arrival)]
    p50, p99 = (float(np.quantile(here, q)) if len(here) else None for q in (0.5, 0.99))
    return {
        "agent_steps": steps,
        "episodes": episodes,
        "collisions": collisions,
        "collision_episodes": hit,
        "bound95_per_step": poisson_bound(collisions) / steps,
        "bound95_per_episode": min(1.0, poisson_bound(hit) / episodes),
        "min_distance_m": min(t.least_m for t in tallies),
        "min_scaled_m": min(t.least_scaled_m for t in tallies),
        "goal_rate": len(here) / len(arrival),
        "arrival_p50_s": p50,
        "arrival_p99_s": p99,
        "active_share": sum(t.active for t in tallies) / steps,
        "infeasible_rate": float(reasons[Reason.INFEASIBLE]),
        "fallback_rate": float(1 - reasons[Reason.OK]),
        "strained_rate": sum(t.strained for t in tallies) / steps,
        "max_speed_m_s": max(t.fastest_m_s for t in tallies),
        "outside_m": max(t.outside_m for t in tallies),
    }


def poisson_bound(events: int, confidence: float = 0.95) -> float:
    """Upper bound of the expected number of events when so many were seen; 3.0 for none."""
    low, high = float(events), 3.0 * events + 10.0
    for _ in range(60):
        middle = (low + high) / 2
        tail = sum(math.exp(k * math.log(middle) - middle - math.lgamma(k + 1)) for k in range(events + 1))
        low, high = (middle, high) if tail > 1 - confidence else (low, middle)
    return high


def main() -> None:
    """Run one campaign from the command line and print its figures."""
    parser = argparse.ArgumentParser(description="Safety campaign of one vehicle, with point masses.")
    parser.add_argument("vehicle")
    parser.add_argument("--filter", default="qp", choices=("qp", "textbook", "off"))
    parser.add_argument("--task", default="adversarial", choices=("adversarial", "swap"))
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--agent-steps", type=float, default=2e5)
    parser.add_argument("--rate-hz", type=float, default=50.0)
    parser.add_argument("--loss", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    campaign = Campaign(args.task, args.count, args.seconds, args.loss)
    found = prove(campaign, load_vehicle(args.vehicle), 1 / args.rate_hz, args.agent_steps, args.filter, args.seed)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
