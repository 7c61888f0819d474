"""A bundle is refused above a low-level control that it was not trained above, in one sentence."""

import dataclasses
from functools import cache

import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.bundle.contract import Contract
from robomarl.core.config import UserError, build, to_dict
from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.hardware.sections import InnerLoop
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.front import cli
from robomarl.lab.export.contract import inner_loop_of
from robomarl.lab.sim.scenario import load_scenario
from robomarl.ros.operator.fleet_plan import ADAPTERS, loop_under, plan_fleet
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.preflight.inner_loop import loop_fault, needed_loop
from robomarl.ros.robot.startup import read
from robomarl.ros.settings import PolicySettings

FLYING = sorted(set(ADAPTERS) - {"base"})
CARRYING = ("lift_3", "lift_4", "lift_6", "lift_3_follow", "recover_3")
REFUSED = "bundle {} flies only above torque inversion from measured rotor speeds"


@cache
def contract_of(name: str) -> Contract:
    return load_bundle(name).contract


@pytest.mark.parametrize("name", CARRYING)
def test_bundles_that_carry_are_refused_by_every_autopilots_adapter(name: str):
    contract = contract_of(name)
    vehicle = load_vehicle(contract.vehicle.name)
    for adapter in FLYING:
        assert loop_fault(contract, loop_under(adapter), vehicle).startswith(REFUSED.format(name))
    for simulated in (loop_under(""), "torque_inversion"):
        assert not loop_fault(contract, simulated, vehicle)


def test_bundles_that_fly_freely_are_not():
    for adapter in [*FLYING, "base", ""]:
        assert not loop_fault(contract_of("swap_4"), loop_under(adapter), load_vehicle("crazyflie_21"))


def test_the_node_and_the_command_refuse_it(capsys: pytest.CaptureFixture[str]):
    settings = PolicySettings(team=("a", "b", "c"), bundle="lift_3", inner_loop="attitude")
    with pytest.raises(UserError, match=REFUSED.format("lift_3")):
        read(settings)
    assert read(dataclasses.replace(settings, inner_loop="")).vehicle.name == "carrier_600"
    assert cli.main(["up", "lift_3", "--vehicles", "px4", "--bundle", "lift_3", "--no-record"]) == 1
    assert f"--vehicles px4: {REFUSED.format('lift_3')}" in capsys.readouterr().err


def test_nodes_of_adapters_know_the_control_under_them():
    fleet = load_fleet("local_4")
    for vehicles, kind in (("px4", "attitude"), ("", "")):
        policy = plan_fleet(fleet, PlanOptions(sim=True, vehicles=vehicles))[0]
        assert policy.parameters.get("inner_loop", "") == kind


def test_the_figures_of_a_contract_are_those_of_its_training():
    loop = inner_loop_of(load_scenario("swap_4"), "attitude")
    assert loop and loop.attitude_rad_s == (160**0.5, 160**0.5), "of 8 and 20 /s in crazyflie_21.yaml"
    assert loop.lag_s == pytest.approx((0.8 * 0.03, 1.3 * 0.03)) and loop.delay_s == (0.0, 0.04)
    assert build(InnerLoop, to_dict(loop), "bundle.json") == loop
    assert inner_loop_of(load_scenario("soccer_2v2"), "") is None


def test_an_older_bundle_has_no_such_key_and_stays_as_it_is():
    contract = contract_of("lift_3")
    assert contract.inner_loop is None and "inner_loop" not in to_dict(contract)
    assert needed_loop(contract) == InnerLoop("torque_inversion")


@pytest.mark.parametrize(
    ("there", "says"),
    [
        ({"attitude_rad_s": (9.0, 19.0)}, "attitude loop of at least 12.6 rad/s, and that of crazyflie_21.yaml has 9"),
        ({"delay_s": (0.01, 0.06)}, "with at most 0.04 s, and crazyflie_21.yaml has 0.06 (inner_loop.delay_s)"),
        ({"lag_s": (0.04, 0.06)}, "with at most 0.039 s, and crazyflie_21.yaml has 0.06 (inner_loop.lag_s)"),
        ({}, ""),
    ],
)
def test_a_loop_that_is_slower_than_all_of_training_is_refused(there: dict[str, tuple[float, float]], says: str):
    trained = inner_loop_of(load_scenario("swap_4"), "attitude")
    contract, vehicle = (
        dataclasses.replace(load_bundle("swap_4").contract, inner_loop=trained),
        load_vehicle("crazyflie_21"),
    )
    assert vehicle.inner_loop
    slower = dataclasses.replace(vehicle, inner_loop=dataclasses.replace(vehicle.inner_loop, **there))
    fault = loop_fault(contract, "attitude", slower)
    assert says in fault and bool(fault) == bool(says)
