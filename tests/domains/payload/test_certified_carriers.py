"""Carriers behind the certificate: malicious commands part no team, and teams that do not fit are refused."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.certificate.course import state_at
from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.certificate.tether import Tether
from robomarl.core.config import UserError
from robomarl.core.view import LoadSensed, LocalView
from robomarl.domains.flight.core.payload.certified_carrier import apart_m
from robomarl.domains.flight.core.payload.scenario import CableConfig
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.payload import start_distances as module
from robomarl.domains.flight.lab.payload.start_distances import start_distances
from robomarl.domains.flight.lab.safety.attack import ATTACK
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.front.cli import main
from robomarl.lab import certified
from robomarl.lab.certified import CertifiedPlayers, CertifiedTeamCarry, certified_team
from robomarl.lab.prove import engine_attack
from robomarl.lab.prove.engine_attack import EngineTrial
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario

FIGURES_OF = certified.figures_of
LOOSE = {"lean_rad": 0.4, "cable_scale": (0.9, 1.1), "attachment_m": (0.0, 0.1)}
"""A team that the tether fits as its file has it, and not as it may be drawn."""
UNEVEN = ((0.27, 0.22, 0.14), (0.27, -0.22, 0.14), (-0.27, 0.0, -0.5))
"""Points of a load [m] of which one is lower."""


@pytest.mark.parametrize("name", ["lift_3", "lift_4", "lift_6", "lift_3_eight"])
def test_shipped_teams_fit(name: str):
    scenario = carriers(name)
    assert certified_team(scenario, safety_params(scenario)).figures.tether is not None


def carriers(name: str = "lift_3", **changes: object) -> FlightScenario:
    """A scenario with changes of its cables; `tilt_rad`, `pull_m_s2` and `reference_m_s` are of the load,
    `cable_scale` and `attachment_m` of what is drawn."""
    scenario = load_scenario(name)
    assert isinstance(scenario, FlightScenario) and isinstance(scenario.cables, CableConfig)
    load, cables = scenario.carried
    if "tilt_rad" in changes:
        load = dataclasses.replace(load, start=dataclasses.replace(load.start, tilt_rad=changes.pop("tilt_rad")))
    of_load = {name: changes.pop(name) for name in ("pull_m_s2", "reference_m_s") if name in changes}
    load = dataclasses.replace(load, **of_load)
    drawn = {name: changes.pop(name) for name in ("cable_scale", "attachment_m") if name in changes}
    scenario = dataclasses.replace(scenario, randomize=dataclasses.replace(scenario.randomize, **drawn))
    return dataclasses.replace(scenario, load=load, cables=dataclasses.replace(cables, **changes))


def references(monkeypatch: pytest.MonkeyPatch, scenario: FlightScenario) -> tuple[np.ndarray, bool]:
    """Places [T, E, N, 3] of references in flights with malicious commands, and whether any team had a contact."""
    monkeypatch.setattr(engine_attack, "SECONDS", 5.0)
    seen: list[np.ndarray] = []
    step = CertifiedPlayers.__call__

    def watched(self: CertifiedPlayers, carry: CertifiedTeamCarry, view: LocalView, *given: np.ndarray):
        after, result = step(self, carry, view, *given)
        robots = after.robots
        seen.append(state_at(robots.course, robots.until_s, np)[0])
        return after, result

    monkeypatch.setattr(CertifiedPlayers, "__call__", watched)
    found = ATTACK.attack(scenario, EngineTrial("certificate", 4, 0))
    return np.stack(seen), bool(found.contact.any())


def test_malicious_commands_part_no_team_and_touch_nothing(monkeypatch: pytest.MonkeyPatch):
    scenario = carriers()
    guard = certified_team(scenario, safety_params(scenario))
    tether = guard.figures.tether
    assert tether is not None
    places, touched = references(monkeypatch, scenario)
    away = places[..., :, None, :] - places[..., None, :, :]
    far = np.linalg.norm(away * tether.stretch, axis=-1)
    near = np.linalg.norm(away * guard.figures.squash, axis=-1) + 9 * np.eye(scenario.count)
    assert not touched
    assert far.max() <= tether.apart_m + 1e-6
    assert near.min() >= 2 * guard.figures.learned.room_m - 1e-6
    assert near.min() < 1.1 * 2 * guard.figures.learned.room_m, "they were driven together"


def test_without_a_tether_references_leave_their_load(monkeypatch: pytest.MonkeyPatch):
    scenario = carriers()
    apart = apart_m(*scenario.carried)
    monkeypatch.setattr(
        certified,
        "figures_of",
        lambda *given, tether: dataclasses.replace(FIGURES_OF(*given, tether=tether), tether=None),
    )
    places, _ = references(monkeypatch, scenario)
    away = np.linalg.norm(places[..., :, None, :] - places[..., None, :, :], axis=-1)
    assert away.max() > 1.1 * apart


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("recover_3", {}, "begins with robots at rest on taut cables"),
        ("recover_3", {"start_speed_m_s": 0.0, "start_slack": 0.0, "start_tilt_rad": 0.3}, "at rest on taut cables"),
        ("lift_3", {"spread_rad": 0.05}, "start as near as 0.4.* m, and the certificate keeps 0.719 m"),
        ("lift_3", {"lean_rad": 0.3}, r"start as far apart as 1.3.* m .* cables.lean_rad = 0.3 lets them be 1.1"),
        ("lift_3", {"tilt_rad": 0.6}, r"start as far apart as 3..* m \(heights count 3.* times\), .* lets them be 1.5"),
        ("lift_3", {"load_points_m": UNEVEN}, r"start as far apart as 2..* m .* lets them be 1.8"),
        ("lift_3", {"spread_rad": 0.2, "attachment_m": (0.0, 0.1)}, "start as near as 0.5.* m, .* narrow cable_scale"),
        ("lift_3", {"cable_scale": (0.7, 1.3)}, r"start as far apart as 2..* m .* narrow cable_scale"),
        ("lift_3", LOOSE, r"start as far apart as 1.6 m .* lets them be 1.3.* narrow cable_scale"),
        ("lift_3", {"reference_m_s": 5.0}, "load.reference_m_s = 5 .* stop in 20 s, and 4 s are the most"),
        ("lift_3", {"pull_m_s2": 1.0}, r"lift_3.toml: load.pull_m_s2 = 1 is more than carrier_600 can hold"),
    ],
)
def test_teams_that_do_not_fit_are_refused_with_both_numbers(name: str, changes: dict[str, object], said: str):
    scenario = carriers(name, **changes)
    with pytest.raises(UserError, match=said):
        certified_team(scenario, safety_params(scenario))


def estimates(scenario: FlightScenario, episodes: int) -> np.ndarray:
    """[E, pairs, 3] ways [m] from one carrier to another at the start, as they estimate their places."""
    team = make_team(scenario, "fast", episodes, 0)
    team.reset()
    places = np.asarray(team.views().own.pos_m, float)
    one, two = np.triu_indices(scenario.count, 1)
    return places[:, two] - places[:, one]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("lift_3", {}),
        ("lift_3", {"cable_scale": (0.9, 1.1), "attachment_m": (0.0, 0.1)}),
        ("lift_4", {"tilt_rad": 0.3, "attachment_m": (0.0, 0.05)}),
        ("lift_6", {"tilt_rad": 0.1, "cable_scale": (0.8, 1.2)}),
    ],
)
def test_no_team_starts_beyond_the_judged_distances(name: str, changes: dict[str, object]):
    near, far = np.array([1.0, 1.0, 0.5]), np.array([1.0, 1.0, 3.0])
    scenario = carriers(name, **changes)
    least, most = start_distances(scenario, near, far)
    ways = estimates(scenario, 4096)
    nearest, farthest = (np.linalg.norm(ways * metric, axis=-1) for metric in (near, far))
    assert least <= nearest.min() < 1.1 * least
    assert most >= farthest.max() > 0.9 * most


def test_a_team_that_is_judged_by_its_nominal_cables_never_agrees(monkeypatch: pytest.MonkeyPatch):
    scenario = carriers(**LOOSE)
    monkeypatch.setattr(module, "start_distances", lambda *given: (1.06, 1.31))
    guard, team = certified_team(scenario, safety_params(scenario)), make_team(scenario, "fast", 64, 0)
    team.reset()
    memory = guard.init((64, 3))
    for _ in range(50):
        memory, result = guard(memory, team.views(), np.zeros((64, 3, 5)))
        team.step(result.command, memory.plan)
    agreed = (memory.robots.pact.number > 0).all((-1, -2))
    assert 0 < agreed.sum() < 64


def test_check_judges_the_start_before_the_engines_fly(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    text = (root / "sim" / "scenarios" / "lift_3.toml").read_text()
    (tmp_path / "loose_3.toml").write_text(text.replace("attachment_m = [0.0, 0.005]", "attachment_m = [0.0, 0.2]"))
    monkeypatch.chdir(tmp_path)
    words = ("--filter", "certificate", "--sims", "fast", "mujoco", "--seconds", "0.2", "--json", "found.json")
    assert main(["check", "loose_3.toml", *words]) == 1
    said = capsys.readouterr().err
    assert "loose_3.toml: carriers start as" in said and "narrow cable_scale or attachment_m of [randomize]" in said
    assert main(["check", "lift_3", *words]) == 0
    assert "references keep 0.716 m, and those of carriers at most 1.57 m" in capsys.readouterr().out
    assert json.loads(Path("found.json").read_text())["references_keep_m"] == pytest.approx(0.716, abs=1e-3)


def test_the_attack_finds_carriers_whose_certificate_has_no_room_for_bodies(monkeypatch: pytest.MonkeyPatch):
    def without_room(*given: object, tether: Tether) -> CertificateFigures:
        f = FIGURES_OF(*given, tether=tether)  # pyright: ignore[reportArgumentType]
        tube, safety = dataclasses.replace(f.learned, room_m=0.1), f.front.safety
        front = dataclasses.replace(f.front, safety=dataclasses.replace(safety, separation_m=0.2))
        return dataclasses.replace(f, learned=tube, unlearned=tube, front=front)

    monkeypatch.setattr(engine_attack, "SECONDS", 8.0)
    monkeypatch.setattr(certified, "figures_of", without_room)
    assert ATTACK.attack(carriers(), EngineTrial("certificate", 6, 0)).contact.any()


def test_the_load_moves_along_with_a_robot_to_its_reference():
    scenario = carriers()
    team, guard = make_team(scenario, "mujoco", 2, 0), certified_team(scenario, safety_params(scenario))
    team.reset()
    memory = guard.init((2, 3))
    for _ in range(40):
        memory, result = guard(memory, team.views(), np.tile([0.2, 0.0, 0.0, 0.0, 0.0], (2, 3, 1)))
        team.step(result.command, memory.plan)
    view = team.views()
    seen = guard.seen(memory, view)
    ahead = seen.own.pos_m - view.own.pos_m
    assert np.abs(ahead).max() > 0.005
    assert isinstance(seen.sensed, LoadSensed) and isinstance(view.sensed, LoadSensed)
    np.testing.assert_allclose(seen.sensed.load_pos_m - view.sensed.load_pos_m, ahead, atol=1e-5)


@pytest.mark.parametrize("name", ["lift_4", "lift_6"])
def test_larger_teams_fit(name: str):
    scenario = carriers(name)
    figures = certified_team(scenario, safety_params(scenario)).figures
    assert figures.accel_m_s2 == (0.25, 0.25, 0.25)
    assert figures.tether is not None
    assert figures.tracker.accel_error_m_s2 == pytest.approx(0.5 + 0.3)
