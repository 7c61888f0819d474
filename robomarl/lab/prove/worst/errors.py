"""Errors around the robots: each setter drives one declared bound to its edge, in a harmful direction."""

from collections.abc import Callable

import numpy as np

from robomarl.lab.prove.worst.attack import NEVER, Attack
from robomarl.lab.prove.worst.words import Words

Random = np.random.Generator
Setter = Callable[[Random, Words, Attack, np.ndarray], None]
"""(random, words, attack to write, toward [E, N, 3]: from each robot to the object that it may hit)."""
LATER_S = 8.0
"""Flips by the clock come within this time."""


def some(random: Random, attack: Attack, share: float, each: bool = True) -> np.ndarray:
    """Draw [E, N] bool; without `each`, one value for a whole team."""
    shape = attack.values.shape[:2]
    return random.random(shape if each else (shape[0], 1)) < share


def flips(random: Random, attack: Attack, name: str) -> None:
    """When a channel's error changes its sign: at a gap, by the clock, as braking begins, or never; some alternate."""
    shape, kind = attack.values.shape[:2], random.integers(0, 4, (len(attack.values), 1))
    attack[f"{name}_flip_m"] = np.where(kind == 0, random.uniform(-0.05, 2.0, shape), NEVER)
    attack[f"{name}_flip_s"] = np.where(kind == 1, random.uniform(0, LATER_S, shape), 1e3)
    attack[f"{name}_flip_brake"] = 1.0 * (kind == 2)
    if f"{name}_phase" in NAMES_WITH_PHASE:
        wave = some(random, attack, 0.15, each=False)
        attack[f"{name}_wave_s"] = np.where(wave, random.choice([0.04, 0.08, 0.16, 0.3, 0.6], shape), -1.0)
        attack[f"{name}_phase"] = random.random(shape)


NAMES_WITH_PHASE = ("pos_phase", "vel_phase", "gust_phase")


def _channel(random: Random, attack: Attack, name: str, worst: float) -> None:
    """Set the worst sign at the critical time in most episodes, and before the flip the opposite or an equal sign."""
    shape = attack.values.shape[:2]
    flips(random, attack, name)
    sign = np.where(some(random, attack, 0.75, each=False), worst, random.choice([-1.0, 1.0], shape))
    attack[f"{name}_radial_b"] = sign
    turns = some(random, attack, 0.6, each=False)
    attack[f"{name}_radial_a"] = np.where(turns, -sign, sign)
    aside = some(random, attack, 0.2, each=False) * random.uniform(-1, 1, shape)
    attack[f"{name}_side_a"], attack[f"{name}_side_b"] = aside, aside * random.choice([-1.0, 1.0], shape)


def position(random: Random, words: Words, attack: Attack, toward: np.ndarray) -> None:
    """It believes, and says, that it is farther away than it is."""
    _channel(random, attack, "pos", -1.0)


def velocity(random: Random, words: Words, attack: Attack, toward: np.ndarray) -> None:
    """It believes that it comes more slowly than it does."""
    _channel(random, attack, "vel", -1.0)


def gust(random: Random, words: Words, attack: Attack, toward: np.ndarray) -> None:
    """It is pushed towards the target, most often after it has learned the opposite."""
    _channel(random, attack, "gust", 1.0)


def bias(random: Random, words: Words, attack: Attack, toward: np.ndarray) -> None:
    """Constant accelerations at the edge: along the line, or in that corner of the box."""
    shape = (*attack.values.shape[:2], 1)
    size = np.abs(toward).max(-1, keepdims=True)
    along = toward / np.maximum(size, 1e-9)
    corner = np.where(toward >= 0, 1.0, -1.0)
    value = np.where(random.random((shape[0], 1, 1)) < 0.5, along, corner)
    sign = np.where(random.random((shape[0], 1, 1)) < 0.75, 1.0, random.choice([-1.0, 1.0], shape))
    attack.put_vector("bias", value * sign)


def delay(random: Random, words: Words, attack: Attack, toward: np.ndarray) -> None:
    """Make commands late, early, first one and then the opposite, or picked from moment to moment."""
    shape, kind = attack.values.shape[:2], random.integers(0, 5, (len(attack.values), 1))
    attack["late_a"] = np.select([kind == 0, kind == 1, kind == 2], [1.0, 0.0, 0.0], random.random(shape).round())
    attack["late_b"] = np.select([kind == 0, kind == 1], [1.0, 0.0], 1.0)
    attack["picked_a"] = np.where(kind >= 3, 1.0, 0.0)
    attack["picked_b"] = np.where(kind >= 3, 1.0, 0.0)
    attack["pump"] = 1.0 * some(random, attack, 0.25)
    attack["late_flip_m"] = np.where(kind == 2, random.uniform(0, 2.0, shape), NEVER)
    attack["late_flip_brake"] = np.where(kind == 2, random.choice([0.0, 1.0], shape), 0.0)
    attack["late_wave_s"] = np.where(random.random(shape) < 0.1, random.choice([0.04, 0.1, 0.3], shape), -1.0)


def messages(random: Random, words: Words, attack: Attack, toward: np.ndarray) -> None:
    """Old, lost from some gap on, or in bursts; a few so old that they stop the robot."""
    shape, kind = attack.values.shape[:2], random.integers(0, 4, (len(attack.values), 1))
    old = np.where(random.random(shape) < 0.7, 1.0, random.uniform(0, 1.1, shape))
    attack["age_b"] = old
    attack["age_a"] = np.where(kind == 0, old, np.where(kind == 1, 0.0, random.random(shape)))
    attack["age_flip_m"] = np.where(kind >= 1, random.uniform(0, 2.0, shape), NEVER)
    attack["age_wave_s"] = np.where(kind == 3, random.uniform(0.05, 0.8, shape), -1.0)


def restart(random: Random, words: Words, attack: Attack, toward: np.ndarray) -> None:
    """Discard the filter's memory on the way, once or repeatedly."""
    shape = attack.values.shape[:2]
    attack["restart_m"] = np.where(random.random(shape) < 0.8, random.uniform(0, 2.0, shape), NEVER)
    attack["restart_every_s"] = np.where(random.random(shape) < 0.3, random.uniform(0.02, 0.6, shape), -1.0)


def blind(random: Random, words: Words, attack: Attack, toward: np.ndarray) -> None:
    """A few periods without an own estimate."""
    shape = attack.values.shape[:2]
    attack["blind_m"] = random.uniform(0, 1.5, shape)
    attack["blind_ticks"] = random.integers(0, 6, shape)


CONSTANT = (position, velocity, gust, bias, delay, messages)
SETS: dict[str, tuple[Setter, ...]] = {
    "none": (),
    "bias": (bias,),
    "gust": (gust,),
    "estimate": (position, velocity),
    "delay": (delay,),
    "messages": (messages,),
    "bias+gust": (bias, gust),
    "restart": (bias, restart),
    "blind": (bias, blind),
    "all": CONSTANT,
    "everything": (*CONSTANT, restart, blind),
}
"""Which of the bounds an attack drives to their edge."""


def spoil(name: str, random: Random, words: Words, attack: Attack, toward: np.ndarray) -> None:
    """Write a set of errors."""
    for setter in SETS[name]:
        setter(random, words, attack, toward)
