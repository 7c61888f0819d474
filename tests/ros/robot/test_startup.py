"""What a policy node checks before it may fly."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.filter.params import from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.paths import bundles_dir, vehicles_dir
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.ros.robot.assembly import assemble
from robomarl.ros.robot.certified.carry import TeamSeat
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.startup import load_pilot, robot_limits
from robomarl.ros.settings import PolicySettings

TEAM = ("a", "b", "c", "d")


@pytest.fixture
def settings(goto_bundle: Path) -> PolicySettings:
    return PolicySettings(team=TEAM, index=2, bundle=str(goto_bundle), vehicle="crazyflie_21")


def test_a_sound_bundle_is_ready(settings: PolicySettings, goto_bundle: Path):
    loaded = load_pilot(settings)
    assert loaded.id == load_bundle(goto_bundle).id
    assert (loaded.name, loaded.rate_hz) == ("goto", 50.0)
    assert loaded.pilot.safety.params.min_mates == 3


def test_the_whole_team_has_to_be_heard_whatever_the_bundle_asks_for(settings: PolicySettings, goto_bundle: Path):
    """A bundle for teams of one and more asks for nobody."""
    contract = load_bundle(goto_bundle).contract
    alone = replace(contract, team_size=(1, 16), safety=replace(contract.safety, min_mates=0))
    assert robot_limits(alone, settings, load_any_vehicle("crazyflie_21")).min_mates == 3


def test_the_flashed_bundle_is_taken(settings: PolicySettings, goto_bundle: Path, tmp_path: Path):
    store, bundle = Store(tmp_path / "robot"), load_bundle(goto_bundle)
    unflashed = replace(settings, bundle="", robot_root=str(tmp_path / "robot"))
    with pytest.raises(UserError, match="no bundle is flashed; run robomarl flash"):
        load_pilot(unflashed)
    with store.lock():
        store.add(bundle.id, bundle.files)
        store.switch(InstalledBundles(bundle.id, None))
    assert load_pilot(unflashed).id == bundle.id


def test_a_changed_bundle_is_refused(settings: PolicySettings, goto_bundle: Path, tmp_path: Path):
    folder = Path(shutil.copytree(goto_bundle, tmp_path / "changed"))
    graph = bytearray((folder / "policy.onnx").read_bytes())
    graph[len(graph) // 2] ^= 1
    (folder / "policy.onnx").write_bytes(graph)
    with pytest.raises(UserError, match="policy.onnx is not the file that was sealed"):
        load_pilot(replace(settings, bundle=str(folder)))


def test_the_robots_own_limits_win(settings: PolicySettings):
    arena = replace(settings, arena_low_m=(-1.0, -9.0, 0.5), arena_high_m=(1.0, 9.0, 1.5))
    own = load_pilot(arena).pilot.safety.params.arena
    assert own is not None
    assert own.low_m == (-1.0, -3.5, 0.5)
    assert own.high_m == (1.0, 3.5, 1.5)


def test_the_filter_knows_what_stands_in_the_arena(settings: PolicySettings):
    pillar = '[{"kind": "capsule", "from_m": [0, 0, 0], "to_m": [0, 0, 3], "radius_m": 0.15}]'
    params = load_pilot(replace(settings, obstacles=pillar)).pilot.safety.params
    assert params.obstacles == (Obstacle("capsule", (0.0, 0.0, 0.0), (0.0, 0.0, 3.0), radius_m=0.15),)


def test_a_certified_robot_knows_the_vehicles_of_its_team(settings: PolicySettings):
    alike = replace(settings, filter="certificate")
    kinds = ("crazyflie_21", "carrier_600", "crazyflie_21", "crazyflie_21")
    marks = [load_pilot(one).contract for one in (alike, replace(alike, vehicles=kinds))]
    assert "certificate" in marks[0] and marks[0] != marks[1]
    with pytest.raises(UserError, match="must name the vehicle of each of 4 robots, crazyflie_21 of this one"):
        load_pilot(replace(alike, vehicles=kinds[1:3]))
    with pytest.raises(UserError, match="all drive"):
        load_pilot(replace(alike, vehicles=("ssl_omni", *kinds[1:])))


@pytest.mark.parametrize(
    ("pitch_m", "boards_m"), [((0.0, 0.0), (2.16, 1.41)), ((4.5, 3.0), (2.16, 1.41)), ((6.05, 4.05), (2.935, 1.935))]
)
def test_the_boards_are_those_of_the_field_that_is_played_on(
    pitch_m: tuple[float, float], boards_m: tuple[float, float]
):
    player = PolicySettings(team=("a", "b"), bundle="soccer_2v2", pitch_m=pitch_m)
    assert load_pilot(player).pilot.safety.params.boards_m == pytest.approx(boards_m)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"index": 4}, "index = 4 is not one of the team's 4"),
        ({"team": tuple(f"r{i}" for i in range(17))}, "is for teams of 2 to 16 robots, not 17"),
        ({"vehicle": "truck"}, "is for crazyflie_21, this robot is a truck"),
        ({"arena_low_m": (0.0, 0.0, 3.5), "arena_high_m": (1.0, 1.0, 4.0)}, "arena"),
        ({"arena_high_m": (1.0, 1.0, 2.0)}, r"arena_low_m = \[-inf, -inf, -inf\] must be three finite numbers"),
        ({"arena_low_m": (-1.0, -1.0, 0.2)}, r"arena_high_m = \[inf, inf, inf\] must be three finite numbers"),
        ({"arena_low_m": (-1.0,), "arena_high_m": (1.0, 1.0, 2.0)}, r"arena_low_m = \[-1.0\] must be three"),
        ({"arena_low_m": (), "arena_high_m": ()}, r"arena_low_m = \[\] must be three"),
        ({"arena_low_m": (-1.0, -1.0, np.nan), "arena_high_m": (1.0, 1.0, 2.0)}, "arena_low_m = .* must be three"),
        ({"arena_low_m": (-1.0, -1.0, 0.2), "arena_high_m": (1.0, np.inf, 2.0)}, "arena_high_m = .* must be three"),
        ({"arena_low_m": (1.0, -1.0, 0.2), "arena_high_m": (1.0, 1.0, 2.0)}, "policy_node: arena"),
        ({"obstacles": "5"}, "obstacles = 5 is not a JSON list"),
        ({"obstacles": "[1,"}, "obstacles is not a JSON list"),
        ({"obstacles": '[{"kind": "sphere", "from_m": [0, 0, 0]}]'}, r"obstacles\[0\]: radius_m of a sphere"),
        ({"bundle": "nowhere"}, "Unknown bundle 'nowhere'"),
        (
            {"bundle": "soccer_2v2", "team": ("a", "b"), "index": 0, "vehicle": "", "pitch_m": (4.5, 0.0)},
            "the field is smaller",
        ),
    ],
)
def test_what_does_not_fit_is_refused(settings: PolicySettings, change: dict, says: str):
    with pytest.raises(UserError, match=says):
        load_pilot(replace(settings, **change))


def test_the_vehicle_file_is_read_once(settings: PolicySettings, monkeypatch: pytest.MonkeyPatch):
    """By its path: a robot's own file may be anywhere."""
    read, opened = Path.read_text, []
    monkeypatch.setattr(Path, "read_text", lambda path, *a, **b: opened.append(path.name) or read(path, *a, **b))
    load_pilot(replace(settings, vehicle=str(vehicles_dir() / "crazyflie_21.yaml")))
    assert opened.count("crazyflie_21.yaml") == 1


def test_it_flies_after_loading(settings: PolicySettings):
    from robomarl.core.view import blank_view

    loaded = load_pilot(settings)
    view = blank_view(3)
    view.heard.mask[:] = True
    view.heard.pos_m[:] = view.heard.plan.pos_m[:] = view.heard.plan.stop_m[:] = [[2, 0, 1], [0, 2, 1], [-2, 0, 1]]
    view = view._replace(
        own=view.own._replace(pos_m=np.array([0, 0, 1.0])), goal=view.goal._replace(pos_m=np.array([1.0, 0, 1]))
    )
    _, result = loaded.pilot.step(loaded.pilot.init(view), view)
    assert result.command[0] > 0


def test_robots_of_unlike_vehicles_have_one_mark_whatever_their_bundles_round(settings: PolicySettings):
    """The bundle's brake differs from the vehicle file's in its last bit."""
    kinds = ("crazyflie_21", "carrier_600", "crazyflie_21", "carrier_600")
    flown = replace(settings, filter="certificate", bundle=str(bundles_dir() / "swap_4"), vehicles=kinds)
    small, large = (load_any_vehicle(name) for name in kinds[:2])
    arena = load_bundle(bundles_dir() / "swap_4").contract.safety.arena
    files = [(from_vehicle(v, 0.02, arena, 3), v.body.radius_m) for v in (small, large)]
    carrier = CertifiedRobot(*files[1], TeamSeat(1, [2, 3, 0], files[:1]))
    assert load_pilot(flown).contract.endswith(f", certificate {carrier.mark} at 50 Hz")


def test_a_bundle_that_is_stricter_than_the_file_that_teammates_know_is_refused(settings: PolicySettings):
    strict = replace(settings, filter="certificate", bundle=str(bundles_dir() / "swap_4_firmware"))
    load_pilot(strict)
    with pytest.raises(
        UserError, match=r"swap_4_firmware: safety.position_error_m = 0.\d+ is stricter than 0.02 of cra"
    ):
        load_pilot(replace(strict, vehicles=("crazyflie_21",) * 3 + ("carrier_600",)))


def test_a_robot_that_flies_out_of_reach_goes_on_without_its_teammates(settings: PolicySettings):
    flown = replace(settings, filter="certificate", radio_range_m=20.0)
    loaded = load_pilot(flown)
    with pytest.raises(UserError, match="on_robot_lost = 'hold' ends flights out of radio_range_m; write continue"):
        assemble(flown, loaded)
    assert assemble(replace(flown, on_robot_lost="continue"), loaded).loaded is loaded
    with pytest.raises(UserError, match=r"range_m = 2 is too short .* need \d\.\d\d m"):
        load_pilot(replace(flown, radio_range_m=2.0))
    # 50 decisions, and at most 35 messages a second: one with every decision. At most 1 a second: one in a second.
    assert load_pilot(replace(flown, radio_hz=35.0, radio_within_s=0.13))
    with pytest.raises(UserError, match=r"within_s = 0.5 is too short .* every 1 s, and 3 of them need 3.062 s"):
        load_pilot(replace(flown, radio_hz=1.0))
