"""Recordings that can't be replayed say why; rows and differences are read as they were written."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("mcap")

from robomarl.core.config import UserError
from robomarl.field.replay.bag import open_bag
from robomarl.field.replay.flights import STEP_S, FlightRows, RobotRow
from robomarl.field.replay.recording import bundle_folder, recording_of
from robomarl.field.replay.tally import Largest, RobotTally
from robomarl.field.replay.ticks import TickTable, columns_of
from robomarl.front.cli import main
from robomarl.ros.io.fast_messages import RowsWriter
from robomarl.ros.recording.bag_writer import BagWriter
from robomarl.ros.recording.tick_record import tick_names
from robomarl.ros.robot.state_machine import State

ZERO = np.zeros(3)
NAMES = tick_names(["acceleration.x", "yaw_rate"], ("two",), ("a", "b"), ("load_pose",))


def bag(folder: Path, **about: str) -> Path:
    """A recording of nothing."""
    BagWriter(folder, {key.replace("__", "/"): value for key, value in about.items()}).close()
    return folder


def settings(*team: str, **more: object) -> str:
    """As the launch plan writes them into the metadata."""
    return json.dumps({"team": team, "index": 0, **more})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda folder: folder / "none", "there is no such recording"),
        (lambda folder: folder, "holds no .mcap file"),
        (lambda folder: bag(folder / "bag"), "name no policy_node"),
        (lambda folder: bag(folder / "bag", parameters__one__policy_node="{"), "is no JSON object"),
        (
            lambda folder: bag(
                folder / "bag",
                parameters__one__policy_node=settings("one"),
                parameters__red__policy_node=settings("red"),
            ),
            r"holds 2 teams \(one; red\)",
        ),
        (lambda folder: bag(folder / "bag", parameters__one__policy_node=settings("one")), "name it with --bundle"),
    ],
)
def test_what_can_not_be_replayed_is_named(make, says: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    assert main(["replay", str(make(tmp_path))]) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    with pytest.raises(UserError, match=says):
        raise UserError(printed)


def test_empty_files_and_foreign_metadata_are_named(tmp_path: Path):
    (tmp_path / "a_0.mcap").touch()
    with pytest.raises(UserError, match="its files are empty"):
        open_bag(tmp_path)
    for text, says in (("[", "is no YAML"), ("a: 1", "has no rosbag2_bagfile_information")):
        (tmp_path / "metadata.yaml").write_text(text)
        with pytest.raises(UserError, match=says):
            open_bag(tmp_path)


def test_files_come_in_the_order_of_the_metadata_and_the_tenth_after_the_ninth(tmp_path: Path):
    for i in (10, 9, 2, 0):
        (tmp_path / f"b_{i}.mcap").write_bytes(b"x")
    assert [file.name for file in open_bag(tmp_path).files] == ["b_0.mcap", "b_2.mcap", "b_9.mcap", "b_10.mcap"]
    about = {"rosbag2_bagfile_information": {"relative_file_paths": ["b_9.mcap", "b_0.mcap"]}}
    (tmp_path / "metadata.yaml").write_text(yaml.safe_dump(about))
    assert [file.name for file in open_bag(tmp_path).files][:2] == ["b_9.mcap", "b_0.mcap"]


def test_the_team_is_read_with_its_namespace_and_its_bundles(tmp_path: Path):
    about = {
        "parameters__lab__one__policy_node": settings("one", bundle="somewhere", radio_hz=25.0, unknown_here=1),
        "bundle_id__lab__one": "abc",
        "fleet": "pair",
    }
    found = recording_of(open_bag(bag(tmp_path / "bag", **about)))
    assert (found.base, found.team, found.fleet, found.bundles) == ("/lab", ("one",), "pair", {"one": "abc"})
    assert found.settings["one"].radio_hz == 25.0
    assert bundle_folder(found, "one", "given") == "given"
    assert bundle_folder(found, "one", "") == "somewhere"


@pytest.mark.parametrize("others", [(), ("three", "four")], ids=["one team", "two teams"])
def test_a_robot_that_is_in_no_team_of_a_recording_is_refused(tmp_path: Path, others: tuple[str, ...]):
    teams = [team for team in (("one", "two"), others) if team]
    about = {
        f"parameters__{name}__policy_node": settings(*team, index=index)
        for team in teams
        for index, name in enumerate(team)
    }
    found = open_bag(bag(tmp_path / "bag", **about))
    count = "2 teams" if others else r"1 team \(one, two\)"
    with pytest.raises(UserError, match=rf"bag: holds {count}.*, and nonsense is in none; name a robot of one: --team"):
        recording_of(found, "nonsense")
    assert recording_of(found, "two").team == ("one", "two")


def test_rows_of_ticks_are_read_back_by_name():
    columns = columns_of(NAMES)
    assert columns is not None
    values = np.arange(len(NAMES), dtype=float)
    assert [NAMES[i] for i in columns.sources.values()] == [
        "odometry.source_age_s",
        "two.source_age_s",
        "sensed.load_pose.source_age_s",
    ]
    assert [NAMES[int(v)] for v in values[columns.nominal]] == ["nominal.acceleration.x", "nominal.yaw_rate"]
    assert [NAMES[int(v)] for v in values[columns.observation]] == ["obs.a", "obs.b"]
    assert columns.seen == ("a", "b")
    table = TickTable()
    rows = table.rows(RowsWriter(",".join(NAMES), len(NAMES))([values, values + 1]))
    assert (rows == [values, values + 1]).all()
    assert columns_of(["stamp_s", "x"]) is None
    assert table.rows(RowsWriter("stamp_s,x", 2)([np.zeros(2)])).size == 0


def test_the_largest_difference_keeps_its_element_and_nothing_counts_as_equal_to_a_number():
    found = Largest()
    found.note(None, ("a", "b"))
    assert found.compared == 0
    found.note(np.array([0.0, -0.5]), ("a", "b"))
    found.note(np.array([0.4, 0.1]), ("a", "b"))
    assert (found.value, found.element, found.compared) == (0.5, "b", 2)
    found.note(np.array([np.nan, 0.1]), ("a", "b"))
    assert (found.value, found.element) == (np.inf, "a")


def test_what_is_beyond_training_by_a_hundredth_of_its_range_is_not_outside():
    tally = RobotTally(("a",), np.array([-1.0, 0.0]), np.array([1.0, 0.0]))
    for seen in ([1.0, 0.0], [1.019, 0.0], [1.021, 0.0], [-1.5, 1e-9], [0.0, np.nan]):
        tally._note_seen(np.array(seen), ("x", "constant"))
    assert (tally.seen, tally.outside_ticks, tally.outside.tolist()) == (4, 2, [2.0, 1.0])
    assert tally.out_of_range() == {"x": 0.5, "constant": 0.25}


def test_flights_are_cut_where_the_robots_do_not_fly():
    rows, pose = FlightRows(2), RobotRow(State.ACTIVE, ZERO, np.zeros(4), ZERO, ZERO, np.zeros(4), np.zeros(4), False)
    for k in range(40):
        for robot in range(2):
            rows.note(robot, k * STEP_S + 0.01, pose._replace(pos_m=np.array([k + 10.0 * robot, 0, 0])))
    for k in range(40, 60):
        rows.note(0, k * STEP_S + 0.01, pose)  # the other one says nothing
    for k in range(60, 90):
        for robot in range(2):
            rows.note(robot, k * STEP_S + 0.01, pose._replace(state=State.HOLD if k > 80 else State.ACTIVE))
    first, second = rows.flights(0.07, 0.2)
    assert (first.pos_m.shape, second.pos_m.shape) == ((40, 2, 3), (21, 2, 3))
    assert first.pos_m[3, 1, 0] == 13.0
    assert first.time_s[-1] == pytest.approx(39 * STEP_S)
