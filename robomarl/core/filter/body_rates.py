"""Commands of vehicles that carry: acceleration and body rates. The filter's rows are on the acceleration.

The body rates are a feed-forward to the acceleration that the policy asked for. As soon as another one is sent they
are dropped, and the low-level controller turns the vehicle by itself.

A carrier cannot brake alone: the load swings on and pulls. `safety.brake_m_s2` of its vehicle file is therefore the
deceleration of the team with its load, and every row that brakes counts on no more.
"""

import numpy as np

from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.memory import Decide, FilterCarry, Memory
from robomarl.core.geometry import namespace
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import LocalView

ACCELERATIONS = 3
WIDTH = 5
"""Elements of such a command: acceleration x, y, z [m/s^2, world], body rates roll, pitch [rad/s]."""


def filter_carrier(
    decide: Decide[Memory], carry: Memory, view: LocalView, nominal: Array, *more: Array | None
) -> tuple[Memory, FilterResult]:
    """Make one decision for commands of `WIDTH` elements, by a filter for acceleration and yaw rate.

    Args:
        decide: that filter, (carry, view, nominal [..., 4], ...) -> (carry, result).
        carry: its memory.
        view: view of the robots.
        nominal: [..., 5].
        more: further arguments of `decide`.
    """
    if type(nominal) is np.ndarray and nominal.ndim == 1:
        return _filter_one(decide, carry, view, nominal, *more)
    xp = namespace(nominal)
    accel, rates = nominal[..., :ACCELERATIONS], nominal[..., ACCELERATIONS:]
    # Rates that are not finite are a fault of the policy too: 0 times them is not 0 then.
    carry, result = decide(carry, view, xp.concatenate([accel, (0 * rates).sum(-1, keepdims=True)], -1), *more)
    sent = result.command[..., :ACCELERATIONS]
    kept = (xp.abs(sent - accel) <= 1e-9).all(-1, keepdims=True)
    command = xp.concatenate([sent, xp.where(kept, rates, 0.0)], -1)
    return carry, result._replace(command=command, nominal=nominal, active=~kept[..., 0])


class BodyRatesFilter(SafetyFilter):
    """The filter for acceleration and body rates [..., 5]."""

    def __call__(
        self, carry: FilterCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """Filter one decision; as `SafetyFilter`, with two body rates instead of the yaw rate."""
        nominal = np.asarray(nominal)
        if nominal.shape[-1:] != (WIDTH,):
            raise ValueError(f"nominal has the shape {nominal.shape}; with body rates it must be [..., {WIDTH}].")
        return filter_carrier(super().__call__, carry, view, nominal, gain_per_s)


def _filter_one(
    decide: Decide[Memory], carry: Memory, view: LocalView, nominal: np.ndarray, *more: Array | None
) -> tuple[Memory, FilterResult]:
    """`filter_carrier` for one robot, on Python floats: a third of the time, equal numbers (a test compares)."""
    x, y, z, roll, pitch = nominal.tolist()
    carry, result = decide(carry, view, np.array((x, y, z, 0 * roll + 0 * pitch)), *more)
    u, v, w, _ = result.command.tolist()
    kept = abs(u - x) <= 1e-9 and abs(v - y) <= 1e-9 and abs(w - z) <= 1e-9
    command = np.array((u, v, w, roll, pitch) if kept else (u, v, w, 0.0, 0.0))
    return carry, FilterResult(command, nominal, np.bool_(not kept), *result[3:])
