"""A fleet that flies the certificate has it proved before a bundle is put on its robots."""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

pytest.importorskip("z3")

from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.core.bundle.provenance import Source, sha256_of
from robomarl.core.config import UserError
from robomarl.core.config.parsed import table_in
from robomarl.core.filter.params import Arena
from robomarl.core.hardware.fleet import Fleet, load_fleet
from robomarl.core.paths import bundles_dir
from robomarl.fleet.flash import check_fit
from robomarl.fleet.report import Report
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.front.cli.certified import prove_fleet, rates_beside
from robomarl.front.cli.fleet import check_rollback, report
from robomarl.lab.prove import pairs, theorem
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.preflight.price import price_row
from robomarl.ros.preflight.seen import needs_of

FLEET = replace(load_fleet("local_4"), filter="certificate")


def test_inequalities_are_proved_over_the_vehicle_file():
    bundle = load_bundle(bundles_dir() / "swap_4")
    assert prove_fleet(FLEET, bundle) > 30
    assert prove_fleet(replace(FLEET, filter="qp"), bundle) == 0


def test_a_fleet_for_which_one_fails_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch):
    bundle = load_bundle(bundles_dir() / "swap_4")
    monkeypatch.setattr(theorem, "CLOCK_OFFSET_S", 0.02)  # clocks that are off by more than the figures allow for
    with pytest.raises(UserError, match=r"crazyflie_21.yaml: the certificate's distance fails by 0\.0"):
        prove_fleet(FLEET, bundle)


def test_a_fleet_that_drives_has_its_inequalities_proved_too():
    drives = replace(load_fleet("navigation_3"), filter="certificate")
    assert prove_fleet(drives, load_bundle(bundles_dir() / "navigation")) > 30


def test_opponents_are_among_the_inequalities_of_players(monkeypatch: pytest.MonkeyPatch):
    players, bundle = replace(load_fleet("soccer_2v2"), filter="certificate"), load_bundle(bundles_dir() / "soccer_2v2")
    assert prove_fleet(players, bundle) > 30
    monkeypatch.setattr(theorem, "TUBE_SHARE", 2.0)
    monkeypatch.setattr(theorem, "PARTS", (theorem._strangers,))
    with pytest.raises(
        UserError, match=r"ssl_omni.yaml: the certificate's strangers fails by 0\.0.*place of who saw it"
    ):
        prove_fleet(players, bundle)


def mixed() -> Fleet:
    """A fleet whose last robot is a carrier."""
    robots = [replace(robot, vehicle="carrier_600" if robot.index == 3 else "") for robot in FLEET.robots]
    return replace(FLEET, robots=tuple(robots), estimator="")


def test_unlike_vehicles_have_the_inequalities_of_each_pair_proved(monkeypatch: pytest.MonkeyPatch):
    bundle = load_bundle(bundles_dir() / "swap_4")
    assert prove_fleet(mixed(), bundle) > 2 * prove_fleet(FLEET, bundle)
    monkeypatch.setattr(pairs, "CLOCK_OFFSET_S", 0.02)
    with pytest.raises(
        UserError,
        match=r"beside carrier_600.yaml: the certificate's distance of unlike robots fails",
    ):
        prove_fleet(mixed(), bundle)


def test_bundles_of_unlike_vehicles_decide_at_one_rate(tmp_path: Path):
    """The carrier's robot has none yet; then one of the same rate; then the others would get one of half of it."""
    fleet, bundle = mixed(), load_bundle(bundles_dir() / "swap_4")
    assert rates_beside(FLEET, bundle, tmp_path) == []
    assert rates_beside(fleet, bundle, tmp_path) == [
        f"the bundle of {fleet.own[3].name} is not known here; proved for 50 decisions a second of all."
    ]
    store = Store(tmp_path / fleet.own[3].folder)
    with store.lock():
        store.add(bundle.id, bundle.files)
        store.switch(InstalledBundles(bundle.id, None))
    assert rates_beside(fleet, bundle, tmp_path) == []
    slow = copy(bundle.contract)
    object.__setattr__(slow, "rate_hz", 25.0)  # no bundle that ships has another rate, and contracts are sealed
    half = copy(bundle)
    object.__setattr__(half, "contract", slow)
    (said,) = rates_beside(fleet, half, tmp_path)
    assert "has bundle swap_4, which decides 50 times a second, and swap_4 25 times: they will not fly" in said


def test_what_is_proved_of_unlike_vehicles_is_what_flies():
    """Teammates know the vehicle file alone, so a bundle with larger errors than it has is refused."""
    bundle = load_bundle(bundles_dir() / "swap_4_firmware")
    assert prove_fleet(replace(FLEET, estimator="firmware"), bundle) > 30
    with pytest.raises(
        UserError, match=r"swap_4_firmware: safety.position_error_m = 0.\d+ is stricter than 0.02 of cra"
    ):
        prove_fleet(mixed(), bundle)


def test_a_range_of_the_radio_is_proved_or_refused():
    bundle, long = load_bundle(bundles_dir() / "swap_4"), replace(FLEET.radio, range_m=20.0)
    flies = replace(FLEET, field=replace(FLEET.field, on_robot_lost="continue"))
    assert prove_fleet(replace(flies, radio=long), bundle) == prove_fleet(FLEET, bundle) + 2
    with pytest.raises(UserError, match=r"certificate's radio range fails by \d.*: range 4 m >= D"):
        prove_fleet(replace(flies, radio=replace(long, range_m=4.0)), bundle)
    with pytest.raises(UserError, match=r"certificate's radio messages fails by 0.052: silence 0.61 s >= 3 messages"):
        prove_fleet(replace(flies, radio=replace(long, rate_hz=5.0, within_s=0.61)), bundle)
    with pytest.raises(ValueError, match=r"radio.range_m needs filter: certificate, and field: {on_robot_lost"):
        replace(FLEET, radio=long)


def test_a_bundle_goes_to_the_robots_of_its_vehicle():
    fleet, bundle = mixed(), load_bundle(bundles_dir() / "swap_4")
    check_fit(bundle, fleet)
    assert [robot.index for robot in fleet.flown_as("crazyflie_21")] == [0, 1, 2]
    assert [robot.index for robot in fleet.flown_as("carrier_600")] == [3]
    with pytest.raises(UserError, match="the robots of fleet local_4 are crazyflie_21 and carrier_600"):
        check_fit(load_bundle(bundles_dir() / "navigation"), fleet)
    with pytest.raises(ValueError, match="estimator = 'mocap' is of one vehicle"):
        replace(fleet, estimator="mocap")
    with pytest.raises(ValueError, match="vehicle = crazyflie_21, carrier_600 in one team needs filter: certificate"):
        replace(fleet, filter="qp")


def test_bundles_are_mixed_where_robots_of_one_vehicle_have_two(capsys: pytest.CaptureFixture):
    fleet = mixed()
    told = [Report(robot.name, current="a" * 64 if robot.index < 3 else "b" * 64) for robot in fleet.own]
    assert report(told, None, fleet)["ok"] and not report(told)["ok"]
    told[0] = replace(told[0], current="b" * 64)
    assert report(told, None, fleet)["mixed"] and "different bundles" in capsys.readouterr().out


def test_a_preflight_asks_each_robot_for_its_own_vehicle():
    kinds = [needs.vehicle.name for needs in needs_of(mixed()).values()]
    assert sorted(kinds) == ["carrier_600", "crazyflie_21", "crazyflie_21", "crazyflie_21"]


def test_nodes_of_unlike_robots_know_the_vehicles_of_all():
    nodes = [node for node in plan_fleet(mixed()) if node.executable == "policy_node"]
    kinds = ["crazyflie_21"] * 3 + ["carrier_600"]
    assert [node.parameters["vehicle"] for node in nodes] == kinds
    assert all(list(node.parameters["vehicles"]) == kinds for node in nodes)


def test_preflight_and_monitor_know_the_distances_of_each_vehicle():
    said = price_row(mixed()).why
    assert "crazyflie_21: estimator " in said and "; carrier_600: estimator " in said
    assert "0.65 m beside" in said and said.endswith("two of unlike vehicles keep the larger distance")
    (monitor,) = [node for node in plan_fleet(mixed()) if node.executable == "monitor_node"]
    assert list(monitor.parameters["vehicles"]) == ["crazyflie_21"] * 3 + ["carrier_600"]


def test_unlike_robots_are_not_rolled_back_to_one_bundle():
    with pytest.raises(UserError, match="and crazyflie_21, carrier_600 have one each; flash the bundle of before"):
        check_rollback(mixed())


def carriers(changes: Mapping[str, float] = MappingProxyType({}), section: str = "load") -> tuple[Fleet, Bundle]:
    """The fleet of three carriers behind the certificate, and its bundle with other numbers in a section."""
    fleet, bundle = replace(load_fleet("lift_3"), filter="certificate"), copy(load_bundle(bundles_dir() / "lift_3"))
    before = bundle.contract.scenario.content
    content = {**before, section: {**table_in(before, section), **changes}}
    sealed = Source("lift_3", sha256_of(content), content)
    object.__setattr__(bundle, "contract", replace(bundle.contract, scenario=sealed))
    return fleet, bundle


def test_carriers_are_proved_with_their_tether(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(theorem, "PARTS", (theorem._tether,))
    assert prove_fleet(*carriers()) == 8
    with pytest.raises(UserError, match=r"carrier_600.yaml: the certificate's tether fails by 0\.0"):
        prove_fleet(*carriers({"lean_rad": 0.05}, "cables"))


@pytest.mark.parametrize(
    ("section", "changes", "said"),
    [
        ("load", {"pull_m_s2": 2.0}, "lift_3.toml: load.pull_m_s2 = 2 is more than carrier_600 can hold"),
        ("load", {"reference_m_s": 2.0}, "let a reference stop in 8 s, and 4 s are the most"),
        ("cables", {"start_slack": 0.1}, "lift_3.toml: the certificate begins with robots at rest on taut"),
    ],
)
def test_carriers_that_it_does_not_fit_are_refused(section: str, changes: dict[str, float], said: str):
    with pytest.raises(UserError, match=said):
        prove_fleet(*carriers(changes, section))


def test_carriers_are_of_one_vehicle():
    fleet, bundle = carriers()
    other = replace(fleet.robots[2], vehicle="crazyflie_21")
    with pytest.raises(UserError, match="with one vehicle; write filter: qp"):
        prove_fleet(replace(fleet, robots=(*fleet.robots[:2], other)), bundle)


def test_robots_and_arenas_that_it_does_not_cover_are_refused():
    bundle = load_bundle(bundles_dir() / "swap_4")
    ground = replace(FLEET, vehicle="ssl_omni", estimator="")
    with pytest.raises(UserError, match="local_4: ssl_omni with bundle swap_4: planar differs"):
        prove_fleet(ground, bundle)
    low = replace(bundle.contract.safety, arena=Arena((-3, -3, 0.1), (3, 3, 0.6)))
    narrow = replace(bundle, contract=replace(bundle.contract, safety=low))
    with pytest.raises(UserError, match="0.5 m wide along z"):
        prove_fleet(FLEET, narrow)
