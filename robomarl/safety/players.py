"""Commands of soccer robots: acceleration in the plane, yaw rate and kick. The filter's rows are on the acceleration.

A kick moves the ball, not the robot: it goes through, unless the filter has to fall back to braking. An opponent that
was seen a moment ago still counts, where it can have got to since: a robot turns, and a camera misses things.
"""

from typing import Any, NamedTuple

import numpy as np

from robomarl.geometry import namespace
from robomarl.safety.carry import LARGE, FilterCarry
from robomarl.safety.constants import Mode
from robomarl.safety.filter import SafetyFilter
from robomarl.safety.params import SafetyParams
from robomarl.safety.strangers import Strangers
from robomarl.spec import ActionSpec
from robomarl.types import Array, FilterResult
from robomarl.view import LocalView, Plan

KICK = "kick"


class PlayerCarry(NamedTuple):
    """`FilterCarry`, field by field, and what was seen."""

    commands: Array
    plan: Plan
    drift_m_s2: Array
    expected_m_s: Array
    ok: Array
    seen: Strangers | tuple[()] = ()
    """The last sighting of every opponent, [..., S]; empty before the first decision."""


class PlayerFilter(SafetyFilter):
    """The filter for commands [..., 4] of a player: acceleration x and y, yaw rate, kick speed."""

    def init(self, batch: tuple[int, ...] = ()) -> PlayerCarry:  # type: ignore[override]
        """The memory before the first decision, for robots with these leading axes."""
        return PlayerCarry(*super().init(batch))

    def __call__(  # type: ignore[override]
        self, carry: PlayerCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[PlayerCarry, FilterResult]:
        """Filter one decision; as `SafetyFilter`, the view in the frame of the acceleration, the team's field."""
        nominal = np.asarray(nominal)
        view, seen = recall(self.params, carry.seen, view)
        after, result = super().__call__(FilterCarry(*carry[:-1]), view, of_vehicle(nominal), gain_per_s)
        return PlayerCarry(*after, seen), of_player(result, nominal)


def recall(
    params: SafetyParams, before: Strangers | tuple[()], view: LocalView
) -> tuple[LocalView, Strangers | tuple[()]]:
    """What the filter is to read, with opponents that were seen lately, and what is known of them now. Array-generic.

    A sighting counts for `strangers.max_age_s`, the freshest one of each opponent: what a team-mate says may be older
    than what is remembered. The rows let whom they hold get as far as it can in that time.

    Args:
        params: of the filter.
        before: what was known at the last decision.
        view: its `sensed` has a row for each opponent, the same one at all times.
    """
    limits = params.strangers
    if limits is None:
        return view, ()
    sensed: Any = view.sensed
    now = Strangers(*(getattr(sensed, f"strangers_{name}") for name in Strangers._fields))
    xp = namespace(now.pos_m)
    known = now._replace(mask=now.mask & ~(now.age_s > limits.max_age_s))  # so put that what is no number remains
    if isinstance(before, Strangers):
        age = before.age_s + params.period_s
        old = before._replace(mask=before.mask & (age <= limits.max_age_s), age_s=age)
        newer = known.mask & ~(old.mask & (known.age_s > old.age_s))
        known = Strangers(*(xp.where(_fit(newer, a), a, b) for a, b in zip(known, old, strict=True)))
    else:
        known = Strangers(*(xp.asarray(part) for part in known))
    view = view._replace(sensed=sensed._replace(**{f"strangers_{n}": part for n, part in known._asdict().items()}))
    # What is no number stops the robot now, but not for as long as it would be remembered.
    parts = xp.concatenate([known.pos_m, known.vel_m_s, known.age_s[..., None]], -1)
    sane = known.mask & (xp.abs(parts) < LARGE).all(-1)
    return view, Strangers(sane, *(xp.where(_fit(sane, part), part, 0.0) for part in known[1:]))


def _fit(mask: Array, like: Array) -> Array:
    return mask[..., None] if like.ndim > mask.ndim else mask


def of_vehicle(nominal: Array) -> Array:
    """A player's command as the filter of its vehicle takes it: acceleration [..., 3] and yaw rate."""
    ax, ay, turn = (nominal[..., i] for i in range(3))
    return namespace(nominal).stack([ax, ay, ax * 0, turn], -1)


def of_player(result: FilterResult, nominal: Array) -> FilterResult:
    """The filter's result with the player's command: the kick where the filter did not fall back."""
    xp, sent, kick = namespace(nominal), result.command, nominal[..., 3]
    kick = xp.where(xp.asarray(result.solved) & xp.isfinite(kick), kick, 0.0)
    command = xp.stack([sent[..., 0], sent[..., 1], sent[..., 3], kick], -1)
    return result._replace(command=command, nominal=nominal)


def filter_for(action: ActionSpec, params: SafetyParams, mode: Mode = "qp", **more: Any) -> SafetyFilter:
    """The filter for commands of this kind."""
    plays = any(field.name == KICK for field in action.fields)
    return (PlayerFilter if plays else SafetyFilter)(params, mode, **more)
