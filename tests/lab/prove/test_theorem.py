"""The inequalities of the certificate: proved for every vehicle that ships, and a hole is found."""

import dataclasses

import pytest

from robomarl.core.certificate.figures import figures_of
from robomarl.core.config import UserError
from robomarl.core.filter.params import Arena, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.lab.prove.theorem import Given, check_theorem, claims_of

VEHICLES = ("crazyflie_21", "carrier_600", "ssl_omni", "turtlebot3_burger", "gritsbot")


def given(name: str) -> Given:
    """The figures of a vehicle in a room."""
    vehicle = load_any_vehicle(name)
    params = from_vehicle(vehicle, 0.02, Arena((-3, -3, 0.1), (3, 3, 2.4)))
    return Given(params, vehicle.body.radius_m, figures_of(params, vehicle.body.radius_m))


@pytest.mark.parametrize("name", VEHICLES)
def test_it_is_proved_for_what_ships(name: str):
    claims = check_theorem(given(name), name)
    assert {"pair lemma", "distance", "span"} <= {claim.name for claim in claims}
    assert all(claim.slack >= -1e-9 for claim in claims)


def without(found: Given, name: str) -> Given:
    """The figures with one term of the derivation left out."""
    f = found.figures
    tube = f.learned
    holes = {
        "distance": {"learned": dataclasses.replace(tube, room_m=tube.room_m - 0.01)},
        "tube (distance)": {"learned": dataclasses.replace(tube, radius_m=tube.radius_m - 0.005, room_m=tube.room_m)},
        "bend of braking courses": {"bend_m": f.bend_m / 2},
        "span": {"stop_s": f.span_s},
        "input box along z": {"accel_m_s2": (1.3, 1.3, 0.5)},
        "arena along x": {"low_m": (f.low_m[0] - 0.05, *f.low_m[1:])},
    }
    return found._replace(figures=dataclasses.replace(f, **holes[name]))


@pytest.mark.parametrize(
    "name", ["distance", "tube (distance)", "bend of braking courses", "input box along z", "arena along x"]
)
def test_a_term_that_is_left_out_is_found(name: str):
    whole = given("crazyflie_21")
    broken = without(whole, name)
    failed = [claim for claim in claims_of(broken) if not claim.holds]
    assert name in {claim.name for claim in failed}
    with pytest.raises(UserError, match="fails by"):
        check_theorem(broken, "crazyflie_21")
