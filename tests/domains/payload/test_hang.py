"""Cables and centre of mass from how a payload hangs: planted ones are found again, and what can't be told is said."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from robomarl.cli.identify import Args, RecordedFlights, show_carried
from robomarl.domains.flight.batch import make_team
from robomarl.domains.payload.controllers.decentralized import Gains, PlaceLaw
from robomarl.domains.payload.field.hang import find_payload
from robomarl.domains.payload.state import Load
from robomarl.sim.field.carried import write_carried
from robomarl.sim.field.patch import Provenance
from robomarl.sim.scenario import load_scenario
from robomarl.track import RobotTrack
from robomarl.view import LoadSensed

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
    """The same load in all flights, 4 cm off to one side, tied where the file says."""
    scenario = load_scenario("lift_3")
    load = dataclasses.replace(scenario.load, com_m=(0.03, -0.02, 0.05))
    ranges = dataclasses.replace(
        scenario.randomize, load_com_m=(0.0, 0.0), attachment_m=(0.0, 0.0), cable_scale=(0.97, 0.97)
    )
    return fly(dataclasses.replace(scenario, load=load, randomize=ranges))


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
    assert sum("can't be told" in line for line in found.missing) == 2


def test_what_was_found_is_shown_and_is_a_scenario(flown, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    scenario, (tracks, com_m, length_m) = load_scenario("lift_3"), flown
    recorded = RecordedFlights(scenario, [t for flight in tracks for t in flight], OF, ("one is cut.",))
    shown = show_carried(Args((), out=tmp_path), recorded, find_payload(scenario, recorded.tracks))
    assert shown["problems"][0] == "one is cut."
    assert "com_y_m" in capsys.readouterr().out
    written = load_scenario(shown["scenario"])
    np.testing.assert_allclose(written.load.com_m, com_m[0], atol=0.01)
    assert written.cables.length_m == pytest.approx(length_m.mean(), abs=0.005)
    low, high = written.randomize.cable_scale
    assert low < 1 < high


def test_what_can_not_be_told_is_said(flown):
    """Nothing of two seconds; nothing where a robot is missing; no centre of mass of four cables."""
    scenario, (tracks, *_) = load_scenario("lift_3"), flown
    short = [t.part(slice(0, 200)) for t in tracks[0]]
    for given in (short, [t for flight in tracks for t in flight[:2]] + [tracks[0][2].part(slice(0, 9))]):
        found = find_payload(scenario, given)
        assert not found.parameters
        assert "let it stay at more goals" in found.missing[-1]
        assert write_carried(Path("/nowhere"), scenario, found, OF) is None
