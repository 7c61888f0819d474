"""Counts of a safety campaign: contacts, the least distance in continuous time, arrivals, actions of the filter."""

import math
from dataclasses import dataclass

import numpy as np

from robomarl.core.filter.memory import Reason
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import Figures, FilterResult
from robomarl.lab.prove.campaign.adversary import Team

ARRIVED_M, ARRIVED_M_S = 0.15, 0.3
"""A robot has arrived from when on it stays within these."""
WORST = 4
"""Episodes that are kept to be drawn."""
DRAWN_EVERY_S = 0.1
"""Positions of these are kept this often."""


@dataclass(frozen=True)
class Episode:
    """One episode, to be drawn."""

    batch: int
    number: int
    """Its place in the batch."""
    least_m: float
    """Least distance in the metric of the separation ellipsoid."""
    at_s: float
    """When."""
    robots: tuple[int, int]
    """Indices of the two robots."""
    touched: bool
    step_s: float
    path_m: tuple[tuple[tuple[float, ...], ...], ...]
    """[T, N, 3] positions."""


@dataclass(frozen=True)
class Reached:
    """Robots that strangers came nearer to than `separation_m`, in one batch; plain data."""

    moving: int
    """Episodes in which the robot was in motion."""
    resting: int
    """Episodes in which it stood."""
    least_m: float | None
    """Least distance of a stranger from a robot in motion; None if no robot moved."""
    moves: int
    """Decisions at which the robot moved."""


@dataclass(frozen=True)
class Record:
    """The counts of one batch; plain data."""

    steps: int
    episodes: int
    collisions: int
    hit: int
    """Episodes with a collision."""
    active: int
    vetoed: int
    """Decisions in which the fallback overruled the policy."""
    strained: int
    reasons: tuple[int, ...]
    least_m: float
    least_scaled_m: float
    fastest_m_s: float
    outside_m: float
    arrivals_s: tuple[float | None, ...]
    """For each robot; None where it did not arrive."""
    worst: tuple[Episode, ...]
    reached: Reached | None = None
    """Robots that strangers reached; None for a campaign without strangers."""


class Tally:
    """Counts over one batch."""

    def __init__(self, radius_m: float, params: SafetyParams, team: Team) -> None:
        """Start with nothing seen."""
        self.radius_m, self.params = radius_m, params
        self.first, self.second = np.triu_indices(team.pos.shape[1], 1)
        episodes = len(team.pos)
        self.touching = np.zeros((episodes, len(self.first)), bool)
        self.hit = np.zeros(episodes, bool)
        self.arrival_s = np.full(team.pos.shape[:2], math.inf)
        self.steps = self.collisions = self.active = self.vetoed = self.strained = 0
        self.reasons = np.zeros(len(Reason), int)
        self.least_m = math.inf
        self.least_scaled_m = np.full(episodes, math.inf)
        self.least_at_s, self.least_pair = np.zeros(episodes), np.zeros(episodes, int)
        self.fastest_m_s, self.outside_m, self.time_s = 0.0, -math.inf, 0.0
        self.drawn = [team.pos.astype(np.float32)]
        self._every = max(1, round(DRAWN_EVERY_S / params.period_s))
        self.reached: Reached | None = None

    def add(self, result: FilterResult, path: np.ndarray, team: Team, points: Team) -> None:
        """Add one period.

        Args:
            result: result of the filter.
            path: positions within the period [S+1, E, N, 3].
            team: the state after it.
            points: the state of the commanded points, which has goals.
        """
        self.steps += result.active.size
        self.active += int(result.active.sum())
        self.vetoed += int((result.active & (result.reason != Reason.OK)).sum())
        self.strained += int((result.slack > 1e-6).sum())
        self.reasons += np.bincount(result.reason.ravel(), minlength=len(Reason))
        self.time_s += self.params.period_s
        self._touch(path)
        speed = np.sqrt((points.vel * points.vel).sum(-1))
        self.fastest_m_s = max(self.fastest_m_s, float(speed.max()))
        if self.params.arena:
            self._watch_walls(path)
        away = points.goal - points.pos
        there = ((away * away).sum(-1) < ARRIVED_M**2) & (speed < ARRIVED_M_S)
        self.arrival_s = np.where(there, np.minimum(self.arrival_s, self.time_s), math.inf)
        if round(self.time_s / self.params.period_s) % self._every == 0:
            self.drawn.append(team.pos.astype(np.float32))

    def _watch_walls(self, path: np.ndarray) -> None:
        arena, axes = self.params.arena, 2 if self.params.planar else 3
        assert arena is not None
        for i in range(axes):
            x = path[..., i]
            self.outside_m = max(self.outside_m, arena.low_m[i] - float(x.min()), float(x.max()) - arena.high_m[i])

    def _touch(self, path: np.ndarray) -> None:
        """Find contacts and least distances, between the samples as well.

        Only pairs that can touch, or come nearer than any pair before in their episode, are examined
        closely: within a period, the straight pieces of a robot are not longer than its path.
        """
        squash = np.array([1.0, 1.0, 1 / self.params.safety.downwash_ratio])
        start = path[0][:, self.first] - path[0][:, self.second]
        way = np.sqrt((np.diff(path, axis=0) ** 2).sum(-1)).sum(0)
        reach = way[:, self.first] + way[:, self.second]
        scaled = np.sqrt(((start * squash) ** 2).sum(-1))
        # In the scaled space nobody is farther from anybody than in the world.
        limit = np.maximum(np.maximum(2 * self.radius_m, self.least_m), self.least_scaled_m[:, None])
        team, pair = np.nonzero(scaled - reach < limit)
        now = np.zeros(self.touching.shape, bool)
        if len(team):
            apart = path[:, team, self.first[pair]] - path[:, team, self.second[pair]]
            distance = closest(apart).min(0)
            self.least_m = min(self.least_m, float(distance.min()))
            now[team, pair] = distance < 2 * self.radius_m
            self._note(team, pair, closest(apart * squash).min(0))
        self.collisions += int((now & ~self.touching).sum())
        self.touching, self.hit = now, self.hit | now.any(-1)

    def _note(self, team: np.ndarray, pair: np.ndarray, scaled: np.ndarray) -> None:
        """Record the least scaled distance of each episode, its time and its pair of robots."""
        order = np.lexsort((scaled, team))
        firsts = order[np.unique(team[order], return_index=True)[1]]
        better = firsts[scaled[firsts] < self.least_scaled_m[team[firsts]]]
        self.least_scaled_m[team[better]] = scaled[better]
        self.least_at_s[team[better]], self.least_pair[team[better]] = self.time_s, pair[better]

    def record(self, batch: int) -> Record:
        """The counts, and the worst episodes of this batch."""
        order = np.lexsort((self.least_scaled_m, ~self.hit))[:WORST]
        arrivals = tuple(float(t) if math.isfinite(t) else None for t in self.arrival_s.ravel().tolist())
        return Record(
            steps=self.steps,
            episodes=len(self.hit),
            collisions=self.collisions,
            hit=int(self.hit.sum()),
            active=self.active,
            vetoed=self.vetoed,
            strained=self.strained,
            reasons=tuple(int(n) for n in self.reasons),
            least_m=self.least_m,
            least_scaled_m=float(self.least_scaled_m.min()),
            fastest_m_s=self.fastest_m_s,
            outside_m=self.outside_m,
            arrivals_s=arrivals,
            worst=tuple(self._episode(batch, int(i)) for i in order),
            reached=self.reached,
        )

    def _episode(self, batch: int, i: int) -> Episode:
        pair = int(self.least_pair[i])
        path = np.round(np.stack([pos[i] for pos in self.drawn]).astype(float), 3).tolist()
        return Episode(
            batch=batch,
            number=i,
            least_m=float(self.least_scaled_m[i]),
            at_s=float(self.least_at_s[i]),
            robots=(int(self.first[pair]), int(self.second[pair])),
            touched=bool(self.hit[i]),
            step_s=self._every * self.params.period_s,
            path_m=tuple(tuple(tuple(place) for place in places) for places in path),
        )


def closest(apart: np.ndarray) -> np.ndarray:
    """Least length on each straight piece between differences of positions, [S+1, ..., 3] -> [S, ...]."""
    start, along = apart[:-1], np.diff(apart, axis=0)
    square = np.maximum((along * along).sum(-1), 1e-18)
    share = np.clip(-(start * along).sum(-1) / square, 0.0, 1.0)
    nearest = start + share[..., None] * along
    return np.sqrt((nearest * nearest).sum(-1))


def figures(records: list[Record]) -> Figures:
    """Rates, bounds and extremes over batches.

    Episodes are independent of each other, decisions are not: the bound is one per episode. `bound95_per_step` is
    that, spread over the decisions of an episode.
    """
    steps, episodes = sum(r.steps for r in records), sum(r.episodes for r in records)
    collisions, hit = sum(r.collisions for r in records), sum(r.hit for r in records)
    reasons = np.sum([r.reasons for r in records], 0) / steps
    arrival = [t for r in records for t in r.arrivals_s]
    here = [t for t in arrival if t is not None]
    bound = min(1.0, poisson_bound(hit) / episodes)
    p50, p99 = (float(np.quantile(here, q)) if here else None for q in (0.5, 0.99))
    return {
        "agent_steps": steps,
        "episodes": episodes,
        "collisions": collisions,
        "collision_episodes": hit,
        "bound95_per_step": bound * episodes / steps,
        "bound95_per_episode": bound,
        "min_distance_m": min(r.least_m for r in records),
        "min_scaled_m": min(r.least_scaled_m for r in records),
        "goal_rate": len(here) / len(arrival),
        "arrival_p50_s": p50,
        "arrival_p99_s": p99,
        "active_share": sum(r.active for r in records) / steps,
        "veto_rate": sum(r.vetoed for r in records) / steps,
        "infeasible_rate": float(reasons[Reason.INFEASIBLE]),
        "fallback_rate": float(1 - reasons[Reason.OK]),
        "strained_rate": sum(r.strained for r in records) / steps,
        "max_speed_m_s": max(r.fastest_m_s for r in records),
        "outside_m": max(r.outside_m for r in records),
    } | _strangers([r.reached for r in records if r.reached], episodes, steps)


def _strangers(reached: list[Reached], episodes: int, steps: int) -> Figures:
    """Figures of the robots that strangers reached; empty for a campaign without strangers."""
    if not reached:
        return {}
    moving, least = sum(r.moving for r in reached), [r.least_m for r in reached if r.least_m is not None]
    return {
        "hit_in_motion_episodes": moving,
        "hit_at_rest_episodes": sum(r.resting for r in reached),
        "bound95_hit_in_motion": min(1.0, poisson_bound(moving) / episodes),
        "min_stranger_m": min(least, default=None),
        "moving_share": sum(r.moves for r in reached) / steps,
    }


def worst_of(records: list[Record]) -> list[Episode]:
    """The worst episodes of all: contacts first, then the nearest."""
    everyone = [episode for record in records for episode in record.worst]
    return sorted(everyone, key=lambda e: (not e.touched, e.least_m, e.batch, e.number))[:WORST]


def poisson_bound(events: int, confidence: float = 0.95) -> float:
    """Return the upper bound of the expected number of events when `events` were seen; 3.0 for none."""
    low, high = float(events), 3.0 * events + 10.0
    for _ in range(60):
        middle = (low + high) / 2
        tail = sum(math.exp(k * math.log(middle) - middle - math.lgamma(k + 1)) for k in range(events + 1))
        low, high = (middle, high) if tail > 1 - confidence else (low, middle)
    return high
