"""Mass, centre of mass and cables from how a payload hangs: planted ones are found; what can't be told is said."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.types import GRAVITY_M_S2
from robomarl.core.view import LoadSensed
from robomarl.domains.flight.field.payload.hang import find_payload
from robomarl.domains.flight.field.payload.tilt import Leaning, find_pulls
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.payload.controllers.decentralized import Gains, PlaceLaw
from robomarl.domains.flight.lab.payload.state import Load
from robomarl.field.identify.carried import write_carried
from robomarl.field.identify.patch import Provenance
from robomarl.field.recorded_flights import RecordedFlights
from robomarl.field.track import RobotTrack
from robomarl.front.cli.identify import Args, show_carried
from robomarl.lab.sim.scenario import load_scenario

FLIGHTS, DECISIONS = 8, 1200
OF = Provenance(("bag sha256 0123",), "lift_3 0123", "abcdef", "2026-11-25", "lift_3")


def fly(scenario, engine: str = "fast") -> tuple[list[list[RobotTrack]], np.ndarray, np.ndarray]:
    """Tracks of each team's flight under the law, and what was planted: centre of mass [E, 3], cables [E, N]."""
    team, law = make_team(scenario, engine, FLIGHTS, 0), PlaceLaw(scenario, Gains(answer=0.3, answer_most_m=0.015))
    team.reset()
    memory, rows = law.observation.init(team.views()), []
    for _ in range(DECISIONS):
        views = team.views()
        own, sensed = views.own, views.sensed
        assert isinstance(sensed, LoadSensed)
        told = (own.pos_m, own.quat_wxyz, own.vel_m_s, own.omega_rad_s, sensed.load_pos_m, sensed.load_quat_wxyz)
        rows.append(np.concatenate(told, -1))
        memory, seen = law.observation.observe(memory, views)
        team.step(law.act(seen))
    load = team.world.load
    assert isinstance(load, Load), "lift_3 has one"
    table, time_s = np.stack(rows, 2), np.arange(DECISIONS) * scenario.period_s
    tracks = [
        [track(f"robot_{i}", e, time_s + 100 * e, table[e, i]) for i in range(scenario.count)] for e in range(FLIGHTS)
    ]
    return tracks, np.stack(load.cargo.com_m, -1), np.asarray(load.cargo.length_m)


def track(robot: str, flight: int, time_s: np.ndarray, row: np.ndarray) -> RobotTrack:
    pos, quat, vel, omega, sensed = np.split(row, [3, 7, 10, 13], axis=1)
    return RobotTrack(robot, flight, time_s, pos, quat, vel, omega, time_s, row[:, :0], sensed=sensed)


@pytest.fixture(scope="module")
def flown():
    """The same load in all flights, 4 cm off to one side and 15 % too heavy, tied where the file says."""
    return fly(shifted("lift_3"))


def shifted(name: str):
    """The scenario with such a load."""
    scenario = load_scenario(name)
    load = dataclasses.replace(scenario.load, com_m=(0.03, -0.02, 0.05))
    fixed = {"load_com_m": (0.0, 0.0), "attachment_m": (0.0, 0.0), "cable_scale": (0.97, 0.97)}
    ranges = dataclasses.replace(scenario.randomize, load_mass_scale=(1.15, 1.15), **fixed)
    return dataclasses.replace(scenario, load=load, randomize=ranges)


def test_planted_figures_are_in_their_intervals_and_these_are_narrow(flown):
    """The file says 6 cm above the middle and cables of 1 m; the vehicles' law believes what was planted."""
    scenario, (tracks, com_m, length_m) = load_scenario("lift_3"), flown
    found = find_payload(scenario, [t for flight in tracks for t in flight])
    told = {(p.robot, p.name): p for p in found.parameters}
    for axis, truth in zip("xyz", com_m[0], strict=True):
        p = told["payload", f"com_{axis}_m"]
        assert p.low <= truth <= p.high
        assert abs(p.value - truth) < 0.01
    for i, truth in enumerate(length_m[0]):
        p = told[f"robot_{i}", "cable_m"]
        assert p.low <= truth <= p.high
        assert p.high - p.low < 0.03
    mass = told["payload", "mass_kg"]
    assert mass.low <= 1.15 * 1.4 <= mass.high
    assert mass.value == pytest.approx(1.15 * 1.4, rel=0.03)
    assert mass.high - mass.low < 0.12 * 1.4 * 1.15
    (missing,) = found.missing
    assert "stiffness can't be told" in missing


def test_of_four_cables_the_vehicles_attitudes_say_which_pulls_how_much():
    """Directions alone do not: there is a set of pulls that cancel each other."""
    tracks, com_m, _ = fly(shifted("lift_4"))
    found = find_payload(load_scenario("lift_4"), [t for flight in tracks for t in flight])
    told = {p.name: p for p in found.parameters if p.robot == "payload"}
    for axis, truth in zip("xy", com_m[0, :2], strict=True):
        p = told[f"com_{axis}_m"]
        assert p.low <= truth <= p.high
        assert abs(p.value - truth) < 0.01
    assert told["mass_kg"].value == pytest.approx(1.15 * 1.87, rel=0.04)


def test_pulls_are_found_exactly_where_nothing_is_noisy():
    """Vehicles in still and in moving air, made by the equation itself; with four cables some pulls cancel."""
    rng = np.random.default_rng(0)
    for robots in (3, 4, 6):
        toward = rng.normal(size=(5, robots, 3)) * 0.4 + [0.0, 0.0, 1.0]
        toward = toward / np.linalg.norm(toward, axis=-1, keepdims=True)
        over = rng.uniform(0.2, 0.5, (5, robots))
        held = (toward * over[..., None]).sum(1)
        up, wind = np.array([0.0, 0.0, 9.81]), np.array([0.3, -0.2, 0.0])
        thrust = up - wind + 2.0 * GRAVITY_M_S2 * toward * over[..., None]
        axis = thrust / np.linalg.norm(thrust, axis=-1, keepdims=True)
        level = np.broadcast_to(np.eye(3)[:2], (5, 2, 3))
        leaning = Leaning(axis, np.broadcast_to(up, axis.shape), level, np.zeros(5, int))
        found = find_pulls(leaning, toward, held, np.ones(5, bool))
        assert found.ratio == pytest.approx(2.0)
        assert found.over_weight == pytest.approx(over, abs=1e-6)


def test_what_was_found_is_shown_and_is_a_scenario(flown, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    scenario, (tracks, com_m, length_m) = load_scenario("lift_3"), flown
    recorded = RecordedFlights(scenario, [t for flight in tracks for t in flight], OF, ("one is cut.",))
    shown = show_carried(Args((), out=tmp_path), recorded, find_payload(scenario, recorded.tracks))
    assert shown["problems"][0] == "one is cut."
    assert "com_y_m" in capsys.readouterr().out
    written = load_scenario(shown["scenario"])
    np.testing.assert_allclose(written.load.com_m, com_m[0], atol=0.01)
    assert written.load.mass_kg == pytest.approx(1.15 * 1.4, rel=0.03)
    assert written.load.inertia_kg_m2[0] == pytest.approx(1.15 * 0.02625, rel=0.03)
    for name in ("load_mass_scale", "load_com_m"):
        (low, high), was = getattr(written.randomize, name), getattr(scenario.randomize, name)
        assert high - low < was[1] - was[0], name
    assert written.cables.length_m == pytest.approx(length_m.mean(), abs=0.005)
    low, high = written.randomize.cable_scale
    assert low < 1 < high


def test_what_can_not_be_told_is_said(flown, capsys):
    """Nothing of two seconds; nothing where a robot is missing: said once, by the error."""
    scenario, (tracks, *_) = load_scenario("lift_3"), flown
    short = [t.part(slice(0, 200)) for t in tracks[0]]
    for given in (short, [t for flight in tracks for t in flight[:2]] + [tracks[0][2].part(slice(0, 9))]):
        found = find_payload(scenario, given)
        assert not found.parameters
        assert "let it stay at more goals" in found.missing[-1]
        assert write_carried(Path("/nowhere"), scenario, found, OF) is None
        with pytest.raises(UserError, match="bag: nothing was found of a payload, and nothing written; .*more goals"):
            show_carried(Args((Path("bag"),), out=Path("/nowhere")), RecordedFlights(scenario, given, OF, ()), found)
        assert "problem:" not in capsys.readouterr().out
