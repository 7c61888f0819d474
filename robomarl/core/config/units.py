"""Plausible numbers by the unit that their key's name ends with: a value in another unit is reported
with the right one.

The bounds are wide: they exclude values that no robot team has, and recommend none. `config.build`
checks every number of every file; a class states narrower ranges where it knows them.
"""

import math
from typing import NamedTuple


class Unit(NamedTuple):
    """Largest plausible value of a number, in the unit that the suffix of its key names."""

    high: float
    """The largest absolute value."""
    name: str
    """Name of the unit in errors."""
    others: tuple[tuple[str, float], ...] = ()
    """Units that people give instead, and the value of one of each in this unit."""


_TURN = math.tau + 1e-3
_DEGREES = (("degrees", math.pi / 180),)
_LENGTHS = (("mm", 1e-3), ("cm", 1e-2))
_TIMES = (("ms", 1e-3), ("microseconds", 1e-6))
_SPEEDS = (("km/h", 1 / 3.6), ("mm/s", 1e-3), ("cm/s", 1e-2))
_PERCENT = (("percent", 1e-2),)

UNITS: dict[str, Unit] = {
    "rad": Unit(_TURN, "rad", _DEGREES),
    **dict.fromkeys(("noise_rad", "error_rad"), Unit(0.8, "rad", _DEGREES)),
    "exact_rad": Unit(20.0, "rad", _DEGREES),
    "max_twist_rad": Unit(math.inf, "rad"),  # a large one is none
    "rad_s": Unit(100.0, "rad/s", (("degrees/s", math.pi / 180), ("rounds a minute", math.tau / 60))),
    **dict.fromkeys(("yaw_rate_rad_s", "body_rate_rad_s"), Unit(35.0, "rad/s", (("degrees/s", math.pi / 180),))),
    "speed_rad_s": Unit(5000.0, "rad/s", (("rounds a minute", math.tau / 60),)),
    "m": Unit(2000.0, "m", _LENGTHS),
    "range_m": Unit(1e5, "m", _LENGTHS),
    **dict.fromkeys(("length_m", "width_m", "height_m", "spacing_m"), Unit(500.0, "m", _LENGTHS)),
    **dict.fromkeys(("jitter_m", "separation_m", "clearance_m"), Unit(50.0, "m", _LENGTHS)),
    **dict.fromkeys(("radius_m", "positions_m", "com_m"), Unit(10.0, "m", _LENGTHS)),
    **dict.fromkeys(("track_m", "lever_m", "ahead_m", "face_m"), Unit(10.0, "m", _LENGTHS)),
    **dict.fromkeys(("error_m", "noise_m", "attachment_m"), Unit(3.0, "m", _LENGTHS)),
    **dict.fromkeys(("position_m", "stuck_m"), Unit(50.0, "m", _LENGTHS)),
    "ring_radius_m": Unit(500.0, "m", _LENGTHS),
    "thrust_m": Unit(1.0, "m", _LENGTHS),  # reaction torque over thrust
    "m_s": Unit(80.0, "m/s", _SPEEDS),
    **dict.fromkeys(("noise_m_s", "error_m_s"), Unit(10.0, "m/s", _SPEEDS)),
    "n_m": Unit(math.inf, "N/m"),
    "n_s_m": Unit(math.inf, "N s/m"),
    "n_m_s": Unit(math.inf, "N m s"),
    "m_s2": Unit(200.0, "m/s^2", (("mm/s^2", 1e-3), ("cm/s^2", 1e-2))),
    **dict.fromkeys(("error_m_s2", "bias_m_s2"), Unit(15.0, "m/s^2", (("mm/s^2", 1e-3), ("cm/s^2", 1e-2)))),
    "kg": Unit(1000.0, "kg", (("g", 1e-3),)),
    "kg_m2": Unit(1000.0, "kg m^2", (("g m^2", 1e-3), ("g cm^2", 1e-7), ("kg mm^2", 1e-6))),
    "thrust_n": Unit(2000.0, "N", (("mN", 1e-3), ("gram-force", 9.81e-3))),
    "s": Unit(1e6, "s", _TIMES),
    **dict.fromkeys(("time_limit_s", "rally_s"), Unit(7200.0, "s", _TIMES)),
    **dict.fromkeys(("hold_s", "stuck_s", "gust_time_s", "remembered_s", "step_s", "trim_s"), Unit(300.0, "s", _TIMES)),
    **dict.fromkeys(("delay_s", "latency_s", "constant_s"), Unit(2.0, "s", _TIMES)),
    **dict.fromkeys(("age_s", "after_s", "recharge_s"), Unit(60.0, "s", _TIMES)),
    "hz": Unit(1e5, "Hz", (("mHz", 1e-3),)),
    "per_s": Unit(1e4, "1/s"),
    "share": Unit(1.0, "1", _PERCENT),
    **dict.fromkeys(("scale", "ratio"), Unit(20.0, "1", _PERCENT)),
}
"""Units by the last words of a key; the longest match counts."""


def unit_of(key: str) -> Unit | None:
    """The unit that a key's name ends with; None where it says none."""
    words = key.split("_")
    ends = ("_".join(words[i:]) for i in range(len(words)))
    return next((UNITS[end] for end in ends if end in UNITS), None)


def misfit(key: str, value: float) -> str:
    """Return the problem of a number under this key as the end of a sentence; empty if there is none.

    Args:
        key: last part of the key, as in `yaw_rad`.
        value: a finite number.
    """
    unit = unit_of(key)
    if unit is None or abs(value) <= unit.high:
        return ""
    return f"is no plausible number of {unit.name}: it must be at most {unit.high:.6g}{meant(value, unit)}"


def meant(value: float, unit: Unit) -> str:
    """Return the suggestion for a value that is in another known unit; empty if no known unit fits."""
    found = [f"{value * factor:.6g} for {value:g} {name}" for name, factor in unit.others if _fits(value, factor, unit)]
    return f"; write {' or '.join(found)}" if found else ""


def _fits(value: float, factor: float, unit: Unit) -> bool:
    return abs(value) * factor <= unit.high


def percent(value: float) -> str:
    """Return the suggestion for a fraction from 0 to 1 that was given in percent; empty if it can't be one."""
    return f" ({value / 100:g} for {value:g} percent)" if 1 < value <= 100 else ""
