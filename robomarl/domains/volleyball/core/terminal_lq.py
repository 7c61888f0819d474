"""Linear-quadratic control with a cost at the end alone: gains for every number of steps to go. Array-generic.

Minimize x_H' Q x_H + r sum u_k^2 with x_{k+1} = A x_k + b u_k. The gains follow from the Riccati
recursion from the end backwards (Bertsekas, Dynamic Programming and Optimal Control, section 4.1).

Horizontal axis of a vehicle: offset from the place of the contact [m], speed [m/s], tilt (tangent
of its angle, so that the acceleration is g times it), rate of the tilt [1/s] and its rate [1/s^2],
wanted tilt at the contact; u is the commanded tilt, and its effort is of u less the tilt, because torque is what takes
lift away. Vertical axis: offset, speed, acceleration [m/s^2], wanted speed;
u is the commanded acceleration. Wanted values are states that never change.
"""

from collections.abc import Sequence

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import GRAVITY_M_S2, Array

TERMS = 16
"""Terms of the exponential's series: its remainder is below 1e-9 for the fastest vehicle here."""


def _matrix(rows: Sequence[Sequence[Array]]) -> Array:
    """[n, m] of numbers, some of which may be JAX arrays."""
    xp = namespace(*(value for row in rows for value in row))
    return xp.stack([xp.stack([xp.asarray(value, dtype="float32") for value in row]) for row in rows])


def _stepped(rate: Array, push: Array, dt_s: float) -> tuple[Array, Array]:
    """Return A [n, n] and b [n] of x' = rate x + push u over one step of constant u."""
    xp, size = namespace(rate), rate.shape[-1]
    whole = xp.concatenate([xp.concatenate([rate, push[:, None]], 1), xp.zeros((1, size + 1), "float32")], 0) * dt_s
    made = term = xp.asarray(np.eye(size + 1, dtype=np.float32))
    for number in range(1, TERMS):
        term = term @ whole / number
        made = made + term
    return made[:size, :size], made[:size, size]


def gain_table(rate: Array, push: Array, worth: Array, effort: Array, dt_s: float, steps: int) -> Array:
    """Gains [steps, n] for 1, 2, ... steps to go: u = -gains . x.

    Args:
        rate: [n, n], x' = rate x + push u.
        push: [n].
        worth: [n, n] Q, the cost at the end.
        effort: r, the cost of u^2.
        dt_s: length of a step.
        steps: how many.
    """
    step, input_ = _stepped(rate, push, dt_s)
    rows: list[Array] = []
    cost = worth
    for _ in range(steps):
        seen = input_ @ cost
        gain = (seen @ step) / (seen @ input_ + effort)
        cost = step.T @ cost @ (step - input_[:, None] * gain[None, :])
        rows.append(gain)
    return namespace(cost).stack(rows)


def horizontal_table(
    model: tuple[float, float, float], worth: tuple[Array, Array, Array], effort: Array, dt_s: float, steps: int
) -> Array:
    """Gains [steps, 6] of a horizontal axis.

    Args:
        model: attitude controller and motors: rate over error of the tilt [1/s], its acceleration over the error of
            the rate [1/s], and the motors' time constant [s].
        worth: cost of the squared offset [1/m^2], of the squared error of the tilt, and of the squared speed [s^2/m^2]
            at the contact; with a cost of 0 the speed is free.
        effort: cost of the squared difference of command and tilt in each step.
        dt_s: length of a step.
        steps: how many.
    """
    (tilt_per_s, rate_per_s, lag_s), (offset, tilt, speed) = model, worth
    both, rate_gain = tilt_per_s * rate_per_s / lag_s, rate_per_s / lag_s
    rate = _matrix(
        [
            (0, 1, 0, 0, 0, 0),
            (0, 0, GRAVITY_M_S2, 0, 0, 0),
            (0, 0, 0, 1, 0, 0),
            (0, 0, 0, 0, 1, 0),
            (0, 0, 0, -rate_gain, -1 / lag_s, 0),
            (0, 0, 0, 0, 0, 0),
        ]
    )
    push = _matrix([(0, 0, 0, 0, both, 0)])[0]
    nothing = (0, 0, 0, 0, 0, 0)
    at_contact = (0, 0, tilt, 0, 0, -tilt), (0, 0, -tilt, 0, 0, tilt)
    moving = (0, speed, 0, 0, 0, 0)
    cost = _matrix([(offset, 0, 0, 0, 0, 0), moving, at_contact[0], nothing, nothing, at_contact[1]])
    itself = _matrix([(0, 0, 1, 0, 0, 0)])
    return gain_table(rate, push, cost, effort, dt_s, steps) - itself


def vertical_table(lag_s: Array, worth: tuple[Array, Array], effort: Array, dt_s: float, steps: int) -> Array:
    """Gains [steps, 4] of the vertical axis; `lag_s` is the time constant of the acceleration, the rest as before with
    the cost of the squared error of the speed [s^2/m^2] in place of the tilt's."""
    offset, speed = worth
    rate = _matrix([(0, 1, 0, 0), (0, 0, 1, 0), (0, 0, -1 / lag_s, 0), (0, 0, 0, 0)])
    push = _matrix([(0, 0, 1 / lag_s, 0)])[0]
    cost = _matrix([(offset, 0, 0, 0), (0, speed, 0, -speed), (0, 0, 0, 0), (0, -speed, 0, speed)])
    return gain_table(rate, push, cost, effort, dt_s, steps)


def gains_at(table: Array, steps_to_go: Array) -> Array:
    """Gains [..., n] at a number of steps to go [...] that need not be whole, between the rows of a table."""
    xp, count = namespace(table, steps_to_go), table.shape[0]
    to_go = xp.clip(steps_to_go, 1.0, float(count))
    rows = np.arange(1, count + 1, dtype=np.float32)
    share = xp.maximum(1 - xp.abs(to_go[..., None] - rows), 0.0)
    return share @ table
