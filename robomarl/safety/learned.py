"""`bias.learn` for one robot, in Python floats."""

import math
from typing import NamedTuple

from robomarl.safety.model import bias
from robomarl.safety.model.bias import LARGE, UNKNOWN_M_S, Bias
from robomarl.safety.model.constants import Constants
from robomarl.safety.model.motion import Floats, Vec3


class Learned(NamedTuple):
    """`Bias` in floats, after an estimate."""

    estimate: Vec3
    doubt: Vec3
    anchor: Vec3
    made: Vec3
    unsure: Vec3
    since_s: float
    misfit: bool


def learn_one(c: Constants, before: Bias, vel: Vec3, age_s: float) -> Learned | None:
    """`bias.learn` in floats; None where the memory is not as it should be."""
    estimate, doubt, anchor, made, unsure = (part.tolist() for part in before[:5])
    since, known = float(before.since_s), anchor[0] < LARGE
    # A sum of sizes is below a limit only if all of them are, and are numbers.
    sizes = sum(map(abs, (*estimate, *doubt, *made, *unsure, since))) + (sum(map(abs, anchor)) if known else 0.0)
    if not sizes < LARGE or min(doubt) < 0 or not (known or anchor == [UNKNOWN_M_S] * 3):
        return None
    if not (known and since > 0):
        axes = [bias.narrowed(c, i, (estimate[i], doubt[i]), (0.0, math.inf), Floats) for i in range(3)]
    else:
        told = [
            bias.told_by(c, i, v - a - m, o, (since, age_s))
            for i, (v, a, m, o) in enumerate(zip(vel, anchor, made, unsure, strict=True))
        ]
        axes = [bias.narrowed(c, i, (estimate[i], doubt[i]), told[i], Floats) for i in range(3)]
    misfit = any(axis.misfit for axis in axes)
    middle = [(axis.low + axis.high) / 2 for axis in axes]
    half = [max(axis.high - axis.low, 0.0) / 2 for axis in axes]
    if misfit or since >= bias.WINDOW_S or not (known and since > 0):
        return Learned(middle, half, vel, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, misfit)
    return Learned(middle, half, anchor, made, unsure, since, misfit)
