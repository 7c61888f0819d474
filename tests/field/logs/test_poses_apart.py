"""Poses of motion capture in a file of their own, whose clock, rate, unit and frame differ from those of the log."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("rclpy")
pytest.importorskip("matplotlib")

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.field.logs.compare import compare_logs, files_of, read_logs
from robomarl.field.logs.layout import LogLayout, load_log_layout, with_poses
from robomarl.field.logs.logged_flight import LoggedFlight
from robomarl.field.logs.poses_apart import TimedImu, TimedPoses, later_s
from robomarl.field.logs.read import read_log
from robomarl.field.real.samples import samples_of
from robomarl.front import cli
from tests.field.logs.flown_logs import LAYOUT, flown, written
from tests.field.logs.test_formats import MCAP, px4_topics, ulog_bytes, write_mcap

APART = replace(LAYOUT, truth=replace(LAYOUT.truth, time="stamp", length_unit="mm", file="{log}_poses.csv"))
POSES = (*LAYOUT.truth.position, *LAYOUT.truth.quaternion)
LATER_S, RATE_HZ = 1.7e9 - 5.4321, 120.0
FLIGHTS = Path(__file__).resolve().parents[4] / "shared" / "flights" / "nanobench"


def parted(folder: Path, seed: int, late_s: float = 0.0) -> tuple[Path, dict[str, np.ndarray]]:
    """One flight as a log without poses, beside a file with them; returns the log, and all columns of both.

    Motion capture begins 3 s later than the log, has another clock and rate, and counts in mm.
    """
    both = flown(seed, late_s)
    file = folder / f"B{seed + 2}_swing.csv"
    written(file, {name: values for name, values in both.items() if name not in POSES})
    even_s = np.arange(both[LAYOUT.time][0] + 3, both[LAYOUT.time][-1], 1 / RATE_HZ)
    poses = {name: np.interp(even_s, both[LAYOUT.time], both[name]) for name in POSES}
    scaled = {name: 1000 * poses[name] if name in LAYOUT.truth.position else poses[name] for name in POSES}
    written(folder / f"B{seed + 2}_swing_poses.csv", {"stamp": even_s - LATER_S, **scaled})
    return file, both


def test_poses_are_put_on_the_clock_of_the_log(tmp_path: Path):
    file, both = parted(tmp_path, 0)
    found, whole = read_log(file, APART), read_log(written(tmp_path / "whole.csv", both), LAYOUT)
    assert len(found.time_s) == pytest.approx(len(whole.time_s) - 300, abs=2)
    rows = np.searchsorted(whole.time_s, found.time_s - 1e-6)
    np.testing.assert_array_equal(found.gyro_rad_s, whole.gyro_rad_s[rows])
    apart = np.linalg.norm(found.true_m - whole.true_m[rows], axis=-1)
    assert np.quantile(apart, 0.99) < 0.01, "a few milliseconds; at its end the flight falls within a row"
    without = LAYOUT.truth.quaternion
    assert not set(without) & set(APART.columns) and set(without) <= set(APART.of_truth(file).columns)


def test_the_command_pairs_a_folder_by_the_layout_and_one_log_by_its_option(tmp_path: Path):
    for seed in range(2):
        parted(tmp_path, seed, 0.03 * seed)
    layout, files = with_poses(APART, files_of([tmp_path]), None)
    assert [file.name for file in files] == ["B2_swing.csv", "B3_swing.csv"]
    vehicle = load_any_vehicle("crazyflie_21")
    compared = compare_logs(read_logs(files, layout), layout, vehicle)
    flights, _ = samples_of(compared.flown, layout)
    middle = [float(np.median(flight.shift_s[flight.inner])) for flight in flights]
    assert middle == pytest.approx([0.0, 0.0], abs=0.008), "one constant was taken out already"
    file = tmp_path / "layout.toml"
    text = Path("hardware_configs/logs/nanobench.toml").read_text()
    file.write_text(text.replace("[truth]\n", '[truth]\ntime = "stamp"\nlength_unit = "mm"\n'))
    log, poses = tmp_path / "B2_swing.csv", tmp_path / "B2_swing_poses.csv"
    words = ["import-flights", str(log), "--layout", str(file), "--out", str(tmp_path / "page.html")]
    assert cli.main([*words, "--truth", str(poses)]) in (0, 1) and (tmp_path / "page.html").is_file()
    with pytest.raises(UserError, match="its poses are in a file of their own; name it in --truth"):
        read_log(log, load_log_layout(str(file)))


def test_what_can_not_be_joined_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (log, _), _ = parted(tmp_path, 0), parted(tmp_path, 1)
    other = replace(APART, truth=replace(APART.truth, file="B3_swing_poses.csv"))
    with pytest.raises(UserError, match=r"B2_swing.csv: .* poses of B3_swing_poses.csv are alike to \d\d% at best"):
        read_log(log, other)
    turned = (*reversed(APART.truth.quaternion[1:]), APART.truth.quaternion[0])
    with pytest.raises(UserError, match="alike to"):
        read_log(log, replace(APART, truth=replace(APART.truth, quaternion=turned)))  # type: ignore[arg-type]
    with pytest.raises(UserError, match="there is no column 'time'"):
        read_log(log, replace(APART, truth=replace(APART.truth, time="time")))
    with pytest.raises(ValueError, match="truth.time needs gyro or acceleration"):
        replace(APART, gyro=(), acceleration=())
    with pytest.raises(ValueError, match="truth.file needs truth.time"):
        replace(APART, truth=replace(APART.truth, time=""))
    one = tmp_path / "B2_swing_poses.csv"
    for layout, truth, files, said in (
        (LAYOUT, one, [log], "the layout lacks truth.time"),
        (APART, one, [log, tmp_path / "B3_swing.csv"], "has the poses of one log, and there are 2"),
        (APART, tmp_path / "none.csv", [log], "there is no such file"),
    ):
        with pytest.raises(UserError, match=said):
            with_poses(layout, files, truth)


def test_a_flight_that_repeats_itself_without_an_end_is_refused():
    time_s = np.arange(0, 60, 0.01)
    turn = 0.3 * np.sin(2 * np.pi * time_s / 3)
    rate = np.stack([np.gradient(turn, time_s), 0 * turn, 0 * turn], -1)
    quat = np.stack([np.cos(turn / 2), np.sin(turn / 2), 0 * turn, 0 * turn], -1)
    part = slice(1000, 1500)
    poses = TimedPoses(time_s[part], np.zeros((500, 3)), quat[part])
    imu = TimedImu(time_s, rate, np.zeros((len(time_s), 0)))
    with pytest.raises(UserError, match=r"can't be aligned, as the flight repeats itself after \d+\.\d s"):
        later_s((Path("a"), Path("b")), imu, poses)


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> LoggedFlight:
    return read_log(written(tmp_path_factory.mktemp("csv") / "flight.csv", flown(0)), LAYOUT)


def px4_layout(truth: LogLayout) -> LogLayout:
    """PX4's, with poses as ROS 2 records them: z up, while the log has z down."""
    own = replace(truth.truth, time="/mocap/pose", frame="flu", file="bag/bag.mcap")
    return replace(load_log_layout("px4"), truth=own, time="sensor_combined")


def test_ulog_with_poses_in_mcap(wanted: LoggedFlight, tmp_path: Path):
    pytest.importorskip("pyulog")
    pytest.importorskip("rosbags")
    write_mcap(tmp_path / "bag", wanted)
    topics = px4_topics(wanted)
    del topics["vehicle_visual_odometry"]
    (tmp_path / "flight.ulg").write_bytes(ulog_bytes(topics))
    found = read_log(tmp_path / "flight.ulg", px4_layout(MCAP))
    ours, theirs = found.time_s - found.time_s[0], wanted.time_s - wanted.time_s[0]
    apart = [
        np.abs(found.true_m - np.stack([np.interp(ours + s, theirs, column) for column in wanted.true_m.T], -1))
        for s in np.arange(0, 0.05, 0.002)
    ]
    assert min(np.quantile(each, 0.99) for each in apart) < 0.01 and np.ptp(found.time_s) > 23


@pytest.mark.slow
@pytest.mark.skipif(not FLIGHTS.is_dir(), reason="the public flights are not here")
def test_clocks_of_public_flights_are_found():
    """Within 50 ms of what the logs' own rows say, whose shift is itself -120 to 35 ms; other flights are refused."""
    logs = [read_log(file, LAYOUT) for file in files_of([FLIGHTS]) if "B7_oval_slow" not in file.name]
    for log, other in zip(logs, [*logs[1:], logs[0]], strict=True):
        imu = TimedImu(log.time_s, log.gyro_rad_s, log.force_m_s2)
        poses = TimedPoses(log.time_s[137:] - 1234.5, log.true_m[137:], log.true_quat[137:])
        assert later_s((log.file, log.file), imu, poses) == pytest.approx(1234.5, abs=0.05), log.file
        with pytest.raises(UserError, match="are alike to"):
            later_s((log.file, other.file), imu, TimedPoses(other.time_s, other.true_m, other.true_quat))
