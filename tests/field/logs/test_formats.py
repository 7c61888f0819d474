"""A flight as ULog, on a Crazyflie's card and in MCAP, by writers that share no code with the readers."""

import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("rclpy")

from robomarl.core.config import UserError
from robomarl.field.logs.compare import files_of
from robomarl.field.logs.flown import in_flight
from robomarl.field.logs.layout import EstimateColumns, LogLayout, TruthColumns, load_log_layout
from robomarl.field.logs.read import LoggedFlight, read_log
from tests.field.logs.flown_logs import LAYOUT, flown, written

MILLI = 1000
DOWN3, DOWN4 = np.array([1, -1, -1]), np.array([1, 1, -1, -1])


@pytest.fixture(scope="module")
def columns() -> dict[str, np.ndarray]:
    return flown(0)


@pytest.fixture(scope="module")
def wanted(columns: dict[str, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> LoggedFlight:
    return read_log(written(tmp_path_factory.mktemp("csv") / "flight.csv", columns), LAYOUT)


def same(found: LoggedFlight, wanted: LoggedFlight, names: tuple[str, ...]) -> None:
    """Compare two logs of one flight, whose clocks have different zeros."""
    found_s, wanted_s = found.time_s - found.time_s[0], wanted.time_s - wanted.time_s[0]
    assert np.ptp(found.time_s) == pytest.approx(np.ptp(wanted.time_s), abs=0.25)
    for name in names:
        given = getattr(found, name)
        for index in range(given.shape[1]):
            at = np.interp(found_s, wanted_s, getattr(wanted, name)[:, index])
            error = np.abs(given[:, index] - at)
            assert np.quantile(error, 0.98) < 0.02 * max(1.0, np.abs(at).max()), (name, index)
    assert abs(np.ptp(found.time_s[in_flight(found)]) - np.ptp(wanted.time_s[in_flight(wanted)])) < 0.1


def ulog_bytes(topics: Mapping[str, tuple[np.ndarray, dict[str, np.ndarray]]]) -> bytes:
    """Bytes by PX4's description of the format; fields are arrays of floats.

    Args:
        topics: times in us and fields [N, C] of each topic.
    """

    def message(kind: str, body: bytes) -> bytes:
        return struct.pack("<HB", len(body), ord(kind)) + body

    out = [b"ULog\x01\x12\x35\x01" + struct.pack("<Q", 0), message("B", bytes(40))]
    for name, (_, fields) in topics.items():
        parts = "".join(f"float[{v.shape[1]}] {f};" if v.shape[1] > 1 else f"float {f};" for f, v in fields.items())
        out.append(message("F", f"{name}:uint64_t timestamp;{parts}".encode()))
    out += [message("A", struct.pack("<BH", 0, number) + name.encode()) for number, name in enumerate(topics)]
    data = []
    for number, (times, fields) in enumerate(topics.values()):
        table = np.concatenate(list(fields.values()), 1).astype("<f4")
        data += [(t, number, row.tobytes()) for t, row in zip(times, table, strict=True)]
    out += [
        message("D", struct.pack("<HQ", number, int(t)) + row) for t, number, row in sorted(data, key=lambda d: d[0])
    ]
    return b"".join(out)


def px4_topics(wanted: LoggedFlight) -> dict[str, tuple[np.ndarray, dict[str, np.ndarray]]]:
    """Topics of PX4, x forward, y right, z down, at several rates."""

    def rows(step: int) -> tuple[np.ndarray, slice]:
        return np.round(1e6 * (wanted.time_s - wanted.time_s[0]))[::step] + 5e6, slice(None, None, step)

    (all_us, every), (slow_us, slow) = rows(1), rows(20)
    motors = wanted.motors / 65535
    quat = wanted.true_quat * DOWN4
    quat[200:400] *= -1  # one attitude has two quaternions
    return {
        "vehicle_visual_odometry": (all_us, {"position": wanted.true_m * DOWN3, "q": quat}),
        "vehicle_odometry": (all_us[::2], {
            "position": (wanted.estimated_m * DOWN3)[::2], "velocity": (wanted.estimated_m_s * DOWN3)[::2],
            "q": (wanted.believed_quat * DOWN4)[::2]}),
        "sensor_combined": (all_us, {"gyro_rad": wanted.gyro_rad_s[every] * DOWN3,
                            "accelerometer_m_s2": wanted.force_m_s2[every] * DOWN3}),
        "actuator_motors": (all_us, {"control": motors}),
        "battery_status": (slow_us, {"voltage_v": wanted.battery_v[slow, None]}),
    }  # fmt: skip


def test_ulog_of_px4(wanted: LoggedFlight, tmp_path: Path):
    pytest.importorskip("pyulog")
    file, layout = tmp_path / "flight.ulg", load_log_layout("px4")
    file.write_bytes(ulog_bytes(px4_topics(wanted)))
    found = read_log(file, layout)
    same(found, wanted, ("true_m", "true_quat", "estimated_m", "estimated_m_s", "force_m_s2", "gyro_rad_s"))
    assert files_of([tmp_path], "ulog") == [file]
    without = px4_topics(wanted)
    del without["battery_status"]
    file.write_bytes(ulog_bytes(without))
    with pytest.raises(UserError, match="there is no topic 'battery_status'"):
        read_log(file, layout)
    file.write_bytes(ulog_bytes(px4_topics(wanted) | {"vehicle_odometry": without["sensor_combined"]}))
    with pytest.raises(UserError, match=r"topic 'vehicle_odometry' has no field 'position\[0\]'"):
        read_log(file, layout)
    file.write_bytes(b"not a log")
    with pytest.raises(UserError, match="can't be read as ULog"):
        read_log(file, layout)


def test_ulog_that_is_cut_short_or_damaged_is_one_sentence(wanted: LoggedFlight, tmp_path: Path, capfd):
    """Wherever it is cut; what is whole can be read once the rest is cut off as the sentence says."""
    pytest.importorskip("pyulog")
    file, layout, raw = tmp_path / "flight.ulg", load_log_layout("px4"), ulog_bytes(px4_topics(wanted))
    for length in (17, 60, 300, len(raw) // 2 + 3, len(raw) - 1):
        file.write_bytes(raw[:length])
        with pytest.raises(
            UserError, match=rf"flight.ulg: is cut short or damaged: .* of {length}; copy it again"
        ) as error:
            read_log(file, layout)
        assert "\n" not in str(error.value)
    file.write_bytes(raw[: int(str(error.value).rpartition(" ")[2].rstrip("."))])
    assert len(read_log(file, layout).time_s) > 0.9 * len(wanted.time_s)
    file.write_bytes(raw[:16])
    with pytest.raises(UserError, match="no message of any topic is in it"):
        read_log(file, layout)
    middle = len(raw) // 2
    file.write_bytes(raw[:middle] + bytes(501) + raw[middle + 501 :])
    with pytest.raises(UserError, match="damaged|backwards"):
        read_log(file, layout)
    assert capfd.readouterr() == ("", "")


def card_bytes(version: int, time_s: np.ndarray, fields: Mapping[str, np.ndarray]) -> bytes:
    """Bytes as the firmware's own reader describes them: one kind of events, and a second that is not asked for."""
    head = struct.pack("<BHH", 0xBC, version, 2)
    head += struct.pack("<H", 7) + b"fixedFrequency\0" + struct.pack("<H", len(fields))
    head += b"".join(f"{name}(f)".encode() + b"\0" for name in fields)
    head += struct.pack("<H", 9) + b"estTDOA\0" + struct.pack("<H", 2) + b"idA(B)\0distanceDiff(f)\0"
    clock, unit = ("I", 1e3) if version == 1 else ("Q", 1e6)
    out = [head]
    for k, (t, row) in enumerate(zip(time_s - time_s.min() + 3, np.stack(list(fields.values()), -1), strict=True)):
        out.append(struct.pack(f"<H{clock}{len(row)}f", 7, round(unit * t), *row))
        if k % 10 == 0:
            out.append(struct.pack(f"<H{clock}Bf", 9, round(unit * t), k % 256, 0.5))
    data = b"".join(out)
    return data + struct.pack("<I", crc32(data))


def card_fields(wanted: LoggedFlight, layout: LogLayout) -> dict[str, np.ndarray]:
    groups = (
        (layout.truth.position, wanted.true_m), (layout.truth.quaternion, wanted.true_quat),
        (layout.estimate.position, wanted.estimated_m), (layout.estimate.velocity, wanted.estimated_m_s),
        (layout.estimate.quaternion, wanted.believed_quat), (layout.motors, wanted.motors),
        (layout.acceleration, wanted.force_m_s2 / 9.81), (layout.gyro, np.degrees(wanted.gyro_rad_s)),
        (layout.setpoint.tilt, np.degrees(wanted.tilt_order_rad) * (1, -1)),
        ((layout.battery,), wanted.battery_v[:, None]),
    )  # fmt: skip
    return {
        name.split(":")[1]: column for names, values in groups for name, column in zip(names, values.T, strict=True)
    }


@pytest.mark.parametrize("version", [1, 2])
def test_the_card_of_a_crazyflie(version: int, wanted: LoggedFlight, tmp_path: Path):
    file, layout = tmp_path / "log00", load_log_layout("crazyflie_card")
    content = card_bytes(version, wanted.time_s, card_fields(wanted, layout))
    file.write_bytes(content)
    names = ("true_m", "true_quat", "estimated_m", "force_m_s2", "gyro_rad_s", "motors", "tilt_order_rad")
    same(read_log(file, layout), wanted, names)
    assert files_of([tmp_path], "crazyflie") == [file]
    for spoilt, said in (
        (content[:-1], "its checksum is wrong"),
        (b"x" + content[1:], "begins with 0xBC"),
        (card_bytes(3, wanted.time_s[:5], {"a.b": np.zeros(5)}), "is of version 3; 1 and 2 can be read"),
        (card_bytes(version, wanted.time_s[:5], {"a.b": np.zeros(5)}), "has no field 'locSrv.x'"),
        (card_bytes(version, wanted.time_s[::-1], card_fields(wanted, layout)), "runs backwards in message 2"),
    ):
        file.write_bytes(spoilt)
        with pytest.raises(UserError, match=said):
            read_log(file, layout)


MCAP = LogLayout(
    "crazyflie_21",
    "/mocap/pose",
    TruthColumns(
        ("/mocap/pose:pose.position.x", "/mocap/pose:pose.position.y", "/mocap/pose:pose.position.z"),
        ("/mocap/pose:pose.orientation.w", "/mocap/pose:pose.orientation.x", "/mocap/pose:pose.orientation.y",
         "/mocap/pose:pose.orientation.z"),
    ),
    EstimateColumns(
        "filter",
        ("/cf/state:data[0]", "/cf/state:data[1]", "/cf/state:data[2]"),
        ("/cf/state:data[3]", "/cf/state:data[4]", "/cf/state:data[5]"),
    ),
    format="mcap",
)  # fmt: skip


def write_mcap(folder: Path, wanted: LoggedFlight) -> None:
    """Poses and states as ROS 2 records them, by the library `rosbags`."""
    from geometry_msgs.msg import PoseStamped
    from rclpy.serialization import serialize_message
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore
    from std_msgs.msg import Float64MultiArray

    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        known = get_typestore(Stores.ROS2_HUMBLE)
        poses = bag.add_connection("/mocap/pose", "geometry_msgs/msg/PoseStamped", typestore=known)
        states = bag.add_connection("/cf/state", "std_msgs/msg/Float64MultiArray", typestore=known)
        for k, time_s in enumerate(wanted.time_s):
            pose = PoseStamped()
            pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = map(float, wanted.true_m[k])
            way = pose.pose.orientation
            way.w, way.x, way.y, way.z = map(float, wanted.true_quat[k])
            bag.write(poses, int(1e9 * time_s), serialize_message(pose))
            state = Float64MultiArray(data=[*map(float, wanted.estimated_m[k]), *map(float, wanted.estimated_m_s[k])])
            bag.write(states, int(1e9 * time_s) + 1_000_000, serialize_message(state))


def test_mcap_of_others(wanted: LoggedFlight, tmp_path: Path):
    pytest.importorskip("rosbags")
    write_mcap(tmp_path / "bag", wanted)
    (file,) = files_of([tmp_path / "bag"], "mcap")
    same(read_log(file, MCAP), wanted, ("true_m", "true_quat", "estimated_m", "estimated_m_s"))
    far = replace(MCAP, estimate=replace(MCAP.estimate, velocity=tuple(f"/cf/state:data[{k}]" for k in (6, 7, 8))))
    with pytest.raises(UserError, match="topic '/cf/state', std_msgs/msg/Float64MultiArray: .*index out of range"):
        read_log(file, far)
    with pytest.raises(UserError, match="there is no topic '/cf/stata'"):
        read_log(file, replace(MCAP, battery="/cf/stata:data[0]"))
    with pytest.raises(ValueError, match="column 'px' must be TOPIC:FIELD, as format is mcap"):
        replace(MCAP, battery="px")


def test_mcap_that_is_cut_short_or_damaged_is_one_sentence(wanted: LoggedFlight, tmp_path: Path):
    pytest.importorskip("rosbags")
    write_mcap(tmp_path / "bag", wanted)
    (file,) = files_of([tmp_path / "bag"], "mcap")
    raw, cut = file.read_bytes(), tmp_path / "cut.mcap"
    for length in (3, 200, len(raw) // 2, len(raw) - 1):
        cut.write_bytes(raw[:length])
        with pytest.raises(
            UserError, match=r"cut.mcap: can't be read to its end .*; copy it again, or mend it"
        ) as error:
            read_log(cut, MCAP)
        assert "\n" not in str(error.value)
    cut.write_bytes(raw[: len(raw) // 2] + bytes(500) + raw[len(raw) // 2 + 500 :])
    with pytest.raises(UserError, match=r"cut.mcap: a part of it is damaged .*; copy it again, or mend it"):
        read_log(cut, MCAP)
