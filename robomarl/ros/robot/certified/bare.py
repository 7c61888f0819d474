"""Limits of a robot among unlike vehicles: those of its vehicle file, by which its teammates reckon. No ROS here."""

from dataclasses import asdict, replace
from math import isclose

from robomarl.core.config import UserError
from robomarl.core.filter.params import SafetyParams


def bare_limits(flown: SafetyParams, file: SafetyParams, bundle: str, vehicle: str) -> SafetyParams:
    """Return the parameters with limits and bounds of the vehicle file to the last bit.

    Teammates of other vehicles know that file and not the bundle, so a bundle may not be stricter, but for rounding.

    Args:
        flown: parameters of the robot with its bundle.
        file: those of its vehicle file.
        bundle: name of the bundle.
        vehicle: name of the vehicle.

    Raises:
        UserError: the bundle is stricter; names the key and both numbers.
    """
    for part in ("limits", "safety"):
        theirs, ours = (asdict(getattr(params, part)) for params in (flown, file))
        for key, told in ours.items():
            if not _is_same(theirs[key], told):
                raise UserError(
                    f"Bundle {bundle}: {part}.{key} = {theirs[key]} is stricter than {told} of {vehicle}.yaml, and in "
                    "a fleet of unlike vehicles robots know each other's vehicle files alone; write the number of the "
                    "bundle into the file, or name a bundle that was trained for it."
                )
    return replace(flown, limits=file.limits, safety=file.safety)


def rounded(value: object) -> object:
    """Return the value with 9 significant digits of every number, in tuples too: machines round the last ones apart."""
    if isinstance(value, tuple):
        return tuple(map(rounded, value))
    return f"{value:.9g}" if isinstance(value, float) else value


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, float | int) and isinstance(other, float | int):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other
