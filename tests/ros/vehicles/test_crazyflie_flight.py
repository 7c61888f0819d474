"""Simulated Crazyflies fly through cflib and behind Crazyswarm2; however a flight ends badly, it ends on the ground."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cflib")
pytest.importorskip("mujoco")

from robomarl.vehicles.guard_terms import GuardRules, GuardState
from robomarl_peers.crazyflie.supervisor import Super
from tests.ros.vehicles.crazyrig import crazyflies, swarm
from tests.ros.vehicles.rig import RULES, VEHICLE

LOSS = VEHICLE.on_command_loss
APART_M = 2 * VEHICLE.body.radius_m
Fleet = Callable[..., AbstractContextManager[Any]]


@pytest.fixture(params=["cflib", pytest.param("crazyswarm", marks=(pytest.mark.ros, pytest.mark.slow))])
def fleet(request: pytest.FixtureRequest) -> Fleet:
    if request.param == "cflib":
        return crazyflies
    request.getfixturevalue("foreign_messages")
    return swarm


def test_they_take_off_hover_and_land_when_commands_stop(fleet: Fleet):
    with fleet() as rig:
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
        held = rig.team.truth().pos_m
        assert np.linalg.norm(held - goals, axis=-1).max() < 0.15
        assert rig.run(8.0, until=rig.all_in(GuardState.WAITING, GuardState.READY)), rig.whys
        assert rig.on_ground and rig.closest_m > APART_M
        assert all(peer.firmware.supervisor.state is not Super.LOCKED for peer in rig.team.peers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "why"), [("battery", "the battery is low"), ("jump", "the pose is lost"), ("unseen", "the pose is lost")]
)
def test_a_fault_of_one_lands_that_one(fleet: Fleet, fault: str, why: str):
    with fleet() as rig:
        law = rig.fly()
        rig.team.peers[0].faults = {fault}
        assert rig.run(3.0, law, until=lambda: rig.states[0] is GuardState.LANDING), rig.whys
        assert rig.whys[0][1] == why
        rig.run(6.0, law, until=lambda: rig.states[0] is GuardState.LANDED)
        assert rig.heights_m[0] < 0.12, rig.whys
        assert rig.states[1] is GuardState.FLYING and rig.heights_m[1] > 0.8
        assert rig.closest_m > APART_M


@pytest.mark.slow
def test_the_estop_lands_all(fleet: Fleet):
    with fleet() as rig:
        law = rig.fly()
        rig.pressed = True
        rig.run(0.1, law)
        assert rig.states == [GuardState.LANDING] * 2
        rig.run(8.0, law, until=lambda: rig.on_ground)
        assert rig.on_ground and rig.closest_m > APART_M


@pytest.mark.slow
def test_the_estop_kills_where_it_is_to(fleet: Fleet):
    with fleet(rules=GuardRules(LOSS, on_estop="kill")) as rig:
        law = rig.fly()
        rig.pressed = True
        assert rig.run(3.0, law, until=lambda: rig.on_ground)
        assert rig.states == [GuardState.KILLED] * 2
        assert all(peer.firmware.supervisor.state is Super.LOCKED for peer in rig.team.peers)


@pytest.mark.slow
@pytest.mark.parametrize(("watchdog", "limit_s"), [(True, 1.3), (False, 2.1)])
def test_without_a_radio_the_firmware_levels_and_stops(watchdog: bool, limit_s: float):
    with crazyflies(watchdog=watchdog) as rig:
        law = rig.fly()
        for peer in rig.team.peers:
            peer.faults = {"radio"}
        before_s = rig.team.now_s
        locked = lambda: all(peer.firmware.supervisor.state is Super.LOCKED for peer in rig.team.peers)  # noqa: E731
        assert rig.run(4.0, law, until=locked)
        assert rig.team.now_s - before_s < limit_s
        assert rig.run(3.0, law, until=lambda: rig.on_ground) and rig.closest_m > APART_M
        assert rig.states[0] in (GuardState.LANDING, GuardState.LANDED), rig.whys


@pytest.mark.slow
def test_without_its_adapter_a_vehicle_is_on_the_ground_soon(fleet: Fleet):
    with fleet() as rig:
        rig.fly()
        rig.adapters_run = False
        assert rig.run(4.0, until=lambda: rig.on_ground) and rig.closest_m > APART_M


@pytest.mark.slow
def test_a_vehicle_that_refuses_to_arm_stays_down(fleet: Fleet):
    with fleet(auto_arm=False) as rig:
        rig.connect()
        rig.team.peers[0].faults = {"refuses"}
        law = lambda index, sample: np.array([0.0, 0.0, 1.0, 0.0])  # noqa: E731
        rig.run(RULES.arm_s + 0.3, law)
        assert rig.whys[0] == ("LANDED", "the vehicle refuses to arm")
        assert rig.highest_m[0] < 0.09 < rig.highest_m[1]


@pytest.mark.slow
@pytest.mark.ros
def test_without_its_radio_a_vehicle_of_a_server_levels_and_stops(foreign_messages: object):
    """The emergency watchdog is no service of Crazyswarm2."""
    with swarm() as rig:
        law = rig.fly()
        for peer in rig.team.peers:
            peer.faults = {"radio"}
        before_s = rig.team.now_s
        locked = lambda: all(peer.firmware.supervisor.state is Super.LOCKED for peer in rig.team.peers)  # noqa: E731
        assert rig.run(4.0, law, until=locked)
        assert rig.team.now_s - before_s < 2.1
        assert rig.run(3.0, law, until=lambda: rig.on_ground) and rig.closest_m > APART_M


@pytest.mark.slow
def test_attitudes_fly_too():
    with crazyflies(mode="attitude") as rig:
        rig.connect()
        goals = rig.team.truth().pos_m + np.array([0.0, 0.0, 1.0])
        assert rig.run(0.0) is False
        rig.run(5.0, lambda i, s: _stiff(goals[i], s))
        assert rig.states == [GuardState.FLYING] * 2, rig.whys
        assert np.abs(rig.heights_m - 1.07).max() < 0.4, "mass and thrust are off, and nobody integrates"


def _stiff(goal_m: np.ndarray, sample: object) -> np.ndarray:
    own = sample.estimate  # type: ignore[attr-defined]
    return np.array([*(3.0 * np.clip(goal_m - own.pos_m, -0.6, 0.6) - 2.5 * own.vel_m_s), 0.0])
