"""Plausibility of bodies: a key in another unit than its neighbours shows when they are combined."""

import math

from robomarl.core.config import UserError
from robomarl.core.hardware.ground import GroundBodyConfig, KickerConfig, OmniRobot
from robomarl.core.hardware.proportions import check_proportions
from robomarl.core.hardware.sections import BodyConfig, LimitConfig, VehicleBase

LEAST_KG_M3, MOST_KG_M3 = 0.5, 12000.0
"""Densities of bodies: a balloon has more than the first, and nothing that is built of metal more than the second."""


def check_vehicle(vehicle: VehicleBase, body: BodyConfig | GroundBodyConfig, file: str) -> None:
    """Check the keys of a vehicle file against each other.

    Raises:
        UserError: the body can't be, limits leave no acceleration, two vehicles would touch at their separation, or a
            number is out of proportion.
    """
    try:
        _check_separation(body.radius_m, vehicle.safety.separation_m)
        _check_limits(vehicle.limits)
        height = body.height_m if isinstance(body, GroundBodyConfig) else None
        if height:
            _check_height(height, body.radius_m)
        check_density(body.mass_kg, volume_m3(body.radius_m, height), f"body.radius_m = {body.radius_m:g} m", "body.")
        if isinstance(body, BodyConfig):
            check_inertia(body.inertia_kg_m2, body.mass_kg, body.radius_m, "body.")
        if isinstance(vehicle, OmniRobot) and vehicle.kicker:
            _check_kicker(vehicle.kicker, body.radius_m)
        check_proportions(vehicle, body)
    except ValueError as error:
        raise UserError(f"{file}: {error}") from None


def volume_m3(radius_m: float, height_m: float | None = None) -> float:
    """Return the volume of a sphere, or of a cylinder with this height."""
    return math.pi * radius_m**2 * (height_m or 4 / 3 * radius_m)


def check_density(mass_kg: float, volume: float, size: str, where: str = "") -> None:
    """Raise `ValueError` if a mass does not go with a volume [m^3]; `size` is the text of the keys that
    the volume comes from."""
    density = mass_kg / volume
    if not LEAST_KG_M3 <= density <= MOST_KG_M3:
        kind = "denser" if density > MOST_KG_M3 else "lighter"
        raise ValueError(
            f"{where}mass_kg = {mass_kg:g} kg in {size} is {kind} than any body ({density:.3g} kg/m^3); give masses in "
            "kg and lengths in m."
        )


def check_inertia(inertia_kg_m2: tuple[float, ...], mass_kg: float, reach_m: float, where: str = "") -> None:
    """Raises `ValueError` where moments of inertia are more than a mass [kg] within this reach [m] can have."""
    most = mass_kg * reach_m**2
    for i, moment in enumerate(inertia_kg_m2):
        if not 1e-4 * most <= moment <= most:
            raise ValueError(
                f"{where}inertia_kg_m2[{i}] = {moment:g} can't be that of {mass_kg:g} kg within {reach_m:.3g} m: "
                f"it must be from {1e-4 * most:.3g} to {most:.3g}."
            )


def _check_height(height_m: float, radius_m: float) -> None:
    if height_m > 40 * radius_m:
        raise ValueError(
            f"body.height_m = {height_m:g} m over body.radius_m = {radius_m:g} m is a mast; give both in m."
        )


def _check_separation(radius_m: float, kept_m: float) -> None:
    """Check that two bodies do not touch with their centres as near as the filter allows."""
    if kept_m < 2 * radius_m:
        raise ValueError(
            f"safety.separation_m = {kept_m:g} m is less than two vehicles of body.radius_m = "
            f"{radius_m:g} m need; it must be at least {2 * radius_m:g} m."
        )


def _check_limits(limits: LimitConfig) -> None:
    for i, (low, high) in enumerate(zip(limits.accel_min_m_s2, limits.accel_max_m_s2, strict=True)):
        if low > 0 or high < 0 or (i < 2 and not low < 0 < high):
            raise ValueError(
                f"limits: accel_min_m_s2[{i}] = {low:g} must be below 0 and accel_max_m_s2[{i}] = {high:g} above it: "
                "a vehicle brakes both ways."
            )


def _check_kicker(kicker: KickerConfig, radius_m: float) -> None:
    for name, most in (("width_m", 2 * radius_m), ("reach_m", radius_m)):
        if (said := getattr(kicker, name)) > most:
            raise ValueError(
                f"kicker.{name} = {said:g} m must be at most {most:g} m, with body.radius_m = {radius_m:g}."
            )
