"""`residual`: a small network that adds to a law's command, between the vehicle's limits. Array-generic.

The place of the command between its limits is mapped to the real line (inverse of tanh), the output is added there,
and the sum is mapped back, so that no command is beyond a limit and a gradient passes at the limits too.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import join, namespace
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.domains.volleyball.lab.controllers.strike import CourtSeen

HIDDEN = 64
"""Units of both hidden layers."""
INPUTS = 31
"""Inputs, see `inputs`."""
OUTPUTS = 3
"""Outputs, one for each axis of the acceleration."""
MOST = 3.0
"""Largest output, on the real line."""
EDGE = 0.95
"""The law's command is moved at least this far from its limits, as a share of half of their distance."""
STEEP = 4.0
"""Factor on the tilt: at the start, where it says which course is best, it is at most 0.3."""
BUMPS = 12
"""Functions of the time that the ball has fallen among the inputs ..."""
BUMP_S = 0.06
"""... each 1 at a time of its own and 0 beyond the next ones, this time [s] apart."""


class ResidualWeights(NamedTuple):
    """Weights of the network; a network of empty arrays adds nothing."""

    first: Array
    """[INPUTS + 1, HIDDEN], the last row the bias; and likewise:"""
    second: Array
    """[HIDDEN + 1, HIDDEN]"""
    last: Array
    """[HIDDEN, OUTPUTS]"""


def new_weights(seed: int) -> ResidualWeights:
    """Random weights, but for the last layer, which is 0 so that the network adds nothing yet."""
    draws = np.random.default_rng(seed)
    sizes = (INPUTS, HIDDEN), (HIDDEN, HIDDEN)
    first, second = (
        np.concatenate([draws.normal(size=(a, b)) / np.sqrt(a), np.zeros((1, b))]).astype(np.float32) for a, b in sizes
    )
    return ResidualWeights(first, second, np.zeros((HIDDEN, OUTPUTS), np.float32))


def inputs(seen: CourtSeen) -> Array:
    """[..., INPUTS] the drone's motion, the ball's place beside it and how long it has fallen, each of about 1."""
    beside = tuple(ball - own for ball, own in zip(seen.ball, seen.pos, strict=True))
    moving = [value / 3 for value in (*seen.vel, *seen.spin)]
    tilt = [STEEP * seen.up[0], STEEP * seen.up[1], seen.up[2]]
    place = [4 * beside[0], 4 * beside[1], beside[2] - 1.5]
    return join([*moving, *seen.front, *tilt, *(2 * t - 1 for t in seen.throttle), *place, *falls(seen)])


def falls(seen: CourtSeen) -> list[Array]:
    """Triangles over the time that the ball has fallen, [...] each: the network's output can change quickly with it."""
    xp, at = namespace(seen.pos[0]), -seen.ball_vel[2] / (GRAVITY_M_S2 * BUMP_S)
    return [xp.maximum(1 - xp.abs(at - number), 0.0) for number in range(BUMPS)]


def added(weights: ResidualWeights, seen: CourtSeen) -> list[Array]:
    """Return the outputs of the network, one array [...] for each axis; `corrected` adds them to the command."""
    xp, values = namespace(seen.pos[0], weights.first), inputs(seen)
    for layer in (weights.first, weights.second):
        values = xp.tanh(values @ layer[:-1] + layer[-1])
    out = MOST * xp.tanh(values @ weights.last / MOST)
    return [out[..., axis] for axis in range(OUTPUTS)]


def corrected(command: Array, more: Array, low: float, high: float) -> Array:
    """Return a command [...] with `more` [...] added on the real line, between its limits."""
    xp, middle, half = namespace(command), (high + low) / 2, (high - low) / 2
    share = xp.clip((command - middle) / half, -EDGE, EDGE)
    line = xp.log((1 + share) / (1 - share)) / 2
    return middle + half * xp.tanh(line + more)
