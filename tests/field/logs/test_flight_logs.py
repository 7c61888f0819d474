"""Flight logs of others: read in their units, refused by the column, and compared with declared bounds."""

import json
import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("rclpy")
pytest.importorskip("matplotlib")

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.field.logs.compare import ComparedLogs, bounds_of, compare_logs, files_of, read_logs
from robomarl.field.logs.errors import best_shift, error_row, true_velocity
from robomarl.field.logs.flown import in_flight
from robomarl.field.logs.layout import LogLayout, load_log_layout
from robomarl.field.logs.read import read_log
from robomarl.front import cli

LAYOUT = load_log_layout("nanobench")
HZ, TOP_S = 100.0, 20.0
FLIGHTS = Path(__file__).resolve().parents[4] / "shared" / "flights" / "nanobench"


def place(time_s: np.ndarray) -> np.ndarray:
    """Places [K, 3]: on the ground for 3 s, up within 0.5 s, a circle at 1 m, down within 0.5 s."""
    share = np.clip(np.minimum(time_s - 3, TOP_S - 3 - time_s) / 0.5, 0, 1)
    return np.stack([np.cos(time_s), np.sin(time_s), 0.05 + share**2 * (3 - 2 * share)], -1)


def columns(offset_m: float = 0.0, late_s: float = 0.0) -> dict[str, np.ndarray]:
    """One synthetic flight of 20 s.

    Args:
        offset_m: constant error of the estimate along x.
        late_s: delay of the estimate.
    """
    time_s = np.arange(0, TOP_S, 1 / HZ)
    true_m, seen_m = place(time_s), place(time_s - late_s) + (offset_m, 0, 0)
    flies = true_m[:, 2] > 0.06
    made = dict(zip(LAYOUT.truth.position, true_m.T, strict=True))
    made |= dict(zip(LAYOUT.truth.quaternion, np.tile([1.0, 0, 0, 0], (len(time_s), 1)).T, strict=True))
    made |= dict(zip(LAYOUT.estimate.position, seen_m.T, strict=True))
    speed = np.stack([-np.sin(time_s), np.cos(time_s), 0 * time_s], -1)
    made |= dict(zip(LAYOUT.estimate.velocity, speed.T, strict=True))
    made |= {name: np.where(flies, 40000.0, 0.0) for name in LAYOUT.motors}
    made |= dict(zip(LAYOUT.acceleration, np.tile([0, 0, 1.0], (len(time_s), 1)).T, strict=True))
    made |= dict(zip(LAYOUT.estimate.quaternion, np.tile([1.0, 0, 0, 0], (len(time_s), 1)).T, strict=True))
    made |= dict.fromkeys((*LAYOUT.setpoint.tilt, *LAYOUT.setpoint.position), 0 * time_s)
    made |= dict.fromkeys(LAYOUT.gyro, 0 * time_s) | {LAYOUT.battery: np.linspace(4.0, 3.5, len(time_s))}
    return {LAYOUT.time: 1.7e9 + time_s} | made | {"extra": 0 * time_s}


def written(file: Path, content: dict[str, np.ndarray]) -> Path:
    rows = np.stack(list(content.values()), -1)
    text = ",".join(content) + "\n" + "\n".join(",".join(f"{value:.9f}" for value in row) for row in rows) + "\n"
    file.write_bytes(lzma.compress(text.encode()) if file.suffix == ".xz" else text.encode())
    return file


def compared(folder: Path, *contents: dict[str, np.ndarray]) -> ComparedLogs:
    files = [written(folder / f"{index}.csv.xz", content) for index, content in enumerate(contents)]
    bare = replace(load_any_vehicle("crazyflie_21"), estimators={}, estimator=None)
    return compare_logs(read_logs(files, LAYOUT), LAYOUT, bare)


def test_the_errors_are_those_that_were_put_in(tmp_path: Path):
    found = compared(tmp_path, columns(0.03), columns(0.01))
    position, velocity, filtered, _ = found.rows
    assert position.quantiles["p50"] == pytest.approx(0.02, abs=0.011) and position.largest == pytest.approx(0.03)
    assert position.share_above == pytest.approx(0.5, abs=0.01) and position.flights_above == 1
    assert position.interval == pytest.approx((0.01, 0.03), abs=1e-6)  # of two flights, a draw may be one of them twice
    assert velocity.quantiles["p99"] < 1e-3
    assert filtered.largest < 0.005 and not found.grounded and not found.copies


def test_a_bound_is_that_of_the_estimator_if_the_file_has_one():
    vehicle = load_any_vehicle("crazyflie_21")
    own = (vehicle.estimators or {})["firmware"]
    assert bounds_of(vehicle, "firmware")[:2] == (own.position_error_m, own.velocity_error_m_s)
    assert bounds_of(vehicle, "firmware").allowed == pytest.approx(1 - own.quantile)
    assert bounds_of(vehicle, "optical flow") == (
        vehicle.safety.position_error_m,
        vehicle.safety.velocity_error_m_s,
        0.001,
    )


def test_take_off_landing_and_the_ground_are_left_out(tmp_path: Path):
    log = read_log(written(tmp_path / "one.csv", columns()), LAYOUT)
    rows = in_flight(log)
    assert 3.5 < rows.start / HZ < 3.7 and TOP_S - 3.7 < rows.stop / HZ < TOP_S - 3.5
    assert in_flight(replace(log, motors=0 * log.motors)) == slice(0, 0)


def test_a_late_estimate_is_known_by_its_shift(tmp_path: Path):
    found = compared(tmp_path, columns(late_s=0.05))
    assert found.errors[0].late_s == pytest.approx((0.05,))
    steps = np.arange(300.0)[:, None] * (0.01, 0, 0)
    assert best_shift(steps[5:], steps[:-5], 0.01) == pytest.approx(0.05)
    assert best_shift(steps[:-5], steps[5:], 0.01) == pytest.approx(-0.05)


def test_the_true_velocity_of_a_cubic_is_exact():
    time_s = np.arange(0, 2, 0.01)
    place = np.stack([time_s**3, 2 * time_s, 1 + 0 * time_s], -1)
    wanted = np.stack([3 * time_s**2, 2 + 0 * time_s, 0 * time_s], -1)
    np.testing.assert_allclose(true_velocity(place, 0.01), wanted, atol=1e-9)


def test_copies_count_once_and_a_log_without_a_flight_is_named(tmp_path: Path):
    grounded = columns() | {name: 0 * column for name, column in columns().items() if name in LAYOUT.motors}
    found = compared(tmp_path, columns(), columns(0.03), columns(), grounded)
    assert found.copies == (("0.csv.xz", "2.csv.xz"),) and found.grounded == ("3.csv.xz",)
    assert [log.file.name for log, _ in found.flown] == ["0.csv.xz", "1.csv.xz"]
    with pytest.raises(UserError, match="nothing flies in 1 logs"):
        compared(tmp_path, grounded)


def test_a_flight_of_less_than_a_second_is_none_everywhere(tmp_path: Path):
    short = columns()
    flies = np.flatnonzero(short[LAYOUT.motors[0]])
    short |= {name: np.where(np.arange(len(short["t"])) < flies[0] + 180, short[name], 0.0) for name in LAYOUT.motors}
    written(tmp_path / "short.csv", short)
    written(tmp_path / "whole.csv", columns(0.3))
    words = ["import-flights", str(tmp_path), "--layout", "nanobench", "--out", str(tmp_path / "page.html")]
    assert cli.main([*words, "--json", str(tmp_path / "f.json")]) == 1
    figures = json.loads((tmp_path / "f.json").read_text())
    assert (figures["logs"], figures["flights"], figures["grounded"]) == (2, 1, ["short.csv"])


def test_quantiles_by_hand():
    row = error_row(("e", "position", "m"), 0.5, 0.001, [np.arange(1001) / 1000])
    assert row.quantiles == pytest.approx({"p50": 0.5, "p99": 0.99, "p99.9": 0.999})
    assert row.share_above == pytest.approx(500 / 1001) and row.interval == pytest.approx((0.99, 0.99))


BAD = {
    "missing": (lambda c: {k: v for k, v in c.items() if k != "py"}, "there is no column 'py'"),
    "not finite": (lambda c: c | {"px": np.where(c["px"] > 0.9, np.nan, c["px"])}, "column 'px' is nan in row 2"),
    "time runs backwards": (lambda c: c | {"t": c["t"][::-1]}, "column 't' does not grow in row 3"),
    "time in ms": (lambda c: c | {"t": 1000 * c["t"]}, r"column 't' steps by 10; it must be in s"),
    "mm": (lambda c: c | {"px": 1000 * c["px"]}, "column 'px' reaches 1000 m; is it in mm"),
    "estimate in mm": (
        lambda c: c | {"est_stateEstimate_y": 1000 * c["est_stateEstimate_y"]},
        "column 'est_stateEstimate_y' reaches 1000 m",
    ),
    "no quaternion": (lambda c: c | {"qw": 0 * c["qw"]}, "columns qw, qx, qy, qz have the norm 0 in row 2"),
    "m/s^2": (lambda c: c | {"imu_acc_z": 9.81 * c["imu_acc_z"]}, "imu_acc_z have a mean of 96.2"),
    "x for z": (lambda c: c | {"imu_acc_z": c["imu_acc_x"], "imu_acc_x": c["imu_acc_z"]}, "have a mean of 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_log_is_one_sentence_with_the_column(name: str, tmp_path: Path):
    spoil, said = BAD[name]
    with pytest.raises(UserError, match=said):
        read_log(written(tmp_path / "bad.csv", spoil(columns())), LAYOUT)


def test_degrees_of_a_gyroscope_are_told_by_the_turning_poses(tmp_path: Path):
    turned = columns()
    half = np.arange(len(turned["t"])) / HZ / 2  # yaws by 1 rad/s
    turned |= {"qw": np.cos(half), "qz": np.sin(half), "imu_gyro_z": 1 + 0 * half}
    assert read_log(written(tmp_path / "rad.csv", turned), LAYOUT).file.name == "rad.csv"
    with pytest.raises(UserError, match=r"imu_gyro_z are 57.3 times the rate of the poses; set gyro_unit"):
        read_log(written(tmp_path / "deg.csv", turned | {"imu_gyro_z": 57.3 + 0 * half}), LAYOUT)
    in_degrees = replace(LAYOUT, gyro_unit="deg/s")
    read_log(written(tmp_path / "deg.csv", turned | {"imu_gyro_z": 57.3 + 0 * half}), in_degrees)


def test_a_file_that_is_no_log(tmp_path: Path):
    (tmp_path / "text.csv").write_text(",".join(LAYOUT.columns) + "\n" + ",".join(["a"] * len(LAYOUT.columns)))
    (tmp_path / "cut.csv.xz").write_bytes(lzma.compress(b"t,px\n" * 100)[:-20])
    (tmp_path / "short.csv").write_text(",".join(LAYOUT.columns) + "\n")
    with pytest.raises(UserError, match="has 0 rows"):
        read_log(tmp_path / "short.csv", LAYOUT)
    for name, said in (("text.csv", "every row needs a number"), ("cut.csv.xz", "can't be read as CSV|no column")):
        with pytest.raises(UserError, match=said):
            read_log(tmp_path / name, LAYOUT)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="has no log"):
        files_of([tmp_path / "empty"])
    with pytest.raises(UserError, match="there is no such log"):
        files_of([tmp_path / "nothing.csv"])


def test_layouts_are_checked(tmp_path: Path):
    with pytest.raises(UserError, match="there is no such layout"):
        load_log_layout("nanobanch")
    with pytest.raises(ValueError, match="column 'px' stands for two quantities"):
        replace(LAYOUT, battery="px")
    with pytest.raises(ValueError, match="gyro must name the columns of x, y and z"):
        replace(LAYOUT, gyro=("a",))
    assert isinstance(LAYOUT, LogLayout)


def test_the_command_says_which_bound_does_not_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    written(tmp_path / "one.csv", columns(0.3))
    words = ["import-flights", str(tmp_path), "--layout", "nanobench", "--out", str(tmp_path / "page.html")]
    status = cli.main([*words, "--json", str(tmp_path / "f.json")])
    figures = json.loads((tmp_path / "f.json").read_text())
    assert status == 1 and not figures["passed"] and figures["flights"] == 1
    assert [row["holds"] for row in figures["errors"]][:3] == [False, True, True]
    assert "(does NOT hold)" in capsys.readouterr().out
    assert "that do not hold on these flights: " in (tmp_path / "page.html").read_text()


@pytest.mark.skipif(not FLIGHTS.is_dir(), reason="the public flights are not here")
def test_real_flights_of_a_crazyflie(tmp_path: Path):
    """Figures of NanoBench's flights: on 75 of them the firmware's p99 is 0.115 m and 0.29 m/s."""
    logs = read_logs(sorted(FLIGHTS.glob("B[23]_*.csv.xz")), LAYOUT)
    found = compare_logs(logs, LAYOUT, load_any_vehicle("crazyflie_21"))
    position, velocity, _, filtered = found.rows
    assert 0.05 < position.quantiles["p99"] < 0.2 and 0.15 < velocity.quantiles["p99"] < 0.5
    assert filtered.quantiles["p99"] < velocity.quantiles["p99"] / 3
