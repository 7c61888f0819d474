"""Recordings of other software: what is read, what is worked out, and what is said to be missing."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mcap")

from robomarl.core.config import UserError
from robomarl.field.foreign_bags.collect import read_foreign
from robomarl.field.foreign_bags.layout import ForeignLayout, load_layout
from robomarl.field.foreign_bags.messages import full_state, mavros_target, px4_odometry, px4_setpoint, world_odometry
from robomarl.field.foreign_bags.motion import in_recorder_time, parts_by_clock, slopes
from robomarl.field.foreign_bags.ticks import foreign_tracks
from robomarl.field.replay.bag import open_bag
from robomarl.front.cli import main
from robomarl.lab.dataset import read_dataset
from tests.ros.foreign.handmade_bag import BEGAN_S, PERIOD_S, odometry, path, pose, write_bag

TICKS = 100
TIME_S = np.arange(TICKS) * PERIOD_S
TRUTH = path(TIME_S)
PAIR = {"one": "a/uav1", "two": "a/uav2"}
ODOM, POSE = "nav_msgs/msg/Odometry", "geometry_msgs/msg/PoseStamped"


def layout(**more: object) -> ForeignLayout:
    return ForeignLayout("swap_4", "mavros", **{"robots": PAIR, **more})  # type: ignore[arg-type]


def test_odometry_is_read_in_our_frames(tmp_path: Path):
    topics = {f"/{PAIR['one']}/local_position/odom": (ODOM, odometry(TRUTH))}
    found = read_foreign(write_bag(tmp_path / "bag", topics, TICKS), layout())
    one = found.robots["one"]
    truth = np.concatenate([TRUTH.pos, TRUTH.quat, TRUTH.vel, TRUTH.omega], -1)
    assert one.state == pytest.approx(truth, abs=1e-9)
    assert one.seen_s == pytest.approx(BEGAN_S + TIME_S, abs=1e-6)
    assert (one.estimated, len(one.sent_s)) == ((), 0)
    assert found.problems == (
        "one: the bag has no command to it; nothing is learned from its own motion.",
        "two: the bag has no state estimate of it.",
    )


def test_a_velocity_that_is_missing_is_worked_out_and_marked(tmp_path: Path):
    topics = {f"/{name}/pose": (POSE, pose(TRUTH)) for name in PAIR.values()}
    found = read_foreign(write_bag(tmp_path / "bag", topics, TICKS), layout(estimate="pose"))
    one = found.robots["one"]
    assert one.estimated == ("velocity", "body rates")
    assert one.state[:, 7:10] == pytest.approx(TRUTH.vel, abs=0.01)
    assert one.state[3:-3, 7:10] == pytest.approx(TRUTH.vel[3:-3], abs=1e-3)
    assert one.state[:, 10:] == pytest.approx(TRUTH.omega, abs=1e-3)
    assert "one: its velocity is not in the bag and was worked out." in found.problems


@pytest.mark.parametrize("jump_s", [-3.0, 40.0])
def test_a_clock_that_jumps_cuts_the_flight_and_is_said(tmp_path: Path, jump_s: float):
    topics = {f"/{PAIR['one']}/local_position/odom": (ODOM, odometry(TRUTH, (60, jump_s)))}
    found = read_foreign(write_bag(tmp_path / "bag", topics, TICKS), layout())
    one = found.robots["one"]
    assert one.part.tolist() == [0] * 60 + [1] * 40
    assert one.seen_s == pytest.approx(BEGAN_S + TIME_S, abs=0.005)  # by the recorder's clock
    assert f"one: a clock jumps by {-jump_s:+.1f} s; the flight is cut there." in found.problems


def test_stamps_of_another_clock_are_taken_as_received_at_the_fastest():
    received = np.array([10.0, 10.02, 10.05, 10.06])
    assert in_recorder_time(received, received - 10 - np.array([0.01, 0.0, 0.02, 0.0])) == pytest.approx(
        received - [0.01, 0.0, 0.02, 0.0]
    )
    assert (in_recorder_time(received, received - 0.03) == received - 0.03).all()
    assert len(parts_by_clock(received, received - np.array([0.01, 0.04, 0.02, 0.0]))) == 1


def test_slopes_are_exact_where_acceleration_is_constant():
    time_s = np.arange(40) * 0.01
    found = slopes(time_s, (1.5 * time_s**2 - time_s)[:, None])[:, 0]
    assert found[1:-1] == pytest.approx(3 * time_s[1:-1] - 1, abs=1e-9)


def test_others_and_wrong_types_are_said(tmp_path: Path):
    topics = {f"/{name}/local_position/odom": (ODOM, odometry(TRUTH)) for name in ("a/uav1", "b/uav7")}
    topics["/a/uav2/local_position/odom"] = ("geometry_msgs/msg/PointStamped", _point)
    found = read_foreign(write_bag(tmp_path / "bag", topics, 20), layout())
    assert set(found.robots) == {"one"}
    said = " ".join(found.problems)
    assert "the layout does not name /b/uav7, which the bag has too" in said
    assert "/a/uav2/local_position/odom is of type geometry_msgs/msg/PointStamped; read are nav_msgs" in said


def _point(k: int) -> object:
    from geometry_msgs.msg import PointStamped

    return PointStamped()


def test_half_a_bag_gives_what_is_in_it(tmp_path: Path):
    topics = {f"/{PAIR['one']}/local_position/odom": (ODOM, odometry(TRUTH))}
    (file,) = write_bag(tmp_path / "bag", topics, TICKS).glob("*.mcap")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    found = read_foreign(tmp_path / "bag", layout())
    assert 10 < len(found.robots["one"].seen_s) < TICKS
    assert "can't be read to its end" in found.problems[0]


def test_a_damaged_byte_costs_a_part_and_is_said(tmp_path: Path):
    topics = {f"/{PAIR['one']}/local_position/odom": (ODOM, odometry(TRUTH))}
    (file,) = write_bag(tmp_path / "bag", topics, TICKS).glob("*.mcap")
    whole = file.read_bytes()
    for place in range(200, len(whole) - 200, len(whole) // 12):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        bag = open_bag(tmp_path / "bag")
        read = sum(1 for _ in bag.messages())
        assert read == TICKS or (read < TICKS and "missing here" in bag.problems[0]), place
    assert read > TICKS // 2  # the last part is lost, the others are not


def test_the_same_recording_does_not_count_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    bag = write_bag(tmp_path / "bag", {"/uav1/local_position/odom": (ODOM, odometry(TRUTH))}, 20)
    shutil.copytree(bag, tmp_path / "copy")
    for command in ("identify", "dataset"):
        assert main([command, str(bag), str(tmp_path / "copy"), "--out", str(tmp_path / "out")]) == 1
        assert "copy: is the same recording as" in capsys.readouterr().err


def test_a_data_set_that_can_not_be_written_is_said_before_the_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "file").touch()
    assert main(["dataset", "--fly", "swap_4", "--out", str(tmp_path / "file" / "set.parquet")]) == 1
    assert "--out" in (said := capsys.readouterr().err) and "can't be written" in said and said.count("\n") == 1


def test_what_can_not_be_read_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "layout.toml"
    file.write_text('scenario = "swap_4"\nstack = "mavros"\n[robots]\none = "uav1"\n')
    bag = write_bag(tmp_path / "bag", {"/uav1/local_position/odom": (ODOM, odometry(TRUTH))}, 20)
    other = write_bag(tmp_path / "other", {"/uav9/local_position/odom": (ODOM, odometry(TRUTH))}, 20)
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "a_0.mcap").touch()
    for folder, says in (
        (bag, "no robot was commanded while there were estimates of it"),
        (other, "holds no state estimate, as on /uav1/local_position/odom; it holds /uav9/local_position/odom"),
        (empty, "its files are empty"),
    ):
        assert main(["identify", str(folder), "--layout", str(file), "--out", str(tmp_path / "no")]) == 1
        printed = capsys.readouterr().err
        assert says in printed
        assert printed.count("\n") == 1
    with pytest.raises(UserError, match="no such file"):
        load_layout(tmp_path / "none.toml")
    file.write_text('scenario = "swap_4"\nstack = "px5"\n[robots]\none = "uav1"\n')
    with pytest.raises(UserError, match=r"layout\.toml: stack"):
        load_layout(file)
    with pytest.raises(ValueError, match="goals_m names nobody"):
        layout(goals_m={"nobody": (0.0, 0.0, 1.0)})


def test_messages_of_px4_are_turned_into_our_frames():
    """North-east-down, heading north: a metre north and two east, moving up, turning right."""
    said = SimpleNamespace(
        pose_frame=1, velocity_frame=1, position=[1, 2, -3], q=[1, 0, 0, 0], velocity=[0, 0, -1],
        angular_velocity=[0, 0, 0.5], timestamp=7_000_000, timestamp_sample=0,
    )  # fmt: skip
    seen = px4_odometry(said)
    assert seen.stamp_s == 7.0
    assert (seen.pos_m.tolist(), seen.vel_m_s.tolist()) == ([2, 1, 3], [0, 0, 1])
    assert seen.quat_wxyz == pytest.approx([np.sqrt(0.5), 0, 0, np.sqrt(0.5)])  # from east to north
    assert seen.omega_rad_s.tolist() == [0, 0, -0.5]
    with pytest.raises(ValueError, match=r"is in frames \(2, 1\)"):
        px4_odometry(SimpleNamespace(**{**vars(said), "pose_frame": 2}))
    told = px4_setpoint(SimpleNamespace(timestamp=1_000_000, acceleration=[1, 2, -3], yawspeed=0.25))
    assert told.command.tolist() == [2, 1, 3, -0.25]
    with pytest.raises(ValueError, match="sets no acceleration"):
        px4_setpoint(SimpleNamespace(timestamp=0, acceleration=[np.nan] * 3, yawspeed=0.0))


def test_commands_of_mavros_and_crazyswarm_and_its_velocity_in_the_world():
    header = SimpleNamespace(stamp=SimpleNamespace(sec=3, nanosec=500_000_000))
    accel, zero = SimpleNamespace(x=1.0, y=2.0, z=3.0), SimpleNamespace(x=0.0, y=0.0, z=0.4)
    target = SimpleNamespace(header=header, type_mask=0, acceleration_or_force=accel, yaw_rate=0.1)
    assert mavros_target(target).command.tolist() == [1, 2, 3, 0.1]
    with pytest.raises(ValueError, match="type_mask 64"):
        mavros_target(SimpleNamespace(**{**vars(target), "type_mask": 64}))
    told = full_state(SimpleNamespace(header=header, acc=accel, twist=SimpleNamespace(angular=zero)))
    assert (told.stamp_s, told.command.tolist()) == (3.5, [1, 2, 3, 0.4])
    turn = SimpleNamespace(w=np.sqrt(0.5), x=0.0, y=0.0, z=np.sqrt(0.5))
    inside = SimpleNamespace(pose=SimpleNamespace(position=accel, orientation=turn))
    twist = SimpleNamespace(twist=SimpleNamespace(linear=accel, angular=zero))
    seen = world_odometry(SimpleNamespace(header=header, pose=inside, twist=twist))
    assert seen.vel_m_s.tolist() == [1, 2, 3]
    assert np.isnan(seen.omega_rad_s).all()


@pytest.mark.slow
@pytest.mark.ros
def test_commands_make_tracks_and_rows(foreign_messages: Path, tmp_path: Path):
    """What Crazyswarm2 records of two vehicles: the velocity is there, body rates are not."""
    from crazyflie_interfaces.msg import FullState  # type: ignore[import-not-found]

    from tests.ros.foreign.handmade_bag import stamped

    def told(k: int) -> object:
        message = stamped(FullState(), k, 0.002)
        message.acc.x, message.acc.y, message.acc.z = TRUTH.acc[k].tolist()
        message.twist.angular.z = 0.3
        return None if 40 <= k < 60 else message

    level = path(TIME_S)
    level.quat = np.tile([1.0, 0.0, 0.0, 0.0], (TICKS, 1))  # so that the body's velocity is the world's
    apart = SimpleNamespace(**{**vars(level), "pos": level.pos + [0.0, 0.0, 0.5]})
    topics = {}
    for name, truth in (("cf1", level), ("cf2", apart)):
        topics[f"/{name}/odom"] = (ODOM, odometry(truth))
        topics[f"/{name}/cmd_full_state"] = ("crazyflie_interfaces/msg/FullState", told)
    bag, file = write_bag(tmp_path / "bag", topics, TICKS), tmp_path / "layout.toml"
    file.write_text(
        'scenario = "swap_4"\nstack = "crazyswarm"\n[robots]\none = "cf1"\ntwo = "cf2"\n'
        "[goals_m]\none = [0.0, 0.0, 1.0]\ntwo = [1.0, 0.0, 1.0]\n"
    )
    first, second, *_ = foreign_tracks(read_foreign(bag, load_layout(file)))
    assert (len(first.sent_s), len(second.sent_s)) == (40, 40)
    assert first.vel_m_s == pytest.approx(TRUTH.vel[:40], abs=1e-9)
    assert first.command[:, :3] == pytest.approx(TRUTH.acc[:40])
    out = tmp_path / "rows.parquet"
    words = ["dataset", str(bag), "--layout", str(file), "--bundle", "swap_4", "--out", str(out)]
    assert main([*words, "--json", str(tmp_path / "rows.json")]) == 0
    assert json.loads((tmp_path / "rows.json").read_text())["rows"] == 160
    data = read_dataset(out)
    assert data.about["foreign"]["estimated"]["one"] == ["body rates"]
    assert not data.columns["whole"].any()
    assert data.columns["follows"].sum() == 156
    row = data.columns["observation"][0]
    names = data.names("observation")
    assert row[:3] == pytest.approx([0.0, 0.0, 1.0] - TRUTH.pos[0], abs=1e-6)
    assert row[names.index("neighbours[0].dz")] == pytest.approx(0.5, abs=1e-3)  # on from where it was seen
