"""Every check of the preflight: what is right passes, what is wrong is named, what can't be seen is said."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from robomarl.core.geometry import quat_from_yaw
from robomarl.core.goals.rest import vehicle_rest
from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.hardware.vehicle import load_any_vehicle, load_vehicle
from robomarl.ros.io.messages import Estimate
from robomarl.ros.preflight.by_hand import row_of
from robomarl.ros.preflight.checks import CHECKS, rows_of
from robomarl.ros.preflight.price import price_of, price_row
from robomarl.ros.preflight.seen import Needs, OdometrySample, RobotSeen, TeamSeen, needs_of
from robomarl.ros.preflight.team_checks import all_rows
from robomarl.ros.robot.health import OK, WARN, DiagnosticEntry
from robomarl.ros.robot.state_machine import State
from robomarl.ros.robot.team_agreement import Announcement

FLEET = load_fleet("local_4")
NEEDS = needs_of(FLEET)
UP = np.array([1.0, 0.0, 0.0, 0.0])
NOISE = np.random.default_rng(0).uniform(-0.005, 0.005, (150, 3))
NAMES = tuple(NEEDS)


def sound(name: str = "robot_0", **entry: str) -> RobotSeen:
    """A robot of which nothing is wrong."""
    index = NAMES.index(name)
    place = np.array([0.5 * index, -0.5, 0.05])
    still = [Estimate(place + n, UP, n, n) for n in NOISE]
    samples = [OdometrySample(100 + 0.02 * k, 99.99 + 0.02 * k, own) for k, own in enumerate(still)]
    values = {"volts": "3.9", "link_age_s": "0.02", **entry}
    entries = {f"{name}/crazyflie": DiagnosticEntry(f"{name}/crazyflie", OK, "READY: ok", values)}
    said = Announcement(name, "b" * 64, "swap 2", "crazyflie_21", index, State.READY)
    force = [np.array([0.1, 0.0, 9.8])]
    return RobotSeen(name, samples, "", ("/sim",), 1, said, force, None, entries)


def with_odometry(change: Callable[[Estimate], Estimate]) -> Callable[[RobotSeen], None]:
    def apply(seen: RobotSeen) -> None:
        seen.odometry = [s._replace(estimate=change(s.estimate)) for s in seen.odometry]

    return apply


def later(by_s: float) -> Callable[[RobotSeen], None]:
    def apply(seen: RobotSeen) -> None:
        seen.odometry = [s._replace(stamp_s=s.stamp_s - by_s) for s in seen.odometry]

    return apply


def setting(**values: Any) -> Callable[[RobotSeen], None]:
    def apply(seen: RobotSeen) -> None:
        for key, value in values.items():
            setattr(seen, key, value)

    return apply


def announcing(**values: Any) -> Callable[[RobotSeen], None]:
    def apply(seen: RobotSeen) -> None:
        assert seen.announced
        seen.announced = seen.announced._replace(**values)

    return apply


def telling(message: str, **values: str) -> Callable[[RobotSeen], None]:
    def apply(seen: RobotSeen) -> None:
        (name,) = seen.entries
        seen.entries[name] = DiagnosticEntry(name, WARN, message, {**seen.entries[name].values, **values})

    return apply


LYING = np.array([math.sqrt(0.5), math.sqrt(0.5), 0, 0])
FAULTS: list[tuple[str, Callable[[RobotSeen], None], str]] = [
    ("policy", setting(announced=None), "has not announced itself"),
    ("policy", announcing(vehicle="ssl_omni"), "its bundle is for ssl_omni"),
    ("policy", announcing(index=3), "says that its index is 3"),
    ("policy", announcing(state=State.STANDBY, why="no goal"), "STANDBY: no goal"),
    ("odometry", setting(odometry=[], publishers=()), "nobody publishes it"),
    ("odometry", setting(odometry=[], refused="x"), "/sim is silent; refused: x"),
    ("odometry", setting(publishers=("/a", "/b")), "several nodes publish it: /a, /b"),
    ("odometry", lambda seen: seen.odometry.__setitem__(slice(None), seen.odometry[::3]), "comes at 17 Hz"),
    ("odometry", lambda seen: seen.odometry.__delitem__(slice(60, 90)), "stopped for 0.62 s"),
    ("odometry", setting(lost=50), "25 % of the messages are lost"),
    ("frame", setting(refused="header.frame_id is 'odom', not 'map'"), "not 'map'"),
    ("frame", with_odometry(lambda own: own._replace(quat_wxyz=np.array([0, 1.0, 0, 0]))), "upside down: NED"),
    ("frame", with_odometry(lambda own: own._replace(quat_wxyz=LYING)), "tilted by 90 degrees: a frame with y up"),
    ("frame", with_odometry(lambda own: own._replace(vel_m_s=own.vel_m_s * np.nan)), "not finite"),
    ("clock", later(-0.5), "0.490 s ahead"),
    ("clock", later(0.5), "0.510 s old"),
    ("at rest", with_odometry(lambda own: own._replace(vel_m_s=np.array([0.3, 0, 0]))), "says 0.300 m/s at rest"),
    ("at rest", with_odometry(lambda own: own._replace(pos_m=own.pos_m * 20)), "wanders by"),
    (
        "at rest",
        with_odometry(lambda own: Estimate(np.zeros(3), UP, np.zeros(3), np.zeros(3))),
        "not change in any bit",
    ),
    ("estimator", telling("", estimator="firmware"), "errors of the estimator firmware, the fleet file says assumed"),
    (
        "inner loop",
        telling("", needs_inner_loop="torque_inversion", inner_loop="attitude"),
        "flies only above torque_inversion, its adapter commands attitude",
    ),
    ("gravity", setting(force_m_s2=[np.array([0, 0, -9.8])]), "its sign is that of FRD"),
    ("gravity", setting(force_m_s2=[np.array([0, 0, 1.0])]), "units of g"),
    ("gravity", setting(force_m_s2=[np.array([9.8, 0, 0.0])]), "not (0, 0, 9.8)"),
    ("space", with_odometry(lambda own: own._replace(pos_m=np.array([4.0, 0, 0]))), "outside of the scenario's arena"),
    ("space", setting(arena_m=((0.6, -1.0, 0.0), (1.0, 1.0, 2.0))), "outside of the policy node's arena"),
    ("space", with_odometry(lambda own: own._replace(pos_m=own.pos_m * 1000)), "in millimetres"),
    ("hover", telling("", hover_n="0.9"), "weigh it"),
    ("adapter", telling("WAITING: no pose"), "robot_0/crazyflie: WAITING: no pose"),
    ("battery", telling("WAITING: the battery is low", volts="3.0"), "the battery is low"),
    ("link", telling("", link_age_s="0.9"), "heard 0.90 s ago"),
]


def row(seen: RobotSeen, check: str, needs: Needs | None = None):
    rows = {row.check: row for row in rows_of(seen, needs or NEEDS[seen.name])}
    return rows[check]


def test_nothing_is_wrong_with_a_sound_robot():
    rows = rows_of(sound(), NEEDS["robot_0"])
    assert [r.check for r in rows] == list(CHECKS)
    assert not [r for r in rows if r.ok is False]
    assert [r.check for r in rows if r.ok is None] == ["estimator", "inner loop", "hover"]


@pytest.mark.parametrize(("check", "fault", "why"), FAULTS)
def test_every_fault_is_named(check: str, fault: Callable[[RobotSeen], None], why: str):
    seen = sound()
    fault(seen)
    found = row(seen, check)
    assert found.ok is False and why in found.why, found


def test_a_measured_estimator_that_the_node_assumes_too_passes():
    firmware = needs_of(replace(FLEET, estimator="firmware"))["robot_0"]
    assert row(sound(), "estimator", firmware).ok is None
    found = row(sound(estimator="firmware"), "estimator", firmware)
    assert found.ok and found.why == "firmware, errors of up to 0.2 m and 0.52 m/s"


def test_the_price_of_an_estimator_is_told_in_the_distances_of_the_filter():
    firmware = replace(FLEET, estimator="firmware")
    rest = vehicle_rest(firmware.vehicle_config)
    assert price_row(firmware).why.startswith(
        "estimator firmware (errors of up to 0.2 m and 0.52 m/s): goals of two robots must be "
        f"{rest.beside_m:.2f} m beside and {rest.above_m:.2f} m above each other; one robot rests 0.60 m from a wall"
    )
    assert "goals of two robots must be 0.49 m beside and 0.82 m above each other; one robot rests 0.10 m" in (
        price_row(FLEET).why
    )
    assert "0.40 m beside each other; one robot" in price_of(load_any_vehicle("ssl_omni"))


def test_every_check_has_a_fault():
    assert {check for check, *_ in FAULTS} == set(CHECKS)


def test_what_was_not_seen_is_not_said_to_be_right():
    rows = rows_of(RobotSeen("robot_0"), NEEDS["robot_0"])
    assert not [r for r in rows if r.ok]


def test_a_measured_hover_is_compared_with_the_mass():
    vehicle = load_vehicle(FLEET.vehicle)
    found = row(sound(hover_n=f"{vehicle.body.mass_kg * 9.81 * 1.05:.4f}"), "hover")
    assert found.ok is True


def test_a_geofence_that_leaves_the_room_is_named():
    needs = needs_of(FLEET, ((-3.0, -4.0, 0.0), (4.0, 4.0, 3.0)))["robot_0"]
    found = row(sound(), "space", needs)
    assert found.ok is False and "0.50 m on x" in found.why
    assert row(sound(), "space", needs_of(FLEET, ((-4, -4, 0), (4, 4, 3)))["robot_0"]).ok


def team(**change: Any) -> TeamSeen:
    robots = {name: sound(name) for name in NAMES}
    return TeamSeen(robots, **{"monitors": ("/monitor",), "pressed": False, "nodes": {"/monitor": 1}, **change})


def team_row(seen: TeamSeen, check: str):
    return next(r for r in all_rows(seen, NEEDS) if not r.robot and r.check == check)


def test_nothing_is_wrong_with_a_sound_team():
    assert not [r for r in all_rows(team(), NEEDS) if r.ok is False]


@pytest.mark.parametrize(
    ("change", "check", "why"),
    [
        ({"monitors": ()}, "monitor", "start the monitor"),
        ({"monitors": ("/a", "/b")}, "monitor", "several nodes publish the E-stop: /a, /b"),
        ({"pressed": True}, "E-stop", "is pressed"),
        ({"pressed": None}, "E-stop", "nothing is heard"),
        ({"nodes": {"/robot_0/policy_node": 2}}, "names", "two nodes are called /robot_0/policy_node"),
    ],
)
def test_faults_of_the_team_are_named(change: dict, check: str, why: str):
    found = team_row(team(**change), check)
    assert found.ok is False and why in found.why


def test_another_bundle_and_robots_that_stand_too_close_are_named():
    seen = team()
    announcing(bundle_id="c" * 64)(seen.robots["robot_2"])
    with_odometry(lambda own: own._replace(pos_m=np.array([0.5, -0.45, 0.05])))(seen.robots["robot_3"])
    assert "robot_2 has bundle cccccccccccc, the others bbbbbbbbbbbb" in team_row(seen, "bundle").why
    assert "robot_1 and robot_3 are 0.0" in team_row(seen, "apart").why


def by_hand(move: np.ndarray, turn_rad: float, rate_scale: float = 1.0, yaw_rad: float = 3.0) -> list[OdometrySample]:
    """Somebody moves and turns it within two seconds."""
    made = []
    for share in np.linspace(0, 1, 100):
        quat = quat_from_yaw(np.float64(yaw_rad + share * turn_rad))
        omega = np.array([0.0, 0.0, turn_rad / 2 * rate_scale])
        made.append(OdometrySample(2 * share, 2 * share, Estimate(share * move, quat, move / 2, omega)))
    return made


AHEAD = np.array([math.cos(3.0), math.sin(3.0), 0.0])


@pytest.mark.parametrize(
    ("task", "samples", "ok", "why"),
    [
        ("up", by_hand(np.array([0, 0, 0.5]), 0.0), True, "z grew by 0.50 m"),
        ("up", by_hand(np.array([0, 0, -0.5]), 0.0), False, "the frame is NED"),
        ("up", by_hand(np.array([0, 0.5, 0]), 0.0), False, "y changes by 0.50 m when it is lifted: up is not z"),
        ("up", by_hand(np.array([0, 0, 500.0]), 0.0), False, "millimetres"),
        ("up", by_hand(np.zeros(3), 0.0), False, "only"),
        ("left", by_hand(np.zeros(3), 1.5), True, "86 degrees, and its rate says so too"),
        ("left", by_hand(np.zeros(3), -1.5), False, "clockwise"),
        ("left", by_hand(np.zeros(3), 1.5, -1.0), False, "FRD read as FLU"),
        ("left", by_hand(np.zeros(3), 1.5, 57.3), False, "degrees read as radians"),
        ("left", by_hand(np.zeros(3), 0.1), False, "only"),
        ("forward", by_hand(0.5 * AHEAD, 0.0), True, "0.50 m along its nose"),
        ("forward", by_hand(0.5 * np.array([AHEAD[0], -AHEAD[1], 0]) * [1, 4, 1], 0.0), False, "off its nose"),
        ("forward", by_hand(np.zeros(3), 0.0), False, "only"),
        ("forward", [], False, "no odometry came"),
    ],
)
def test_what_somebody_does_by_hand_shows_the_frame(task: str, samples: list, ok: bool, why: str):
    found = row_of("robot_0", task, samples)
    assert found.ok is ok and why in found.why, found
