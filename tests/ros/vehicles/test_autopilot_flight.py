"""Simulated PX4 vehicles fly through every wire, and every way in which a flight ends badly ends on the ground."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("pymavlink")
pytest.importorskip("mujoco")

from robomarl.vehicles.guard_terms import GuardRules, GuardState
from robomarl.vehicles.guarded import UPSIDE_DOWN
from robomarl_peers.px4.commander import FlightMode
from tests.ros.vehicles.px4rig import Px4Rig, px4s
from tests.ros.vehicles.rig import VEHICLE, Law

LOSS = VEHICLE.on_command_loss
APART_M = 2 * VEHICLE.body.radius_m
EVENTUALLY_S = 8.0
CALIBRATION = "Accel 0 uncalibrated"
REASONS = {"mavlink": CALIBRATION, "px4_dds": "its pre-flight checks fail", "mavros": ""}
"""Why a vehicle does not arm, as far as a wire tells: texts for ground stations are no topic."""


OVER_DDS = (pytest.mark.ros, pytest.mark.slow)


@pytest.fixture(params=["mavlink", *(pytest.param(name, marks=OVER_DDS) for name in ("px4_dds", "mavros"))])
def wire(request: pytest.FixtureRequest) -> str:
    if request.param != "mavlink":
        request.getfixturevalue("foreign_messages")
    return request.param


def modes(rig: Px4Rig) -> list[FlightMode]:
    return [peer.vehicle.commander.mode for peer in rig.team.peers]


def disarmed(rig: Px4Rig) -> bool:
    return not any(peer.vehicle.commander.armed for peer in rig.team.peers)


def down(rig: Px4Rig, law: Law | None = None) -> None:
    """All are on the ground soon, motors off, and nobody touched."""
    assert rig.run(EVENTUALLY_S, law, until=lambda: rig.on_ground and disarmed(rig)), (rig.whys, rig.heights_m)
    assert rig.closest_m > APART_M


def test_they_take_off_hover_and_land_when_commands_stop(wire: str):
    with px4s(wire) as rig:
        law = rig.fly(6.0)
        goals = rig.team.truth().pos_m
        assert np.abs(rig.heights_m - 1.07).max() < 0.1
        rig.run(1.0, law)
        assert np.linalg.norm(rig.team.truth().pos_m - goals, axis=-1).max() < 0.1
        before_s = rig.team.now_s
        assert rig.run(1.0, until=rig.all_in(GuardState.HOLDING)), rig.whys
        assert rig.team.now_s - before_s == pytest.approx(LOSS.hover_after_s, abs=0.06)
        assert rig.run(3.0, until=rig.all_in(GuardState.LANDING)), rig.whys
        assert rig.team.now_s - before_s == pytest.approx(LOSS.land_after_s, abs=0.1)
        assert np.linalg.norm(rig.team.truth().pos_m - goals, axis=-1).max() < 0.15
        down(rig)
        assert rig.run(3.0, until=rig.all_in(GuardState.READY)), rig.whys
        assert [flight.track.problem for flight in rig.flights] == ["", ""]
        rig.fly()  # and again


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("battery", "the battery is low"),
        ("jump", "the pose is lost"),
        ("unseen", "the pose is lost"),
        ("degrees", "rates are in degrees and read as radians"),
    ],
)
def test_a_fault_of_one_lands_that_one(wire: str, fault: str, why: str):
    with px4s(wire) as rig:
        law = rig.fly()
        rig.team.peers[0].faults = {fault}
        spins = lambda i, s: law(i, s) + np.array([0, 0, 0, 0.5])  # noqa: E731
        assert rig.run(6.0, spins, until=lambda: rig.states[0] is GuardState.LANDING), rig.whys
        assert why in rig.whys[0][1]
        rig.run(EVENTUALLY_S, law, until=lambda: rig.states[0] is GuardState.LANDED)
        assert rig.heights_m[0] < 0.12, rig.whys
        assert rig.states[1] is GuardState.FLYING and rig.heights_m[1] > 0.8
        assert rig.closest_m > APART_M


@pytest.mark.slow
def test_a_reset_in_flight_holds_and_flies_on_and_does_not_move_the_vehicle(wire: str):
    if wire == "mavros":
        pytest.skip("MAVROS does not tell reset counters: a jump of the estimate is one")
    with px4s(wire) as rig:
        law = rig.fly(6.0)
        before, goal = rig.team.truth().pos_m[0], rig.flights[0].own.estimate.pos_m.copy()  # type: ignore[union-attr]
        rig.team.peers[0].faults.add("reset")
        rig.run(0.1, law)
        assert rig.whys[0] == ("HOLDING", "the estimate was reset")
        moved = rig.flights[0].own.estimate.pos_m - goal  # type: ignore[union-attr]
        assert np.linalg.norm(moved) == pytest.approx(0.3, abs=0.1)
        rig.run(0.3, law)
        assert np.linalg.norm(rig.team.truth().pos_m[0] - before) < 0.1
        rig.run(0.4, law)
        assert rig.states == [GuardState.FLYING] * 2, rig.whys


@pytest.mark.slow
def test_the_estop_lands_all(wire: str):
    with px4s(wire) as rig:
        law = rig.fly()
        rig.pressed = True
        rig.run(0.1, law)
        assert rig.states == [GuardState.LANDING] * 2 and modes(rig) == [FlightMode.LAND] * 2
        down(rig, law)


@pytest.mark.slow
def test_the_estop_kills_where_it_is_to(wire: str):
    with px4s(wire, rules=GuardRules(LOSS, on_estop="kill", arm_s=6.0)) as rig:
        law = rig.fly()
        rig.pressed = True
        rig.run(0.06, law)
        assert rig.states == [GuardState.KILLED] * 2 and disarmed(rig)
        down(rig, law)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["radio", "adapter"])
def test_without_set_points_px4_holds_then_lands(wire: str, how: str):
    with px4s(wire) as rig:
        law = rig.fly()
        rig.adapters_run = how == "radio"
        for peer in rig.team.peers:
            peer.faults = {"radio"} if how == "radio" else set()
        before_s = rig.team.now_s
        assert rig.run(3.0, law, until=lambda: modes(rig) == [FlightMode.LOITER] * 2)
        assert rig.team.now_s - before_s == pytest.approx(0.5, abs=0.06)
        assert rig.run(3.0, law, until=lambda: modes(rig) == [FlightMode.LAND] * 2)
        assert rig.team.now_s - before_s < LOSS.land_after_s
        down(rig, law)


@pytest.mark.slow
def test_a_pilot_is_left_alone_but_not_by_the_estop(wire: str):
    with px4s(wire) as rig:
        law = rig.fly()
        rig.team.peers[0].faults.add("pilot")
        rig.run(3.0, law)
        assert rig.whys[0] == ("RELEASED", "the vehicle is in POSCTL: somebody else flies it")
        assert modes(rig) == [FlightMode.POSCTL, FlightMode.OFFBOARD] and rig.states[1] is GuardState.FLYING
        rig.pressed = True
        down(rig, law)


@pytest.mark.slow
def test_firmware_that_refuses_to_arm_stays_down_and_says_why(wire: str):
    with px4s(wire) as rig:
        rig.connect()
        rig.team.peers[0].faults = {"refuses"}
        rig.run(7.0, lambda index, sample: np.array([0.0, 0.0, 1.0, 0.0]))
        state, why = rig.whys[0]
        assert state == "LANDED" and why.startswith("the vehicle refuses to arm: arming was temporarily rejected")
        assert REASONS[wire] in why
        assert rig.highest_m[0] < 0.09 < rig.highest_m[1]


@pytest.mark.slow
def test_a_vehicle_whose_z_points_down_is_not_handed_over(wire: str):
    """It has no accelerometer to tell, and nobody turned it by hand."""
    with px4s(wire) as rig:
        for peer in rig.team.peers:
            peer.faults = {"enu"}
            there: Any = getattr(peer.wire, "server", peer.wire)
            there.senses = False
        rig.connect()
        law: Law = lambda index, sample: np.array([0.0, 0.0, 1.0, 0.0])  # noqa: E731
        assert rig.run(8.0, law, until=rig.all_in(GuardState.LANDING, GuardState.LANDED)), rig.whys
        assert {why for _, why in rig.whys} == {UPSIDE_DOWN}
        down(rig, law)
