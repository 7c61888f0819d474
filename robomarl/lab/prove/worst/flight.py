"""`fly`: attacks on a filter, side by side, and how near it came to a failure. Numpy."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.tree import each
from robomarl.core.view import Goal, Heard, LocalView, NothingSensed, Own, Plan
from robomarl.lab.prove.worst.attack import Attack
from robomarl.lab.prove.worst.plant import Actuators, Parabola, Robots
from robomarl.lab.prove.worst.steering import Aim, Steering
from robomarl.lab.prove.worst.words import Words
from robomarl.lab.trees import Tree

STATE = 15
"""Numbers in a message: position, velocity; the plan's position, velocity and stop."""


class Outcome(NamedTuple):
    """Outcome of E episodes, [E] each."""

    least_m: np.ndarray
    """Least distance between two centres, in continuous time; inf for one robot."""
    scaled_m: np.ndarray
    """Least distance between two centres in the metric of the separation."""
    outside_m: np.ndarray
    """How far a centre was outside of the arena; -inf without one."""
    at_s: np.ndarray
    """Period in which the least scaled distance was."""
    fell_back: np.ndarray
    """Share of the decisions that fell back."""


class Radio:
    """The messages of E teams of N, and how old the newest is that each has."""

    def __init__(self, words: Words, lead: tuple[int, int]) -> None:
        """Start before any message has been sent."""
        episodes, count = lead
        self._period_s, self._tick = words.period_s, 0
        self._sent = np.zeros((int(2 * words.vehicle.safety.max_age_s / words.period_s) + 2, *lead, STATE))
        self._stamp = np.full(self._sent.shape[:3], -1)
        self._age = np.full((episodes, count, count - 1), 10**6)
        self._mates = np.array([[j for j in range(count) if j != i] for i in range(count)], int).reshape(count, -1)
        self._team = np.arange(episodes)[:, None, None]

    def send(self, own: Own, plan: Plan, silent: np.ndarray) -> None:
        """Send the messages of all robots that are not `silent` [E, N] in this period; the next period begins."""
        slot = self._tick % len(self._sent)
        before = (self._tick - 1) % len(self._sent)
        quiet = silent[..., None]
        message = np.concatenate([own.pos_m, own.vel_m_s, *plan], -1)
        self._sent[slot] = np.where(quiet, self._sent[before], message)
        self._stamp[slot] = np.where(silent, self._stamp[before], self._tick)
        self._tick += 1

    def receive(self, want_ticks: np.ndarray) -> Heard:
        """Return the messages that each robot has; `want_ticks` [E, N] is the largest age that the attack permits."""
        most = min(len(self._sent) - 1, max(self._tick, 1))
        self._age = np.clip(np.minimum(self._age + 1, want_ticks[..., None]), 1, most)
        slot = (self._tick - self._age) % len(self._sent)
        message = self._sent[slot, self._team, self._mates]
        stamp = self._stamp[slot, self._team, self._mates]
        there = (stamp >= 0) & (self._tick > 0)
        age_s = np.where(there, (self._tick - stamp) * self._period_s, 0.0)
        pos, vel, *plan = (np.where(there[..., None], message[..., i : i + 3], 0.0) for i in range(0, STATE, 3))
        return Heard(there, pos, vel, age_s, Plan(*plan))


class Flight:
    """E episodes under way."""

    def __init__(self, words: Words, safety: SafetyFilter, attack: Attack) -> None:
        """Everybody at rest where the attack puts them."""
        start = attack.vector("start", "_m")
        lead = start.shape[:2]
        self.words, self.safety = words, safety
        self.robots = Robots(words, start, attack["heading_rad"])
        self.steering = Steering(words, attack, self.robots.pos.copy())
        self.actuators, self.radio = Actuators(words, lead), Radio(words, lead)
        self.carry = safety.init(lead)
        self.time_s, self.lead = 0.0, lead
        self.watch = Watch(words, lead)
        self._restarted = np.full(lead, -np.inf)
        self._blind = np.full(lead, -1)
        self._last_own: Own | None = None
        self._fell = np.zeros(lead[0])

    def step(self) -> None:
        """One period."""
        words, steer = self.words, self.steering
        aim = steer.aim(self.robots, self.actuators.newest)
        own = self._estimate(aim)
        view = self._view(own, steer.age_ticks(aim, self.time_s))
        nominal = np.concatenate([steer.nominal(aim, self.robots, self.time_s), np.zeros((*self.lead, 1))], -1)
        blind = self._is_blind(aim)
        self._restart(aim, view.heard)
        before = self.carry
        after, result = self.safety(before, view, nominal)
        command = result.command
        if blind.any():
            sightless = (each(tree, lambda leaf: leaf[blind]) for tree in (before, view))  # few robots, at any time
            unsighted, braked = self.safety.blind(*sightless, (self._blind[blind] + 1) * words.period_s)
            after, command = _with(blind, unsighted, after), _with(blind, braked, command)
        self.carry = after
        self._last_own = own if self._last_own is None else _pick(blind, self._last_own, own)
        self._fell += (np.asarray(result.reason) != 0).mean(-1)
        self.actuators.send(command[..., :3])
        self.radio.send(own, after.plan, blind)
        self._move(aim)
        self.time_s += words.period_s

    def _move(self, aim: Aim) -> None:
        steer = self.steering
        late, picked = steer.delay(aim, self.time_s)
        way = np.where(steer.c["pump"][..., None] > 0.5, self.robots.vel, aim.toward)
        gust = steer.error("gust", self.words.gust_m_s2, aim, self.time_s)
        for piece in self.actuators.pieces:
            accel = self.actuators.in_force(piece, late, picked, way) + steer.bias + gust
            self.watch.add(self.robots.move(accel * steer.flat, piece.seconds), self.time_s)

    def _estimate(self, aim: Aim) -> Own:
        """Return the robots' estimates of their own states; the error is that of the commanded point."""
        steer, robots, words = self.steering, self.robots, self.words
        pos = robots.centre + steer.error("pos", words.position_error_m, aim, self.time_s)
        turn, zero = robots.turn_rad_s, np.zeros(self.lead)
        swing = (words.ahead_m * turn)[..., None] * robots.across
        vel = robots.vel - swing + steer.error("vel", words.velocity_error_m_s, aim, self.time_s)
        half = robots.angle / 2
        quat = np.stack([np.cos(half), zero, zero, np.sin(half)], -1)
        return Own(pos, quat, vel, np.stack([zero, zero, turn], -1), zero)

    def _view(self, own: Own, want_ticks: np.ndarray) -> LocalView:
        zero, one = np.zeros((*self.lead, 3)), np.zeros((*self.lead, 4))
        heard = self.radio.receive(want_ticks)
        when = np.full(self.lead, self.time_s)
        return LocalView(own, heard, NothingSensed(), Goal(zero, one), np.zeros(self.lead, int), when)

    def _restart(self, aim: Aim, heard: Heard) -> None:
        """Restart filter memories, sent commands excepted, if all teammates are received: no robot is activated
        otherwise.
        """
        c, now = self.steering.c, self.time_s
        first = np.isinf(self._restarted) & ((aim.gap_m < c["restart_m"]) | (now >= c["restart_s"]))
        every = c["restart_every_s"]
        again = np.isfinite(self._restarted) & (every > 0) & (now - self._restarted >= every - 1e-9)
        hears = (heard.mask & (heard.age_s <= self.words.vehicle.safety.max_age_s)).all(-1)
        anew = (first | again) & hears
        if anew.any():
            # A process that starts anew does not fly blind, so the plan, which only that needs, may stay.
            fresh = self.safety.init(self.lead)._replace(commands=self.carry.commands, plan=self.carry.plan)
            self.carry = _pick(anew, fresh, self.carry)
            self._restarted = np.where(anew, now, self._restarted)

    def _is_blind(self, aim: Aim) -> np.ndarray:
        """[E, N] whether there is no own estimate in this period; once in an episode, some periods long."""
        c, ticks = self.steering.c, np.rint(self.steering.c["blind_ticks"])
        begins = (self._blind < 0) & (aim.gap_m < c["blind_m"]) & (ticks > 0)
        self._blind = np.where(begins, 0, np.where(self._blind >= 0, self._blind + 1, self._blind))
        return (self._blind >= 0) & (self._blind < ticks) & (self._last_own is not None)

    def outcome(self, ticks: int) -> Outcome:
        """Return the outcome of the episodes so far."""
        w = self.watch
        return Outcome(w.least_m, w.scaled_m, w.outside_m, w.at_s, self._fell / max(ticks, 1))


class Watch:
    """The least distances so far."""

    def __init__(self, words: Words, lead: tuple[int, int]) -> None:
        """Nothing was seen."""
        self.words = words
        self.one, self.two = np.triu_indices(lead[1], 1)
        self.least_m, self.scaled_m = np.full(lead[0], np.inf), np.full(lead[0], np.inf)
        self.outside_m, self.at_s = np.full(lead[0], -np.inf), np.zeros(lead[0])

    def add(self, way: Parabola, time_s: float) -> None:
        """One piece of the ways."""
        if len(self.one):
            apart = way.between(self.one, self.two)
            plain = apart.least.min(-1)
            self.least_m = np.minimum(self.least_m, plain)
            squash = self.words.squash
            lean = plain if (squash == 1).all() else apart.times(squash).least.min(-1)
            self.at_s = np.where(lean < self.scaled_m, time_s, self.at_s)
            self.scaled_m = np.minimum(self.scaled_m, lean)
        if arena := self.words.arena:
            axes = 2 if self.words.planar else 3
            low, high = way.reach
            out = np.maximum(np.array(arena.low_m) - low, high - np.array(arena.high_m))[..., :axes].max((-2, -1))
            self.outside_m = np.maximum(self.outside_m, out)


def fly(
    words: Words, safety: SafetyFilter, attack: Attack, seconds: float, tell: Callable[[Flight], object] | None = None
) -> Outcome:
    """Fly attacks on E teams.

    Args:
        words: the plant's bounds.
        safety: the filter, which has the vehicle file's bounds.
        attack: the attacks.
        seconds: length of the episodes.
        tell: called with the flight after every period.
    """
    flight, ticks = Flight(words, safety, attack), round(seconds / words.period_s)
    for _ in range(ticks):
        flight.step()
        if tell:
            tell(flight)
    return flight.outcome(ticks)


def _with(mask: np.ndarray, part: Tree, whole: Tree) -> Tree:
    """Return `whole` with `part` in order at the robots [E, N] that the mask selects; through nested tuples."""
    if isinstance(whole, tuple):
        return type(whole)(*(_with(mask, a, b) for a, b in zip(part, whole, strict=True)))
    both = np.array(whole)
    both[mask] = part
    return both


def _pick(mask: np.ndarray, yes: Tree, no: Tree) -> Tree:
    """`yes` where the mask [E, N] says so, through nested tuples."""
    if isinstance(yes, tuple):
        return type(yes)(*(_pick(mask, a, b) for a, b in zip(yes, no, strict=True)))
    yes, no = np.asarray(yes), np.asarray(no)
    return np.where(mask.reshape(mask.shape + (1,) * (yes.ndim - mask.ndim)), yes, no)
