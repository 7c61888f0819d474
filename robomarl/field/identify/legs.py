"""`Legs` of recorded flights, and the elements of a state that are compared when they are flown again."""

from typing import NamedTuple, Protocol, TypeVar

import numpy as np

ELEMENTS = (
    *(f"{what}.{axis}" for what in ("position", "velocity") for axis in "xyz"),
    "tilt.x", "tilt.y", *(f"body_rate.{axis}" for axis in "xyz"),
)  # fmt: skip
UNITS = ("m",) * 3 + ("m/s",) * 3 + ("rad",) * 2 + ("rad/s",) * 3
S = TypeVar("S", contravariant=True)
"""The domain's scenario."""


class Legs(NamedTuple):
    """L legs of K decisions of S sub-steps."""

    state: np.ndarray
    """[L, 13] at the start: position, attitude, velocity, body rates."""
    command: np.ndarray
    """[L, B + K S, A] in force in each sub-step where nothing delays it; the first B are those before the start."""
    before: int
    """B."""


class Reflown(Protocol[S]):
    """How a domain flies legs again."""

    def __call__(self, scenario: S, legs: Legs, seed: int | None, /) -> np.ndarray:
        """[L, K S + 1, 13] states. `seed` of draws of the scenario's `randomize`; None: as the file says."""
        ...


def elements(state: np.ndarray) -> np.ndarray:
    """[..., E] of states [..., 13]."""
    pos, (w, x, y, z), vel, omega = (
        state[..., :3],
        np.moveaxis(state[..., 3:7], -1, 0),
        state[..., 7:10],
        state[..., 10:],
    )
    tilt = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x)], -1)
    return np.concatenate([pos, vel, tilt, omega], -1)
