"""Commands with a gain: what the vehicle is commanded, and how fast the policy lets the margins shrink meanwhile.

The gain is said to the robot's own filter and sent to nobody. Whatever it is, the filter keeps what it keeps with the
owner's (`docs/safety.md`, "Gains that a policy sets").
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.memory import FilterCarry
from robomarl.core.geometry import namespace
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import LocalView

SENT = 4
"""Elements that are sent: acceleration x, y, z [m/s^2, world] and yaw rate [rad/s]; the gain [1/s] comes after them."""


def filter_gained(
    decide: Callable[..., tuple[Any, FilterResult]], carry: Any, view: LocalView, nominal: Array
) -> tuple[Any, FilterResult]:
    """One decision for commands [..., 5], by a filter for [..., 4]; its result has the command [..., 4] that is sent.

    Args:
        decide: that filter, (carry, view, nominal [..., 4], gain [...]) -> (carry, result).
        carry: its memory.
        view: what the robots know.
        nominal: [..., 5].
    """
    carry, result = decide(carry, view, nominal[..., :SENT], nominal[..., SENT])
    return carry, result._replace(nominal=nominal)


class GainedFilter(SafetyFilter):
    """The filter for acceleration, yaw rate and gain [..., 5].

    Who moves the robot without a policy gives [..., 4]: then the owner's gain counts.
    """

    def __call__(  # type: ignore[override]
        self, carry: FilterCarry, view: LocalView, nominal: Array
    ) -> tuple[FilterCarry, FilterResult]:
        """Filter one decision; as `SafetyFilter`."""
        nominal = np.asarray(nominal)
        if nominal.shape[-1] > SENT:
            return filter_gained(super().__call__, carry, view, nominal)
        after, result = super().__call__(carry, view, nominal)
        owners = nominal[..., :1] * 0 + self.params.safety.gain_per_s
        return after, result._replace(nominal=namespace(nominal).concatenate([nominal, owners], -1))
