"""The inequalities of the certificate: proved for every vehicle that ships, and a hole is found."""

import dataclasses

import pytest

from robomarl.core.certificate.figures import figures_of
from robomarl.core.config import UserError
from robomarl.core.filter.model.bodies import Obstacle, Strangers
from robomarl.core.filter.params import Arena, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.lab.prove.theorem import Given, check_theorem, claims_of

VEHICLES = ("crazyflie_21", "carrier_600", "ssl_omni", "turtlebot3_burger", "gritsbot")


OBSTACLES = (Obstacle("sphere", (1.0, 0.0, 1.0), radius_m=0.2),)


STRANGERS = Strangers(0.2, 2.0, 1.0, 0.03, 0.1, 0.5)


def given(name: str, obstacles: tuple[Obstacle, ...] = (), strangers: Strangers | None = None) -> Given:
    """The figures of a vehicle in a room."""
    vehicle = load_any_vehicle(name)
    params = from_vehicle(vehicle, 0.02, Arena((-3, -3, 0.1), (3, 3, 2.4)))
    params = dataclasses.replace(params, obstacles=obstacles, strangers=strangers)
    return Given(params, vehicle.body.radius_m, figures_of(params, vehicle.body.radius_m))


@pytest.mark.parametrize("name", VEHICLES)
def test_it_is_proved_for_what_ships(name: str):
    claims = check_theorem(given(name, strangers=STRANGERS), name)
    assert {"pair lemma", "distance", "span", "strangers"} <= {claim.name for claim in claims}
    assert all(claim.slack >= -1e-9 for claim in claims)


def without(found: Given, name: str) -> Given:
    """The figures with one term of the derivation left out."""
    f, tube = found.figures, found.figures.learned
    small = dataclasses.replace(tube, half_m=(0.05, *tube.half_m[1:]))
    holes = {
        "distance": {"learned": dataclasses.replace(tube, room_m=tube.room_m - 0.01)},
        "tube (distance)": {"learned": dataclasses.replace(tube, radius_m=tube.radius_m - 0.005)},
        "learned box along x": {"learned": small},
        "unlearned box along z": {"unlearned": tube},
        "learned box along y": {"smooth_count": f.smooth_count // 4},  # the reference swings four times as fast
        "bend of braking courses": {"bend_m": f.bend_m / 2},
        "span": {"stop_s": f.stop_s, "period_s": f.period_s - 0.01},
        "input box along z": {"accel_m_s2": (1.3, 1.3, 0.5)},
        "arena along x": {"low_m": (f.low_m[0] - 0.05, *f.low_m[1:])},
        "metric of the downwash": {"squash": (1.0, 1.0, 0.1)},
        "lead": {"lead_s": 0.0},
        "prediction": {"ahead_s": 0.0},
        "tracker's horizon": {"tracker": f.tracker._replace(horizon_s=0.0)},
        "obstacles": {
            "front": dataclasses.replace(f.front, safety=dataclasses.replace(f.front.safety, clearance_m=0.1))
        },
        "strangers": {"stranger_m": f.stranger_m - 0.03},
        "rest before strangers": {"settles_s": f.settles_s - f.period_s},
        "strangers' speed": {"front": dataclasses.replace(f.front, strangers=SLOW)},
    }
    return found._replace(figures=dataclasses.replace(f, **holes[name]))


SLOW = dataclasses.replace(STRANGERS, speed_m_s=0.9)
HOLES = (
    "distance",
    "tube (distance)",
    "learned box along x",
    "unlearned box along z",
    "learned box along y",
    "bend of braking courses",
    "input box along z",
    "arena along x",
    "metric of the downwash",
    "lead",
    "prediction",
    "tracker's horizon",
    "obstacles",
    "strangers",
    "rest before strangers",
    "strangers' speed",
)


@pytest.mark.parametrize("name", HOLES)
def test_a_term_that_is_left_out_is_found(name: str):
    """Each hole by its own claim."""
    broken = without(given("crazyflie_21", OBSTACLES, STRANGERS), name)
    assert name in {claim.name for claim in claims_of(broken) if not claim.holds}
    with pytest.raises(UserError, match="fails by"):
        check_theorem(broken, "crazyflie_21")


@pytest.mark.parametrize("key", ["delay_s", "velocity_error_m_s", "downwash_ratio", "accel_error_m_s2"])
def test_figures_of_another_file_are_found(key: str):
    """A robot whose vehicle file was changed after its figures were worked out."""
    whole = given("crazyflie_21")
    more = {key: 1.2 * getattr(whole.params.safety, key), "brake_m_s2": 1.5}
    safety = dataclasses.replace(whole.params.safety, **more)
    changed = whole._replace(params=dataclasses.replace(whole.params, safety=safety))
    assert any(not claim.holds for claim in claims_of(changed))
