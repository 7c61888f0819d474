"""Conditions of a safety campaign: starts, sensors, radio, delays and plants. Numpy."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robomarl.core.filter.params import SafetyParams
from robomarl.core.view import Goal, Heard, LocalView, NothingSensed, Own, Plan
from robomarl.lab.prove.campaign.adversary import KINDS, Team
from robomarl.lab.prove.campaign.plants import Drives, point_masses

HEIGHT_M = 1.2
"""Height [m] of the ring, for robots that fly."""
RUN_UP_M, RUN_UP_S = 4.0, 4.0
"""Longest run-up [m], and flight time [s] that also limits it."""
GUST_S, BURST_S = 0.5, 0.2
"""Mean times for which a gust and a burst of loss last."""
START_ROOM_M = 0.4
"""Least distance [m] of neighbours at the start beyond their separation: all margins of robots at rest, and jitter."""

Plant = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Position, velocity and commanded acceleration [E, N, 3] -> positions within the period [S, E, N, 3], velocity."""


@dataclass(frozen=True)
class Campaign:
    """Conditions to which the robots are exposed."""

    task: Literal["adversarial", "swap", "roundabout"] = "adversarial"
    count: int = 8
    """Robots in a team."""
    seconds: float = 10.0
    """Length of an episode."""
    loss: float = 0.3
    """Share of the messages that do not arrive, each receiver on its own."""
    latency_steps: int = 1
    """Periods from a message's stamp to its arrival."""
    noise: float = 1.0
    """Estimation error over the assumed bounds; a fraction is constant, the rest new at each sample."""
    mismatch: float = 1.0
    """Acceleration errors over the assumed bounds: a bias, and gusts."""
    delay_steps: tuple[int, int] | None = None
    """Delay of the commands in periods; by default half to all of the assumed."""
    ring_radius_m: float = 1.0
    spacing_m: float = 0.6
    """Robots start on a ring of that radius, or larger so that neighbours are this far apart, or farther where the
    vehicle needs it."""
    detour: bool = True
    """True if `swap` uses the right-hand rule against deadlock."""
    kinds: tuple[str, ...] = KINDS
    """Adversaries, drawn for each robot."""
    run_ups: float = 0.25
    """Share of the adversarial episodes that start so far apart that robots come at full speed."""
    jitter: float = 0.5
    """Fraction of the robots with a delay that changes at each tick."""
    bursts: float = 0.5
    """Fraction of the episodes in which messages are lost in bursts, at an equal loss rate."""
    relayed: bool = False
    """True if each message carries the last messages that its sender has received from other teammates. Nodes do not
    send such messages; the campaign shows what they would bring (`python -m benchmarks.flight.relayed`)."""
    restart_every_s: float = 5.0
    """Mean time between two restarts of a robot's filter in flight; 0: none."""
    gains: Literal["owner", "hostile"] = "owner"
    """hostile: a policy sets each robot's gain at each decision, drawn anew: none, the owner's, or one in between."""

    def ring_m(self, params: SafetyParams) -> float:
        """Radius of the ring that the robots start on."""
        apart = params.safety.separation_m + 2 * params.look_ahead_m + START_ROOM_M
        return max(self.ring_radius_m, max(self.spacing_m, apart) / (2 * math.sin(math.pi / max(self.count, 2))))

    def far_m(self, params: SafetyParams) -> float:
        """Radius of the largest ring: a run-up more between opposite robots."""
        run_up = min(RUN_UP_M, RUN_UP_S * params.limits.speed_m_s)
        far = self.run_ups and self.task == "adversarial"
        return self.ring_m(params) + (run_up / 2 if far else 0.0)


class World:
    """State of E teams of N robots, with their knowledge, and the commands and messages in transit."""

    def __init__(self, campaign: Campaign, params: SafetyParams, episodes: int, random: np.random.Generator) -> None:
        """Everybody at rest on the ring, and heard by everybody."""
        self.campaign, self.params, self.random = campaign, params, random
        self.team = _start(campaign, params, episodes, random)
        shape = self.team.pos.shape
        safety = params.safety
        self.drives = Drives(params, self.team.goal - self.team.pos, random) if params.look_ahead_m else None
        self.bounds = (safety.position_error_m * campaign.noise, safety.velocity_error_m_s * campaign.noise)
        self.bias = [ball(random, shape, bound) for bound in self.bounds]
        self.bias_share = random.random((*shape[:2], 1))
        self.constant = random.uniform(-1, 1, shape) * np.array(params.bias_m_s2) * campaign.mismatch
        self.gust = self._gusts()
        assumed = params.queue_length
        shortest, longest = campaign.delay_steps or (math.ceil(safety.shortest_share * assumed), assumed)
        self.delays = shortest, longest
        self.delay = random.integers(shortest, longest + 1, shape[:2])
        self.jitters = random.random(shape[:2]) < campaign.jitter
        self.queue = np.zeros((longest + 1, *shape))
        self.others = np.array([[j for j in range(shape[1]) if j != i] for i in range(shape[1])], int)
        state = np.concatenate([*self.team[:2], *self.points[:2], self.points.pos], -1)
        self.sent = np.repeat(state[None], campaign.latency_steps, 0)
        self.heard = state[:, self.others.reshape(shape[1], -1)]
        self.age_s = np.zeros(self.heard.shape[:-1])
        self.known = [(self.heard, self.age_s)] * campaign.latency_steps
        self.in_bursts = random.random((episodes, 1, 1)) < campaign.bursts
        self.silent = np.zeros(self.age_s.shape, bool)
        self.seen = self._estimate()

    @property
    def points(self) -> Team:
        """Return the commanded points: the robots, or their look-ahead points."""
        return self.drives.points(self.team) if self.drives else self.team

    def view(self) -> LocalView:
        """Return the robots' views at this time."""
        lead, zero = self.team.pos.shape[:2], np.zeros_like(self.team.pos)
        unit, mask = np.zeros((*lead, 4)), np.ones(self.age_s.shape, bool)
        quat, omega = (self.drives.quat_wxyz, self.drives.omega_rad_s) if self.drives else (unit, zero)
        pos, vel, *plan = (self.heard[..., i : i + 3] for i in range(0, 15, 3))
        return LocalView(
            own=Own(self.seen.pos, quat, self.seen.vel, omega, np.zeros(lead)),
            heard=Heard(mask, pos, vel, self.age_s, Plan(*plan)),
            sensed=NothingSensed(),
            goal=Goal(self.team.goal, unit),
            role=np.zeros(lead, int),
            time_s=np.zeros(lead),
        )

    def step(self, accel: np.ndarray, plan: Plan, plant: Plant | None = None) -> np.ndarray:
        """Advance by one period.

        Args:
            accel: commands [E, N, 3].
            plan: plans that the robots send along with their estimated states.
            plant: the robots; by default point masses, or differential drives.

        Returns:
            Positions from the start to the end of the period [S+1, E, N, 3].
        """
        self.queue = np.concatenate([self.queue[1:], accel[None]])
        self._vary()
        acting = np.take_along_axis(self.queue, (len(self.queue) - 1 - self.delay)[None, ..., None], 0)[0]
        if plant is not None:
            path, vel = plant(*self.team[:2], acting)
        else:
            path, vel = (self.drives or point_masses)(
                self.team, acting + self.constant + self.gust, self.params.period_s
            )
        self._transmit(plan)
        path = np.concatenate([self.team.pos[None], path])
        self.team = self.team._replace(pos=path[-1], vel=vel)
        self.seen = self._estimate()
        return path

    def _vary(self) -> None:
        """Other gusts, and other delays where they jitter."""
        lead = self.team.pos.shape[:2]
        turns = self.random.random((*lead, 1)) < self.params.period_s / GUST_S
        self.gust = np.where(turns, self._gusts(), self.gust)
        shortest, longest = self.delays
        self.delay = np.where(self.jitters, self.random.integers(shortest, longest + 1, lead), self.delay)

    def _gusts(self) -> np.ndarray:
        gust = ball(self.random, self.team.pos.shape, self.params.safety.accel_error_m_s2 * self.campaign.mismatch)
        return gust * [1, 1, 0] if self.params.planar else gust

    def _estimate(self) -> Team:
        share, shape = self.bias_share, self.team.pos.shape
        errors = [
            share * bias + (1 - share) * ball(self.random, shape, bound)
            for bias, bound in zip(self.bias, self.bounds, strict=True)
        ]
        return Team(self.team.pos + errors[0], self.team.vel + errors[1], self.team.goal)

    def _transmit(self, plan: Plan) -> None:
        message = np.concatenate([*self.seen[:2], *plan], -1)
        self.sent = np.concatenate([self.sent[1:], message[None]])
        arrives = ~self._lost()
        self.known = [*self.known[1:], (self.heard, self.age_s)]
        self.heard = np.where(arrives[..., None], self.sent[0][:, self.others], self.heard)
        latency_s = self.campaign.latency_steps * self.params.period_s
        self.age_s = np.where(arrives, latency_s, self.age_s + self.params.period_s)
        if self.campaign.relayed:
            self._receive_relayed(arrives, latency_s)

    def _receive_relayed(self, arrives: np.ndarray, latency_s: float) -> None:
        """Receive the newer of the messages that teammates pass on; `arrives` [E, N, K] says whose messages come."""
        heard, age_s = self.known[0]
        robots = np.arange(len(self.others))[:, None]
        states = np.zeros((len(heard), len(robots), len(robots), heard.shape[-1]))
        ages_s = np.full(states.shape[:-1], np.inf)
        states[:, robots, self.others], ages_s[:, robots, self.others] = heard, age_s + latency_s
        by_mate_s = np.where(arrives[..., None], ages_s[:, self.others], np.inf)  # [E, N, K mates, N about whom]
        newest = by_mate_s.argmin(2)[:, robots, self.others]
        mate, teams = self.others[robots, newest], np.arange(len(heard))[:, None, None]
        found_s = by_mate_s.min(2)[:, robots, self.others]
        newer = found_s < self.age_s
        self.heard = np.where(newer[..., None], states[teams, mate, self.others], self.heard)
        self.age_s = np.where(newer, found_s, self.age_s)

    def _lost(self) -> np.ndarray:
        """Draw the lost messages [E, N, K], each alone or in bursts of `BURST_S` in the mean, with equal long-run
        rates.
        """
        draw, share, length = self.random.random(self.age_s.shape), self.campaign.loss, BURST_S / self.params.period_s
        begin = min(share / max(1 - share, 1e-9) / length, 1.0)
        self.silent = np.where(self.silent, draw >= 1 / length, draw < begin) & (share > 0)
        return np.where(self.in_bursts, self.silent, draw < share)


def ball(random: np.random.Generator, shape: tuple[int, ...], radius: float) -> np.ndarray:
    """Points [..., 3] uniform in a ball."""
    x = random.normal(size=shape)
    scale = radius * np.cbrt(random.random((*shape[:-1], 1))) / np.sqrt((x * x).sum(-1, keepdims=True))
    return x * scale


def _start(campaign: Campaign, params: SafetyParams, episodes: int, random: np.random.Generator) -> Team:
    angle = 2 * np.pi * np.arange(campaign.count) / campaign.count
    unit = np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1)
    shape, height = (episodes, campaign.count, 3), height_of(params)
    near, far = campaign.ring_m(params), campaign.far_m(params)
    ring = unit * np.where(random.random((episodes, 1, 1)) < campaign.run_ups, far, near)
    flat = np.array([1.0, 1.0, 0.0 if params.planar else 1.0])
    pos = ring + height + random.uniform(-0.1, 0.1, shape) * flat
    return Team(pos, np.zeros(shape), height - ring + random.uniform(-0.05, 0.05, shape) * flat)


def height_of(params: SafetyParams) -> np.ndarray:
    """Centre of the ring."""
    return np.array([0.0, 0.0, 0.0 if params.planar else HEIGHT_M])
