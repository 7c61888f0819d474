"""Commands with a gain: the vehicle's command, and how fast the policy lets the margins shrink meanwhile.

The gain goes to the robot's own filter only and is not sent. For any gain, the filter keeps
everything that it keeps with the configured one (`docs/safety.md`, "Gains that a policy sets").
"""

import numpy as np

from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.memory import Decide, FilterCarry, Memory
from robomarl.core.geometry import namespace
from robomarl.core.types import SENT, Array, FilterResult, divided
from robomarl.core.view import LocalView


def filter_gained(
    decide: Decide[Memory], carry: Memory, view: LocalView, nominal: Array
) -> tuple[Memory, FilterResult]:
    """Make one decision for commands [..., 5], by a filter for [..., 4]; its result has the command [...,
    4] that is sent.

    Args:
        decide: that filter, (carry, view, nominal [..., 4], gain [...]) -> (carry, result).
        carry: its memory.
        view: view of the robots.
        nominal: [..., 5].
    """
    carry, result = decide(carry, view, *divided(nominal))
    return carry, result._replace(nominal=nominal)


class GainedFilter(SafetyFilter):
    """Filter for acceleration, yaw rate and gain [..., 5].

    A source other than a policy gives [..., 4]: then the configured gain counts.
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
