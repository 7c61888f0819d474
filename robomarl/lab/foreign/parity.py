"""The sealed bundle against the framework that its file is of, on random observations."""

import numpy as np

from robomarl.core.bundle.bundle import Bundle
from robomarl.core.bundle.golden import TOLERANCE
from robomarl.core.bundle.runtime import Policy
from robomarl.core.config import UserError
from robomarl.lab.foreign.policy import ForeignPolicy, Wiring

FLIGHTS, DECISIONS = 8, 50
LAST_DIGIT = 2.0**-22
"""Relative size of the rounding error of single precision, for two or more roundings."""


def parity(bundle: Bundle, foreign: ForeignPolicy, wiring: Wiring) -> float:
    """Largest difference of a command element [its unit] over random flights, each from the initial memory.

    Half of the flights have observations as wide as those of the golden flights, half are normal with a deviation of 1.

    Raises:
        UserError: it is larger than `golden.TOLERANCE`.
    """
    rng, policy, elements = np.random.default_rng(0), Policy(bundle), bundle.contract.observation.elements
    low, high = (np.array([getattr(e, side) for e in elements]) for side in ("low", "high"))
    size, largest = (DECISIONS, len(elements)), 0.0
    for flight in range(FLIGHTS):
        drawn = rng.uniform(low, high, size) if flight % 2 else rng.normal(size=size)
        obs, carry, ours = drawn.astype(np.float32), policy.init(), []
        for row in obs:
            carry, command = policy(carry, row)
            ours.append(command)
        theirs = wiring.write(foreign.reference(np.asarray(wiring.read(obs), np.float32)))
        difference = np.abs(np.stack(ours) - theirs)
        largest = max(largest, float(difference.max()) if np.isfinite(difference).all() else np.inf)
    if not largest <= TOLERANCE:
        raise UserError(
            f"The bundle differs from {foreign.framework} by {largest:.3g} on random observations "
            f"(allowed: {TOLERANCE:g}); nothing was written."
        )
    return largest


def check_rounding(foreign: ForeignPolicy, wiring: Wiring, where: str) -> None:
    """Look whether the policy's commands are defined in single precision, before minutes of golden flights.

    Processors round differently, and each robot checks its bundle against the golden values. So a change of the inputs
    in their last digit must not change a command by more than the bundle's tolerance.

    Raises:
        UserError: it does.
    """
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(4 * DECISIONS, len(wiring.columns))).astype(np.float32)
    moved = (inputs * (1 + LAST_DIGIT * rng.choice([-1, 1], inputs.shape))).astype(np.float32)
    first, second = foreign.reference(inputs), foreign.reference(moved)
    change = float(np.abs(wiring.write(first) - wiring.write(second)).max())
    if change > TOLERANCE:
        raise UserError(
            f"{where}: its commands change by {change:.2g} when its inputs change in their last digit (allowed: "
            f"{TOLERANCE:g}), so processors would not agree on them; its outputs reach {np.abs(first).max():.3g} and "
            "are cut to the command's limits: train it with a squashed or penalized action, or with smaller weights."
        )
