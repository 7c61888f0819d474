"""Logs as strangers write them: units, frames, clocks and dialects are right, or one sentence names the column."""

import gzip
import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("rclpy")

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.field.logs.compare import compare_logs
from robomarl.field.logs.logged_flight import LoggedFlight
from robomarl.field.logs.read import read_log
from robomarl.field.real.identified import identify_logs
from tests.field.logs.flown_logs import LAYOUT, flown, written

Columns = dict[str, np.ndarray]
T, E = LAYOUT.truth, LAYOUT.estimate
X, Y, Z = T.position
BACK = T.quaternion[2]
BELIEVED = E.quaternion
ROLL, PITCH = LAYOUT.setpoint.tilt


@pytest.fixture(scope="module")
def good() -> Columns:
    return flown(0)


@pytest.fixture(scope="module")
def text(good: Columns, tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("text") / "flight.csv", good).read_text()


def times(names: tuple[str, ...], factor: float) -> Callable[[Columns], Columns]:
    return lambda c: c | {name: factor * c[name] for name in names}


def moved(names: tuple[str, ...], order: str) -> Callable[[Columns], Columns]:
    """Other columns under the names of a quaternion, by the order of its letters."""
    return lambda c: c | {name: c[names["wxyz".index(letter)]] for name, letter in zip(names, order, strict=True)}


WRONG = {
    "estimate in cm": (times(E.position, 100), f"columns {E.position[0]}, .* are 100 times px, py, pz"),
    "truth in cm": (times(T.position, 100), "are 0.01 times px, py, pz"),
    "all in cm": (times((*T.position, *E.position, *E.velocity), 100), "are 0.01 times the second derivative of px"),
    "velocity in km/h": (times(E.velocity, 3.6), f"columns {E.velocity[0]}, .* are 3.24 times the derivative of px"),
    "velocity in mm/s": (times(E.velocity, 1000), "are 900 times the derivative"),
    "time in minutes": (times(("t",), 1 / 60), r"nothing flies .* time \(in s\)"),
    "time in us": (times(("t",), 1e6), "column 't' steps by 10000; it must be in s"),
    "xyzw": (moved(T.quaternion, "xyzw"), "turned by qw, qx, qy, qz, are turned or mirrored against"),
    "world to body": (times(T.quaternion[1:], -1), "turned by qw, .* mirrored against"),
    "pitch negated": (times((BACK,), -1), "turned by qw, .* mirrored against"),
    "estimate x back": (times((E.position[0], E.velocity[0]), -1), f"columns {E.position[0]}, .* turned or mirrored"),
    "believed xyzw": (moved(BELIEVED, "xyzw"), f"tilt_sign .* or see to {BELIEVED[0]}"),
    "believed not normalized": (times(BELIEVED, 2), f"columns {BELIEVED[0]}, .* have the norm 2"),
    "roll in rad": (
        times((ROLL,), np.pi / 180),
        f"is 48.* times its order, column '{ROLL}'; set tilt_unit",
    ),
    "pitch of the order": (times((PITCH,), -1), f"is -0.8.* times its order, column '{PITCH}'.*tilt_sign"),
    "gyroscope in degrees": (times(LAYOUT.gyro, 57.3), "imu_gyro_z are 57.2* times the rate|set gyro_unit"),
    "z down": (times((Z, E.position[2]), -1), "nothing flies in 1 logs; are motors, height"),
}


def told(file: Path) -> None:
    compare_logs([read_log(file, LAYOUT)], LAYOUT, load_any_vehicle("crazyflie_21"))


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_unit_or_frame_is_named(name: str, good: Columns, tmp_path: Path):
    spoil, said = WRONG[name]
    with pytest.raises(UserError, match=said) as error:
        told(written(tmp_path / "bad.csv", spoil(good)))
    assert "\n" not in str(error.value)


def line(text: str, number: int, change: Callable[[str], str]) -> str:
    lines = text.splitlines()
    lines[number] = change(lines[number])
    return "\n".join(lines)


DIALECTS = {
    "semicolons": (lambda t: t.replace(",", ";"), "columns are separated by ';'; write commas"),
    "decimal commas": (lambda t: t.replace(",", ";").replace(".", ","), "columns are separated by ';'"),
    "empty": (lambda t: "", "its first line is empty; it must name columns"),
    "header only": (lambda t: t.splitlines()[0], "has 0 rows"),
    "an empty field": (lambda t: line(t, 5, lambda row: "," + row.split(",", 1)[1]), "column 't' has no number in row"),
    "time repeated": (lambda t: line(t, 5, lambda row: t.splitlines()[4]), "column 't' does not grow in row 6"),
    "a cut row": (lambda t: t[: t.rindex("\n", 0, -1) + 30], "every row needs a number"),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_that_is_not_read_is_one_sentence(name: str, text: str, tmp_path: Path):
    change, said = DIALECTS[name]
    (tmp_path / "bad.csv").write_text(change(text))
    with pytest.raises(UserError, match=said):
        told(tmp_path / "bad.csv")


def test_windows_files_quotes_and_compression_are_copies(text: str, tmp_path: Path):
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    head, rows = text.split("\n", 1)
    quoted = ",".join(f'"{name}"' for name in head.split(","))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(f"{quoted}\n{rows}".encode()))
    (tmp_path / "c.csv.xz").write_bytes(lzma.compress(text.encode()))
    assert len({read_log(tmp_path / name, LAYOUT).sha256 for name in ("a.csv", "b.csv.gz", "c.csv.xz")}) == 1
    whole = bytearray((tmp_path / "b.csv.gz").read_bytes())
    for spoilt in (whole[:-2000], whole[:500] + bytes(40) + whole[540:]):
        (tmp_path / "cut.csv.gz").write_bytes(bytes(spoilt))
        with pytest.raises(UserError, match="can't be read as CSV|needs a number"):
            read_log(tmp_path / "cut.csv.gz", LAYOUT)


def errors(log: LoggedFlight) -> tuple[float, float]:
    """p50 and p99 of the velocity's error."""
    quantiles = compare_logs([log], LAYOUT, load_any_vehicle("crazyflie_21")).rows[1].quantiles
    return quantiles["p50"], quantiles["p99"]


def test_a_jump_of_the_clock_lost_rows_and_jitter_change_no_figure(good: Columns, tmp_path: Path):
    wanted = errors(read_log(written(tmp_path / "good.csv", good), LAYOUT))
    count = len(good["t"])
    jumps = good | {"t": good["t"] - 1.7e9 * (np.arange(count) < 100)}  # the clock is set before the flight
    log = read_log(written(tmp_path / "jump.csv", jumps), LAYOUT)
    assert errors(log) == pytest.approx(wanted, rel=0.02)
    (kept, _), *_ = compare_logs([log], LAYOUT, load_any_vehicle("crazyflie_21")).flown
    assert np.ptp(kept.time_s) < 30
    lost = np.flatnonzero((np.arange(count) // 4) % 25 > 0)  # 40 ms lost each second
    assert errors(read_log(written(tmp_path / "lost.csv", {n: v[lost] for n, v in good.items()}), LAYOUT)) == (
        pytest.approx(wanted, rel=0.15)
    )
    late_s = np.random.default_rng(0).uniform(-0.004, 0.004, count)
    clock = good["t"] - good["t"][0]
    jitter = {n: np.interp(clock + late_s, clock, v) for n, v in good.items() if n != "t"}
    found = errors(read_log(written(tmp_path / "jitter.csv", {"t": good["t"] + late_s} | jitter), LAYOUT))
    assert found == pytest.approx(wanted, rel=0.15)


def test_other_vehicles_and_full_commands_are_told(tmp_path: Path):
    vehicle = load_any_vehicle("crazyflie_21")
    logs = [read_log(written(tmp_path / f"B{seed}_x.csv", flown(seed)), LAYOUT) for seed in range(3)]

    def identified(motors: float = 1.0, volts: float = 1.0) -> None:
        changed = [replace(log, motors=motors * log.motors, battery_v=volts * log.battery_v) for log in logs]
        identify_logs(compare_logs(changed, LAYOUT, vehicle), LAYOUT, vehicle)

    with pytest.raises(UserError, match=r"pwr_pm_vbat full motors give .*, and 13.6 by the file of crazyflie_21"):
        identified(motors=0.3)
    with pytest.raises(UserError, match="motor_motor_m1, .* reach .* times motors_full"):
        identified(motors=10.0)
    with pytest.raises(UserError, match="column 'pwr_pm_vbat' reaches 3.* V in flight.*one cell.*in mV"):
        identified(volts=1000.0)
