"""`robomarl up`, from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from robomarl.core.config import UserError
from robomarl.front.cli import main
from robomarl.front.cli.up import Args, recording


def errors(capsys: pytest.CaptureFixture, *words: str, status: int = 1) -> str:
    assert main(["up", *words]) == status
    return capsys.readouterr().err.strip()


def test_mistakes_are_one_sentence(capsys: pytest.CaptureFixture):
    assert "Unknown fleet 'nowhere'" in errors(capsys, "nowhere")
    assert "--flights needs --sim mujoco" in errors(capsys, "local_4", "--flights", "2", status=2)
    assert "--ground needs --sim mujoco" in errors(capsys, "local_4", "--ground", status=2)
    said = errors(capsys, "local_4", "--sim", "mujoco", "--flights", "-1", status=2)
    assert "--flights -1 is out of range; it must be at least 0." in said


def test_without_ros_it_says_what_to_install(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch):
    import sys

    for name in [n for n in sys.modules if n.split(".")[0] == "rclpy" or n.startswith("robomarl.ros")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rclpy", None)
    said = errors(capsys, "local_4", "--sim", "mujoco")
    assert "rclpy is not installed; run: pip install 'robomarl[ros]'" in said


@pytest.fixture
def pair(tmp_path: Path) -> str:
    names = enumerate(("one", "two"))
    robots = [{"name": name, "index": index, "folder": str(tmp_path / name)} for index, name in names]
    content = {"version": 1, "name": "pair", "vehicle": "crazyflie_21", "scenario": "swap_2", "robots": robots}
    (tmp_path / "pair.yaml").write_text(yaml.safe_dump(content))
    return str(tmp_path / "pair.yaml")


@pytest.mark.ros
def test_it_flies_and_writes_its_figures(pair: str, goto_bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture):
    pytest.importorskip("rclpy")
    pytest.importorskip("mujoco")
    figures = tmp_path / "figures.json"
    words = ["--sim", "mujoco", "--flights", "1", "--seed", "5", "--bundle", str(goto_bundle)]
    words += ["--out", str(tmp_path / "out"), "--record", str(tmp_path / "bag"), "--json", str(figures)]
    status = main(["up", pair, *words])
    printed = capsys.readouterr()
    assert status == 0, printed.err
    assert "flight 5: arrived after" in printed.out
    assert "1 of 1 flights succeeded" in printed.out
    assert "[/one/policy_node]" in printed.err
    found = json.loads(figures.read_text())
    (flight,) = found["flights"]
    assert (flight["success"], flight["collisions"], found["success_rate"]) == (True, 0, 1.0)
    assert Path(flight["log"]).is_file()
    assert (tmp_path / "bag" / "metadata.yaml").is_file()
    check_replay(tmp_path / "bag", 0.0)
    check_short_flights(tmp_path, capsys)
    check_dataset(tmp_path)
    check_another_bundle(tmp_path)
    check_legal_forms(tmp_path)
    check_altered_messages(tmp_path)
    check_cut_recording(tmp_path)
    check_two_processes(tmp_path / "bag")


def check_two_processes(bag: Path) -> None:
    """Each decides again for one of two robots: all that comes of it is the same, what is missing is said once."""
    from robomarl.field.replay.parts import ReplayJob, replay_parts

    shares: list[float] = []
    whole, parts = (replay_parts(ReplayJob(bag, tracks=True), shares.append, count) for count in (1, 2))
    assert len(whole.problems) == 1
    assert (whole.problems, whole.causes, whole.recorded_s) == (parts.problems, parts.causes, parts.recorded_s)
    assert str([t.figures() for t in whole.tallies.values()]) == str([t.figures() for t in parts.tallies.values()])
    assert list(whole.tallies) == list(parts.tallies) == ["one", "two"]
    pairs = zip(whole.tracks.tracks(whole.tallies), parts.tracks.tracks(parts.tallies), strict=True)
    assert all(np.array_equal(a.pos_m, b.pos_m) and (a.robot, a.flight) == (b.robot, b.flight) for a, b in pairs)
    (log,), (other,) = (part.rows.flights(0.1, 0.2) for part in (whole, parts))
    assert log.pos_m.shape[1] == 2
    assert np.array_equal(log.pos_m, other.pos_m)
    assert 0.8 < max(shares) <= 1.0
    with pytest.raises(UserError, match="nowhere"):
        replay_parts(ReplayJob(bag, "nowhere"), processes=2)


def check_dataset(folder: Path) -> None:
    """Read by pyarrow alone: the observation is the goal error and the velocity that stand beside it in the row."""
    parquet = pytest.importorskip("pyarrow.parquet")
    file = folder / "flights.parquet"
    assert main(["dataset", str(folder / "bag"), "--out", str(file)]) == 0
    table = parquet.read_table(file)
    about = json.loads(table.schema.metadata[b"robomarl"])
    assert [e["name"] for e in about["observation"]][:2] == ["goal_error.x", "goal_error.y"]
    rows = [row for row in table.to_pylist() if row["state"] == "ACTIVE"]
    assert {row["robot"] for row in rows} == {"one", "two"}
    for row in rows:
        error = [goal - at for goal, at in zip(row["goal_m"], row["pos_m"], strict=True)]
        assert row["observation"] == pytest.approx([*error, *row["vel_m_s"]], abs=1e-5)
    first, *later = [row for row in table.to_pylist() if row["robot"] == "one"]
    assert not first["follows"]
    assert sum(row["follows"] for row in later) > 50


def check_another_bundle(folder: Path) -> None:
    """A policy that differs by a quarter of a thousandth is found, and said to be another one."""
    from robomarl.field.replay.replayed import replay_bag
    from tests.ros import bundles

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundles, "VELOCITY_PER_S", 4.001)
        other = bundles.make_bundle(folder / "other")
    found = replay_bag(folder / "bag", str(other))
    assert not found.is_recorded_bundle
    assert all(0.0 < tally.policy.value < 0.01 for tally in found.tallies.values())


def check_legal_forms(folder: Path) -> None:
    """What comes of a recording does not depend on the form of its files, in any bit."""
    from robomarl.field.replay.figures import figures_of
    from robomarl.field.replay.replayed import replay_bag
    from tests.ros.recording import rewritten

    def found(bag: Path) -> tuple[str, list[bytes], bytes]:
        replayed = replay_bag(bag, tracks=True)
        figures = figures_of(replayed)
        del figures["seconds"], figures["real_time_factor"], figures["problems"]
        assert main(["dataset", str(bag), "--out", str(folder / "form.parquet")]) == 0
        tracks = [np.ascontiguousarray(part).tobytes() for track in replayed.tracks for part in track[2:8]]
        return str(figures), tracks, (folder / "form.parquet").read_bytes()

    as_recorded = found(folder / "bag")
    assert len(as_recorded[1]) == 12
    for name in ("topic_by_topic", "no_chunks", "zstd_file", "split_told_backwards", "sqlite"):
        assert found(rewritten.FORMS[name](folder / "bag", folder / name)) == as_recorded, name
    assert found(rewritten.twice(folder / "bag", folder / "twice")) == as_recorded
    assert found(rewritten.with_others(folder / "bag", folder / "others")) == as_recorded


def check_altered_messages(folder: Path) -> None:
    """Odometry that is not what the robots used: actions are as they were, commands and observations are not."""
    from nav_msgs.msg import Odometry
    from rclpy.serialization import deserialize_message, serialize_message

    from tests.ros.recording import rewritten

    def shift(messages: list[rewritten.Said]) -> list[rewritten.Said]:
        altered = []
        for one in messages:
            if one.topic == "/one/odometry":
                said = deserialize_message(one.data, Odometry)
                said.pose.pose.position.x += 0.5
                one = one._replace(data=serialize_message(said))
            altered.append(one)
        return altered

    bag, page, file = folder / "altered", folder / "altered.html", folder / "altered.json"
    rewritten.one_file(folder / "bag", bag, shift)
    assert main(["replay", str(bag), "--no-gap", "--out", str(page), "--json", str(file)]) == 1
    figures = json.loads(file.read_text())
    assert (figures["passed"], figures["action_diff_max"]) == (False, 0.0)
    assert figures["observation_diff_max"] == pytest.approx(0.5, abs=1e-3)
    assert "commands by up to" in figures["verdict"] and "observations by up to 0.5" in figures["verdict"]
    shown = page.read_text()
    assert figures["verdict"] in shown
    assert 'class="tile bad"' in shown and "no difference in any bit" not in shown


def check_cut_recording(folder: Path) -> None:
    """What is left of a file gives what is left of a report, through the command line, and says what is missing."""
    (file,) = (folder / "bag").glob("*.mcap")
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 9 // 10])
    words = ["replay", str(folder / "bag"), "--out", str(folder / "page.html"), "--json", str(folder / "replay.json")]
    assert main(words) == 0
    figures = json.loads((folder / "replay.json").read_text())
    (problem,) = figures["problems"]
    assert "can't be read to its end" in problem
    assert figures["ticks"] > 50
    assert figures["action_diff_max"] == 0.0
    assert figures["gap"]["legs"] >= 1
    assert figures["gap"]["position_error_m"]["0.5"] < 0.5
    page = (folder / "page.html").read_text()
    assert all(
        title in page for title in ("Decided again", "What happened", "Missing", "From above", "Gap to the simulator")
    )


def check_short_flights(folder: Path, capsys: pytest.CaptureFixture) -> None:
    """One flight shows no robot's parameters, and that is said."""
    capsys.readouterr()
    assert main(["identify", str(folder / "bag"), "--out", str(folder / "identified")]) == 1
    assert "record longer flights" in capsys.readouterr().err
    assert not (folder / "identified").exists()


def check_replay(bag: Path, largest: float) -> None:
    """Policy, filter and observation do here what they did in the flight."""
    from robomarl.field.replay.figures import figures_of
    from robomarl.field.replay.replayed import replay_bag

    found = replay_bag(bag)
    figures = figures_of(found)
    assert not found.problems
    assert figures["actions_compared"] > 50
    assert all(robot["commands_compared"] > 50 for robot in figures["robots"].values())
    assert figures["action_diff_max"] == 0.0
    assert figures["command_diff_max"] <= largest
    assert figures["observation_diff_max"] <= largest


@pytest.mark.ros
@pytest.mark.slow
def test_vehicles_are_identified_from_a_recording(pair: str, goto_bundle: Path, tmp_path: Path):
    """The simulator's vehicles, which it draws anew for each flight: their mean is within the scenario's ranges."""
    from robomarl.lab.sim.scenario import load_scenario
    from tests.ros.recording import rewritten

    pytest.importorskip("rclpy")
    words = ["--sim", "mujoco", "--flights", "5", "--bundle", str(goto_bundle), "--record", str(tmp_path / "bag")]
    assert main(["up", pair, *words, "--out", str(tmp_path / "out")]) == 0
    figures = tmp_path / "figures.json"
    out = ["--out", str(tmp_path / "identified"), "--json", str(figures)]
    assert main(["identify", str(tmp_path / "bag"), *out]) == 0
    found = json.loads(figures.read_text())
    rows = {(row["robot"], row["name"]): row for row in found["parameters"]}
    assert {robot for robot, _ in rows} == {"one", "two"}
    for robot in ("one", "two"):
        assert rows[robot, "lift_scale"]["value"] == pytest.approx(1.0, abs=0.1)
        assert -0.005 < rows[robot, "delay_s"]["value"] < 0.02
        assert rows[robot, "mass_scale"]["low"] < rows[robot, "mass_scale"]["high"]
    assert load_scenario(found["scenario"]).vehicle == found["vehicle"]
    assert "sha256" in Path(found["vehicle"]).read_text()
    other = rewritten.FORMS["topic_by_topic"](tmp_path / "bag", tmp_path / "other")
    assert main(["identify", str(other), "--out", str(tmp_path / "again"), "--json", str(figures)]) == 0
    again = json.loads(figures.read_text())
    assert {key: again[key] for key in ("parameters", "safety")} == {
        key: found[key] for key in ("parameters", "safety")
    }


@pytest.mark.ros
def test_from_the_ground_it_takes_off_and_arrives_and_is_recorded_without_being_asked(
    pair: str, goto_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    pytest.importorskip("rclpy")
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    words = ["--sim", "mujoco", "--flights", "1", "--seed", "5", "--bundle", str(goto_bundle), "--ground"]
    status = main(["up", pair, *words, "--out", str(tmp_path / "out"), "--json", str(tmp_path / "figures.json")])
    assert status == 0, capsys.readouterr().err
    found = json.loads((tmp_path / "figures.json").read_text())
    assert found["flights"][0]["arrived_s"] < 8.0, "the climb counts as flight"
    (bag,) = Path("runs", "field").glob("pair_*")
    assert found["recording"] == str(bag)
    check_replay(bag, 0.0)


def test_nothing_is_recorded_if_that_is_asked_for(monkeypatch: pytest.MonkeyPatch):
    assert recording(Args("pair", no_record=True), "pair") == ""
    assert recording(Args("pair", record="bag"), "pair") == "bag"
    assert recording(Args("pair"), "pair").startswith("runs/field/pair_")
    monkeypatch.setattr("robomarl.front.cli.up.find_spec", lambda name: None)
    with pytest.raises(UserError, match="mcap is not installed.*--no-record"):
        recording(Args("pair"), "pair")


@pytest.mark.ros
def test_without_a_bundle_it_says_so_and_leaves_nothing_behind(pair: str, capsys: pytest.CaptureFixture):
    pytest.importorskip("rclpy")
    pytest.importorskip("mujoco")
    said = errors(capsys, pair, "--sim", "mujoco", "--flights", "1", "--root", str(Path(pair).parent))
    assert "was not configured" in said, said
    assert "no bundle is flashed; run robomarl flash" in said


@pytest.mark.ros
def test_who_ends_by_itself_while_it_stays_up_is_started_again_and_configured(pair: str, goto_bundle: Path):
    """A killed policy node and a killed monitor come back; the killed simulator ends all."""
    pytest.importorskip("rclpy")
    pytest.importorskip("mujoco")
    from contextlib import suppress

    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.ros.operator.plan_options import PlanOptions
    from robomarl.ros.operator.rehearsal import bring_up

    plan = PlanOptions(bundle=str(goto_bundle), sim=True, tell_goals=True)
    with bring_up(load_fleet(pair), plan, None, lambda name, line: None) as team, team.respawning():
        team.configure()
        console, running = team.console, team.processes.running
        console.wait_until_ready(("one", "two"), 30)
        before = {name: running[name].popen for name in ("/one/policy_node", "/monitor")}
        for popen in before.values():
            popen.kill()
        console.wait(lambda: all(running[n].popen is not popen for n, popen in before.items()), 15, "new processes")

        def ready() -> bool:
            team.configure_again()
            with suppress(UserError):
                console.wait_until_ready(("one", "two"), 1.0)
                return True
            return False

        console.wait(ready, 60, "READY again")
        running["/sim"].popen.kill()
        with pytest.raises(UserError, match="/sim ended with status -9"):
            console.wait(lambda: False, 10, "nothing")
