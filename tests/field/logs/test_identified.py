"""`import-flights --identify`: what was put in comes out, clocks are aligned, and public flights are as told."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("rclpy")
pytest.importorskip("matplotlib")

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import Quadrotor, load_any_vehicle
from robomarl.field.logs.compare import ComparedLogs, compare_logs, files_of, read_logs
from robomarl.field.real.identified import Identified, identified_figures, identify_logs
from robomarl.field.real.predict import CommandModel, predict
from robomarl.front import cli
from robomarl.vehicles.corrected.corrector import load_corrector
from tests.field.logs.flown_logs import DRAG_PER_S, FORCE_PER_VOLT, LAYOUT, LOOP, ROTOR_LAG_S, flown, written

FLIGHTS = Path(__file__).resolve().parents[4] / "shared" / "flights" / "nanobench"
LATE_S = (0.0, 0.06, -0.04, 0.02)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    for seed, late_s in enumerate(LATE_S):
        written(folder / f"B{seed + 2}_swing.csv", flown(seed, late_s, orders=seed != 3))
    return folder


@pytest.fixture(scope="module")
def compared(logs: Path) -> ComparedLogs:
    return compare_logs(read_logs(files_of([logs]), LAYOUT), LAYOUT, load_any_vehicle("crazyflie_21"))


@pytest.fixture(scope="module")
def found(compared: ComparedLogs) -> Identified:
    return identify_logs(compared, LAYOUT, load_any_vehicle("crazyflie_21"))


def test_what_was_put_in_comes_out(found: Identified):
    thrust, drag, *loops = found.laws
    assert thrust["force_per_volt"] == pytest.approx(FORCE_PER_VOLT, rel=0.02)
    assert thrust["rotor_lag_s"] == pytest.approx(ROTOR_LAG_S, abs=0.02)
    assert (drag["drag_x_per_s"], drag["drag_y_per_s"]) == pytest.approx(DRAG_PER_S[:2], rel=0.05)
    for loop in loops:
        assert loop["gain"] == pytest.approx(LOOP["gain"], rel=0.03)
        assert loop["frequency_rad_s"] == pytest.approx(LOOP["frequency_rad_s"], rel=0.1)
        assert loop["delay_s"] == pytest.approx(LOOP["delay_s"], abs=0.012)
        assert loop.rms < 0.2 and set(loop.flights) == {"B2_swing.csv", "B3_swing.csv", "B4_swing.csv"}
    assert found.stalls and found.stalls.whole_share == 1
    assert found.without_orders == ("B5_swing.csv",) and found.answer_s is None


def test_clocks_are_aligned_by_gyroscope_and_accelerometer(found: Identified):
    middle = [float(np.median(flight.shift_s[flight.inner])) for flight in found.flights]
    assert middle == pytest.approx(LATE_S, abs=0.008)
    before, after, *_ = found.corrected.rows  # the estimate was made a tenth too slow
    assert after.quantiles["p99"] < 0.5 * before.quantiles["p99"]


def test_a_model_that_knows_the_orders_predicts_better(found: Identified):
    at_half = {row.model: row.position_rms_m for row in found.predicted if row.after_s == 0.5}
    assert at_half["and ridge residual"] < at_half["command model"] < 0.2 * at_half["constant velocity"]


def test_force_by_voltage_is_the_thrust_law(found: Identified):
    force = next(force for force in found.battery.forces if force.battery_v == 3.4)
    assert force.force_m_s2 == pytest.approx(3.4 * FORCE_PER_VOLT, rel=0.02)
    assert found.battery.ready_v is not None
    assert found.battery.land_v < found.battery.return_v < found.battery.ready_v
    assert found.battery.vertical_bias_m_s2["p90"] < 0.3


def test_the_command_writes_page_json_and_vehicle(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    words = ["import-flights", str(logs), "--layout", "nanobench", "--out", str(tmp_path / "page.html")]
    written = ["--patch", str(tmp_path), "--corrector", str(tmp_path / "c.json")]
    cli.main([*words, "--identify", *written, "--json", str(tmp_path / "f.json")])
    figures = json.loads((tmp_path / "f.json").read_text())["identified"]
    assert [law["law"] for law in figures["laws"]] == ["thrust", "drag", "roll", "pitch"]
    changed = load_any_vehicle(str(tmp_path / "crazyflie_21.yaml"))
    assert isinstance(changed, Quadrotor) and changed.body.drag_per_s == pytest.approx(0.4, abs=0.02)
    assert "import-flights --identify" in changed.sources["body.drag_per_s"]
    assert "can't tell inertia" in capsys.readouterr().out
    assert "fitted to other trajectories" in (tmp_path / "page.html").read_text()
    corrector = load_corrector(str(tmp_path / "c.json"))
    assert (corrector.vehicle, corrector.corrects, len(corrector.flights)) == ("crazyflie_21", "firmware", len(LATE_S))
    assert corrector.held_out["velocity_m_s"]["p99"] == pytest.approx(
        figures["corrected"][1]["quantiles"]["p99"], rel=1e-3
    )
    assert cli.main([*words, *written[:2]]) == 2
    assert cli.main([*words, *written[2:]]) == 2


def test_three_short_flights_have_fewer_figures(compared: ComparedLogs):
    """Of 1.5 s each: too short to predict from, too few to foretell a trajectory, and all numbers finite."""
    short = tuple((log, slice(at.start, at.start + 150)) for log, at in compared.flown[:3])
    found = identify_logs(replace(compared, flown=short), LAYOUT, load_any_vehicle("crazyflie_21"))
    assert not found.predicted and {value.foretold for law in found.laws for value in law.values} == {None}
    json.dumps(identified_figures(found), allow_nan=False)


def test_held_out_flights_take_no_part_in_what_is_said_of_them(compared: ComparedLogs, found: Identified):
    """Other numbers in one trajectory change nothing that its held-out laws and corrections say of its past truth."""
    spoilt = [
        (replace(log, motors=0.9 * log.motors) if n == 1 else log, at) for n, (log, at) in enumerate(compared.flown)
    ]
    other = identify_logs(replace(compared, flown=tuple(spoilt)), LAYOUT, load_any_vehicle("crazyflie_21"))
    name = found.flights[1].trajectory
    assert other.laws[0].without[name] == pytest.approx(found.laws[0].without[name], rel=1e-4)
    assert other.laws[0]["force_per_volt"] > 1.01 * found.laws[0]["force_per_volt"]
    model = CommandModel(found.laws[0], found.laws[1], (found.laws[2], found.laws[3]), 0.2)
    cheat = replace(found.laws[0], values=other.laws[0].values)  # what the fit of all flights says is not looked at
    assert predict(found.flights[:3], replace(model, thrust=cheat)) == predict(found.flights[:3], model)


def test_what_can_not_be_identified_is_one_sentence(compared: ComparedLogs):
    vehicle = load_any_vehicle("crazyflie_21")
    with pytest.raises(UserError, match="needs 3 flights to keep some back, not 2"):
        identify_logs(replace(compared, flown=compared.flown[:2]), LAYOUT, vehicle)
    with pytest.raises(UserError, match="are of one trajectory 'B', so that none can be kept back"):
        identify_logs(compared, replace(LAYOUT, trajectory="^B"), vehicle)
    with pytest.raises(UserError, match="the layout has no motors_full"):
        identify_logs(compared, replace(LAYOUT, motors_full=0.0), vehicle)
    with pytest.raises(UserError, match="--identify fits quadrotors"):
        identify_logs(compared, LAYOUT, load_any_vehicle("turtlebot3_burger"))
    turned = [(replace(log, believed_quat=log.believed_quat[:, [1, 0, 2, 3]]), at) for log, at in compared.flown]
    with pytest.raises(UserError, match="qw, .*are tilted by 173 degrees against the poses"):
        identify_logs(replace(compared, flown=tuple(turned)), LAYOUT, vehicle)
    with pytest.raises(ValueError, match="trajectory must be a regular expression"):
        replace(LAYOUT, trajectory="(")


@pytest.mark.slow
@pytest.mark.skipif(not FLIGHTS.is_dir(), reason="the public flights are not here")
def test_public_flights_of_a_crazyflie():
    """Figures of docs/logs.md."""
    vehicle = load_any_vehicle("crazyflie_21")
    found = identify_logs(compare_logs(read_logs(files_of([FLIGHTS]), LAYOUT), LAYOUT, vehicle), LAYOUT, vehicle)
    thrust, drag, roll, pitch = found.laws
    assert thrust.rms < 0.25 and 3.3 < thrust["force_per_volt"] < 3.4
    assert 0.37 < drag["drag_x_per_s"] < 0.41 and 0.39 < drag["drag_y_per_s"] < 0.42
    assert roll.rms < 0.7 and pitch.rms < 0.7 and found.stalls
    assert found.stalls.whole_share > 0.6 and found.stalls.roll_rms_deg < 0.7 and found.stalls.pitch_rms_deg < 0.85
    row = next(row for row in found.predicted if row.after_s == 0.5 and row.model == "and ridge residual")
    assert row.position_rms_m < 0.016 and row.velocity_rms_m_s < 0.06
    _, speed, _, place = (row.quantiles for row in found.corrected.rows)
    assert speed["p99"] < 0.16 and speed["p99.9"] < 0.28 and place["p99"] < 0.08 and place["p99.9"] < 0.11
