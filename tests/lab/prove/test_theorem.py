"""The inequalities of the certificate: proved for every vehicle that ships, and a hole is found."""

import dataclasses

import pytest

from robomarl.core.certificate.figures import CLOCK_OFFSET_S, figures_of
from robomarl.core.certificate.reach import ON_AIR_S, RadioReach, check_reach, least_range_m, least_within_s
from robomarl.core.certificate.tether import Tether
from robomarl.core.config import UserError
from robomarl.core.filter.model.bodies import Obstacle, Strangers
from robomarl.core.filter.params import Arena, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.lab.prove.pairs import beside, check_fleet, fleet_of, radio_claims
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


FLEETS = (("crazyflie_21", "carrier_600"), ("ssl_omni", "turtlebot3_burger", "gritsbot"))


def fleet(*names: str, hz: tuple[float, ...] = (50, 50, 50)) -> dict[str, Given]:
    """The figures of robots of unlike vehicles."""
    found = {name: load_any_vehicle(name) for name in names}
    return fleet_of(
        {name: (from_vehicle(v, 1 / rate), v.body.radius_m) for (name, v), rate in zip(found.items(), hz, strict=False)}
    )


@pytest.mark.parametrize("names", FLEETS)
def test_it_is_proved_for_fleets_of_unlike_vehicles(names: tuple[str, ...]):
    claims = check_fleet(fleet(*names))
    count = len(names) * (len(names) - 1)
    assert [claim.name for claim in claims].count("distance of unlike robots") == count
    assert all(claim.slack >= -1e-9 for claim in claims)


def test_a_fleet_of_one_vehicle_has_the_figures_of_that_vehicle():
    one = load_any_vehicle("carrier_600")
    assert fleet("carrier_600")["carrier_600"].figures == figures_of(from_vehicle(one, 0.02), one.body.radius_m)


def test_unlike_robots_have_one_metric_one_brake_and_one_time_at_which_anchors_change():
    small, large = (given.figures for given in fleet("crazyflie_21", "carrier_600").values())
    assert small.squash == large.squash == (1, 1, 0.5) and small.bend_m == large.bend_m
    omni, slow = (given.figures for given in fleet("ssl_omni", "turtlebot3_burger").values())
    assert slow.lead_s - omni.lead_s == pytest.approx(0.03) and (omni.held_back, slow.held_back) == (0, 2)


UNLIKE_HOLES = {
    "common metric along z": {"squash": (1.0, 1.0, 1 / 1.5)},
    "common period": {"period_s": 0.01},
    "common time to stop": {"stop_s": 1.0},
    "distance of unlike robots": {"learned": -0.01},
    "bend beside an unlike robot": {"bend_m": 3.0e-3},
    "handover of anchors": {"held_s": -0.001},
}


@pytest.mark.parametrize("name", UNLIKE_HOLES)
def test_a_term_that_is_left_out_beside_an_unlike_robot_is_found(name: str):
    """Each hole by its own claim."""
    names = ("turtlebot3_burger", "ssl_omni") if name == "handover of anchors" else ("carrier_600", "crazyflie_21")
    one, mate = fleet(*names).values()
    hole = dict(UNLIKE_HOLES[name])
    if "learned" in hole:
        hole["learned"] = dataclasses.replace(one.figures.learned, room_m=one.figures.learned.room_m - 0.01)
    if "held_s" in hole:
        hole["held_s"] += one.figures.held_s
    broken = one._replace(figures=dataclasses.replace(one.figures, **hole))
    assert not [claim for claim in beside(one, mate) if not claim.holds]
    assert [claim.name for claim in beside(broken, mate) if not claim.holds] == [name]
    with pytest.raises(UserError, match="fails by"):
        check_fleet({names[0]: broken, names[1]: mate})


def test_a_metric_narrower_than_a_vehicle_needs_is_found():
    one, mate = fleet("crazyflie_21", "carrier_600").values()
    assert one.common is not None
    narrow = one.common._replace(downwash_ratio=1.5)
    broken = one._replace(common=narrow, figures=figures_of(one.params, one.radius_m, narrow))
    assert [claim.name for claim in claims_of(broken) if not claim.holds] == ["downwash ratio"]
    assert mate.common == one.common


REACH_HOLES = (
    lambda f: f.unlearned.room_m,
    lambda f: f.beside_m,
    lambda f: f.speed_m_s * 0.5,
    lambda f: f.speed_m_s * CLOCK_OFFSET_S,
    lambda f: f.speed_m_s * f.lead_s,
    lambda f: f.speed_m_s * f.stop_s / 2,
    lambda f: f.speed_m_s * f.period_s,
)


@pytest.mark.parametrize("vehicle", ["crazyflie_21", "ssl_omni"])
def test_a_range_of_the_radio_that_leaves_a_term_out_is_found(vehicle: str):
    one = given(vehicle)
    least = least_range_m(one.figures, one.figures, 0.5)
    enough = one._replace(reach=RadioReach(least, 0.5))
    assert [claim.holds for claim in radio_claims(enough, enough)] == [True, True]
    for term in REACH_HOLES:
        short = one._replace(reach=RadioReach(least - term(one.figures), 0.5))
        assert [claim.holds for claim in radio_claims(short, short)] == [True, False]
    with pytest.raises(UserError, match=rf"need {least:.2f} m until they rest apart"):
        check_reach(RadioReach(least - 0.01, 0.5), [one.figures])


@pytest.mark.parametrize("hole_s", [0.1, ON_AIR_S, CLOCK_OFFSET_S, 0.02])
def test_a_silence_in_which_too_few_messages_come_is_found(hole_s: float):
    """Ten messages a second, of which two may be lost."""
    one = given("crazyflie_21")
    within_s = least_within_s(one.figures, 0.1)
    assert within_s == pytest.approx(3 * 0.1 + ON_AIR_S + CLOCK_OFFSET_S + 0.02)
    enough, short = (one._replace(reach=RadioReach(20.0, within_s - hole, 0.1)) for hole in (0.0, hole_s))
    assert [claim.holds for claim in radio_claims(enough, enough)] == [True, True]
    assert [claim.name for claim in radio_claims(short, short) if not claim.holds] == ["radio messages"]
    with pytest.raises(UserError, match=r"a message comes every 0.1 s, and 3 of them need 0.362 s to arrive"):
        check_reach(RadioReach(20.0, within_s - hole_s, 0.1), [one.figures])


def test_words_that_are_held_back_make_the_range_longer():
    slow, fast = fleet("turtlebot3_burger", "ssl_omni").values()
    least = least_range_m(slow.figures, fast.figures, 0.5)
    held = (slow.figures.speed_m_s + fast.figures.speed_m_s) * (slow.figures.held_s + 0.02)
    both = (one._replace(reach=RadioReach(least - 0.5 * held, 0.5)) for one in (slow, fast))
    assert held > 0 and [claim.name for claim in beside(*both) if not claim.holds] == ["radio range"]


def test_robots_that_fly_and_robots_that_drive_are_no_fleet():
    with pytest.raises(UserError, match="all drive"):
        fleet("crazyflie_21", "ssl_omni")
    with pytest.raises(UserError, match="50 and 25 times a second"):
        fleet("crazyflie_21", "carrier_600", hz=(50, 25))


def carriers(**changes: object) -> Given:
    """The figures of carriers under a load, with changes of their tether and of the figures themselves."""
    vehicle = load_any_vehicle("carrier_600")
    params = from_vehicle(vehicle, 0.01, Arena((-5, -5, 0.1), (5, 5, 5)))
    figures = figures_of(params, vehicle.body.radius_m, tether=Tether(1.5, 0.5, 0.25, 0.55, 2.2))
    tether = dataclasses.replace(figures.tether, **changes) if figures.tether else None
    return Given(params, vehicle.body.radius_m, dataclasses.replace(figures, tether=tether))


def test_it_is_proved_for_carriers():
    claims = check_theorem(carriers(), "carrier_600")
    assert {"tether lemma", "tether", "reference of a carrier along z"} <= {claim.name for claim in claims}
    assert not any("tether" in claim.name for claim in claims_of(given("carrier_600")))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"apart_m": 0.6}, "tether"),
        ({"accel_m_s2": 0.2}, "reference of a carrier along x"),
        ({"speed_m_s": 0.5}, "speed of a carrier's reference"),
        ({"stop_s": 2.0}, "time to stop of a carrier"),
    ],
)
def test_a_hole_in_the_tether_is_found(changes: dict[str, float], name: str):
    broken = carriers(**changes)
    assert name in {claim.name for claim in claims_of(broken) if not claim.holds}
    with pytest.raises(UserError, match="fails by"):
        check_theorem(broken, "carrier_600")


def test_courses_that_bend_more_than_the_tether_reckons_with_are_found():
    whole = carriers()
    broken = whole._replace(figures=dataclasses.replace(whole.figures, bend_m=whole.figures.bend_m / 3))
    assert "bend under a tether" in {claim.name for claim in claims_of(broken) if not claim.holds}
