"""E teams of N robots that decide: the filter as a robot calls it, with what is wrong with its inputs."""

import dataclasses
from typing import Any

import numpy as np

from benchmarks.filter.fallbacks.faults import is_any
from benchmarks.filter.fallbacks.genes import Genes
from benchmarks.filter.fallbacks.places import Place
from benchmarks.filter.fallbacks.strangers import Sensed, assumed
from benchmarks.filter.fallbacks.words import PERIOD_S, Words, words_of
from robomarl.core.filter.filter import FilterCarry, Reason, SafetyFilter, SafetyParams, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.view import Heard, LocalView, Own, blank_view


def params_of(words: Words, place: Place, mates: int) -> SafetyParams:
    """Parameters of the filter at that place."""
    params = from_vehicle(load_any_vehicle(words.name), PERIOD_S, place.arena, min_mates=mates)
    told = dataclasses.replace(params.safety, clearance_m=words.clearance_m)
    strangers = assumed(words_of(words.name)) if place.strangers else None
    return dataclasses.replace(params, safety=told, obstacles=place.obstacles, strangers=strangers)


def pick(tree: Any, which: np.ndarray) -> Any:
    """The robots [E, N] of a tree of arrays where `which` holds, along one axis."""
    parts = (pick(x, which) if isinstance(x, tuple) else np.asarray(x)[which] for x in tree)
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)


def put(tree: Any, which: np.ndarray, some: tuple) -> Any:
    """The tree with those robots replaced; the reverse of `pick`."""
    parts = []
    for old, new in zip(tree, some, strict=True):
        if isinstance(old, tuple):
            parts.append(put(old, which, new))
        else:
            changed = np.array(old)
            changed[which] = new
            parts.append(changed)
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)


class Pilots:
    """The filters of all robots, and what they remember."""

    def __init__(self, safety: SafetyFilter, genes: Genes, shape: tuple[int, int], has_ghost: bool) -> None:
        """Start without memory."""
        self.safety, self.genes, self.has_ghost = safety, genes, has_ghost
        self.carry: FilterCarry = safety.init(shape)
        self._blank = safety.init(())
        self._lost_s = np.zeros(shape)
        self._last_own: Own | None = None
        self._gone = np.zeros(shape, bool)
        self.reasons = np.zeros((shape[0], len(Reason)), int)
        self.max_own_age_s = max(safety.params.safety.delay_s, PERIOD_S)

    def decide(self, own: Own, heard: Heard, sensed: Sensed | None, wish: np.ndarray, code: np.ndarray) -> np.ndarray:
        """[E, N, 4] commands.

        Args:
            own: estimates.
            heard: messages.
            sensed: strangers.
            wish: [E, N, 4] of the policy.
            code: [E, N] what is wrong, as `Faults.now` says it.
        """
        is_now = lambda *names: is_any(code, *names)  # noqa: E731
        blank = blank_view(heard.mask.shape[-1], batch=code.shape)
        view = blank._replace(own=own, heard=heard, sensed=blank.sensed if sensed is None else sensed)
        lost = is_now("stale_own", "blind", "blind_late")
        view = self._without_estimate(view, lost)
        gone = is_now("blind_late") & (self._lost_s > self.max_own_age_s + 1e-9)
        blind = is_now("blind") | gone
        hears = (heard.mask & (heard.age_s <= self.safety.params.safety.max_age_s)).all(-1)
        self._return(self._gone & ~gone | is_now("restart") & hears)
        view, wish = self._spoil(view, wish, is_now)
        gain, owners = None, self.safety.params.safety.gain_per_s
        if (bad := is_now("nan_gain")).any():
            gain = np.where(bad, self.genes["value"][:, None], owners * self.genes["gain"][:, None])
        carry, result = self.safety(self.carry, view, wish, gain)
        command = np.array(result.command)
        for number in Reason:
            self.reasons[:, number] += ((np.asarray(result.reason) == number) & ~blind).sum(-1)
        if blind.any():
            some, braked = self.safety.blind(pick(self.carry, blind), pick(view, blind), self._lost_s[blind])
            carry = put(carry, blind, some)
            command[blind] = braked
            self.reasons[:, Reason.STALE] += blind.sum(-1)
        self.carry, self._gone = carry, gone
        return command

    @property
    def misfits(self) -> np.ndarray:
        """[E] decisions of all robots whose velocity no bias within its bound explains."""
        return np.asarray(self.carry.bias.misfits).sum(-1)

    def _without_estimate(self, view: LocalView, lost: np.ndarray) -> LocalView:
        """Robots that lost their estimate keep the last one, which grows old."""
        self._lost_s = np.where(lost, self._lost_s + PERIOD_S, 0.0)
        own = view.own._replace(age_s=self._lost_s)
        if self._last_own is not None and lost.any():
            own = put(own, lost, pick(self._last_own, lost))._replace(age_s=self._lost_s)
        self._last_own = own
        return view._replace(own=own)

    def _return(self, which: np.ndarray) -> None:
        """Memory from the start, as a node begins after a gap: commands on their way, the bias and the place stay."""
        if not which.any():
            return
        kept, blank = self.carry, self._blank
        fresh = pick(self.safety.init(which.shape), which)
        bias = pick(kept.bias, which)._replace(anchor_m_s=np.broadcast_to(blank.bias.anchor_m_s, (which.sum(), 3)))
        fresh = fresh._replace(commands=kept.commands[which], place_m=kept.place_m[which])
        self.carry = put(kept, which, fresh._replace(bias=bias))

    def _spoil(self, view: LocalView, wish: np.ndarray, is_now) -> tuple[LocalView, np.ndarray]:
        """Put numbers that are none where the faults want them, and hide teammates."""
        value = np.broadcast_to(self.genes["value"][:, None], wish.shape[:2])
        wish = np.array(wish)
        bad = is_now("nan_nominal")
        wish[bad, 0] = value[bad]
        if (bad := is_now("nan_own")).any():
            pos, vel = np.array(view.own.pos_m), np.array(view.own.vel_m_s)
            both = bad & self.genes["near_too"][:, None]
            pos[bad, 0], vel[both, 0] = value[bad], value[both]
            view = view._replace(own=view.own._replace(pos_m=pos, vel_m_s=vel))
        if (bad := is_now("nan_memory")).any():
            commands = np.array(self.carry.commands)
            commands[bad, -1, 0] = value[bad]
            self.carry = self.carry._replace(commands=commands)
        return view._replace(heard=self._others(view.heard, is_now, value)), wish

    def _others(self, heard: Heard, is_now, value: np.ndarray) -> Heard:
        bad, gone = is_now("nan_mate"), is_now("missing")
        if not (bad | gone).any():
            return heard
        near = (self.genes["near_too"] & (self.genes["pattern"] != 0))[:, None, None]
        far = np.arange(heard.mask.shape[-1]) == heard.mask.shape[-1] - 1
        struck = far | near if self.has_ghost else near | far & near
        pos, mask = np.array(heard.pos_m), np.array(heard.mask)
        wrong = bad[..., None] & struck
        pos[wrong, 0] = np.broadcast_to(value[..., None], wrong.shape)[wrong]
        mask &= ~(gone[..., None] & struck)
        return heard._replace(pos_m=pos, mask=mask)
