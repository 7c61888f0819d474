"""A game through ROS 2: real processes over real DDS, four policy nodes, a referee, and the simulator."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.hardware.fleet import Fleet, load_fleet
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.domains.soccer.core.log import load_match
from robomarl.domains.soccer.front.page import write_match_report
from robomarl.domains.soccer.ros.outcome import match_result
from robomarl.domains.soccer.ros.referee import Phase
from robomarl.domains.soccer.ros.rehearsal import Match
from robomarl.domains.soccer.ros.topics import BALL
from robomarl.front.cli import main
from robomarl.ros import topics
from robomarl.ros.io.node_base import Mailbox
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import TeamNodes, bring_up
from robomarl.ros.robot.state_machine import Order, State
from tests.ros.playerbundle import make_player_bundle
from tests.ros.truth import truth_to

pytestmark = pytest.mark.ros
# Four policy nodes and a simulator, on machines that have other things to do: what is late is not lost.
PATIENT = {"heartbeat_after_s": 10.0, "robot_lost_after_s": 5.0, "arm_lasts_s": 600.0, "silent_after_s": 10.0}
MATCH_S = 12.0


class Rig:
    """A game that is up."""

    def __init__(self, team: TeamNodes, folder: Path) -> None:
        self.console, self.folder, self.match = team.console, folder, Match(team, MATCH_S)
        node, truth, ball = team.console._node, topics.TRUTH, BALL
        self.truth = Mailbox(node, truth, truth.of("sim"), truth_to)
        self.ball = Mailbox(node, ball, ball.of(topics.WORLD), lambda message: (message.point.x, message.point.y))

    def places(self) -> np.ndarray:
        """[M, 3] newest true places."""
        return self._newest(self.truth)[0].pos_m

    def speed(self) -> float:
        """Of the fastest robot [m/s]."""
        return float(np.linalg.norm(self._newest(self.truth)[0].vel_m_s, axis=-1).max())

    def _newest(self, mailbox: Mailbox):
        found: list = []
        mailbox.latest()

        def came() -> bool:
            found[:] = [message for message, _ in mailbox.take()][-1:]
            return bool(found)

        self.console.wait(came, 20, mailbox.name)
        return found[0]


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return load_fleet("soccer_2v2")


@pytest.fixture(scope="module")
def rig(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    folder = tmp_path_factory.mktemp("game")
    params = folder / "params.yaml"
    params.write_text(yaml.safe_dump({"/**/policy_node": {"ros__parameters": PATIENT}}))
    options = PlanOptions(
        sim=True,
        bundle=str(make_player_bundle(folder / "bundle")),
        root=str(folder),
        log_dir=str(folder / "out"),
        record=str(folder / "bag"),
        params_file=str(params),
        match_s=MATCH_S,
    )
    with bring_up(fleet, options, None, lambda name, line: None) as team:
        team.configure()
        yield Rig(team, folder)


def test_the_running_graph_is_the_one_of_the_readme(rig: Rig, fleet: Fleet):
    """Names, types and quality of service; `test_plan` holds the README against the same table."""
    robots = tuple(robot.name for robot in fleet.robots)
    recorded = topics.recorded_topics(robots, True, task="soccer")
    expected = {name: topic for name, topic in dict(recorded).items() if topic not in topics.SEEING}  # these are blind
    ours = (
        "/blue",
        "/yellow",
        "/sim/",
        "/world/",
        "/referee/",
        "/monitor/",
        "/emergency_stop",
        "/recording",
        "/fleet",
        "/diag",
    )

    def found() -> dict[str, list[str]]:
        node = rig.console._node
        names = [row for row in node.get_topic_names_and_types() if node.count_publishers(row[0])]
        return {n: kinds for n, kinds in names if n.startswith(ours) and not n.endswith("transition_event")}

    rig.console.wait(lambda: set(found()) >= set(expected), 20, "all topics")
    assert found() == {name: [topic.type] for name, topic in expected.items()}
    for name, topic in expected.items():
        for info in rig.console._node.get_publishers_info_by_topic(name):
            assert (info.qos_profile.reliability.name == "RELIABLE") is topic.reliable, name
            assert (info.qos_profile.durability.name == "TRANSIENT_LOCAL") is topic.latched, name


def test_nobody_moves_before_the_referee_is_asked_to_start(rig: Rig):
    before = rig.places()
    rig.match.rest(0.5)
    assert np.abs(rig.places() - before).max() < 0.01
    assert rig.match.said.phase is Phase.WAITING
    assert rig.match.ask("goal") == "the match is WAITING"


def test_a_goal_by_hand_counts_and_puts_everybody_back(rig: Rig):
    rig.match.start()
    rig.match.until(lambda: rig.speed() > 0.3, 60, "the robots to get going")
    kick_offs = rig.match.said.kick_offs
    assert rig.match.ask("goal") == ""
    rig.match.until(lambda: sum(rig.match.said.goals) > 0, 20, "the goal to be said")
    assert rig.match.said.kick_offs > kick_offs
    rig.match.until(lambda: bool((np.abs(rig.places()[:, 0]) > 0.3).all()), 20, "the places of a kick-off")
    places = rig.places()
    assert (places[:2, 0] < 0).all() and (places[2:, 0] > 0).all()  # each team in its own half
    assert rig.match.said.phase is Phase.PLAYING
    rig.match.rest(2.0)
    rig.match.until(lambda: rig.speed() > 0.3, 20, "the robots to play on from where they were put")
    assert all(rows[-1]["state"] == State.ACTIVE for rows in rig.match.ticks.values())


def test_stop_brings_all_to_rest_and_keeps_them_there(rig: Rig, fleet: Fleet):
    """No longer than the vehicle's braking takes, after the time in which it misses commands."""
    assert rig.match.ask("stop") == ""
    rig.match.until(lambda: rig.speed() < 0.02, 20, "all robots to be at rest")
    rig.match.rest(3.0)
    assert rig.speed() < 0.02
    rig.match.until(lambda: not rig.match.moves(rig.match.ticks), 20, "all robots in STOP")
    assert rig.match.said.phase is Phase.STOPPED
    log = load_match(Path(rig.console.finish()["log"]))
    vehicle = load_any_vehicle(fleet.vehicle)
    stopped = np.flatnonzero(log.playing)[-1]
    limits, loss = vehicle.limits, vehicle.on_command_loss
    braking_s = limits.speed_m_s / vehicle.safety.brake_m_s2 + loss.stop_after_s  # type: ignore[union-attr]
    after = log.time_s > log.time_s[stopped] + braking_s + 0.5  # half a second for the orders on a busy machine
    moved = np.abs(log.robots_m[after][-1, :, :2] - log.robots_m[after][0, :, :2]).max()
    assert moved < 0.01


def test_a_match_goes_to_its_end_and_has_a_report(rig: Rig):
    result = rig.match.play()
    assert result.ok, result.states
    assert result.match.played_s >= MATCH_S
    assert sum(result.match.kicks) > 0  # the ball was touched
    assert result.match.possession[0] + result.match.possession[1] > 0.2
    assert all(rate > 15 for rate in result.match.rate_hz.values())
    assert {(link.sender, link.receiver) for link in result.flight.links} >= {
        ("simulator", "blue_0"), ("blue_1", "blue_0"), ("yellow_0", "yellow_1"),
    }  # fmt: skip
    file = rig.folder / "report.html"
    write_match_report(result, file, {"fleet": "soccer_2v2"})
    page = file.read_text()
    assert all(title in page for title in ("Goals", "Path of the ball", "blue_0", "yellow_1", "Possession"))
    assert page.count("<svg") == 7
    assert page.count("animateTransform") == 9  # place and heading of four robots, and the ball
    assert len(page) < 1_000_000
    log = load_match(Path(result.log))
    assert match_result({**rig.console.finish(), "log": result.log}, rig.match.said, rig.match.ticks).match.goals == (
        tuple(log.goals[-1].tolist())
    )


def test_an_estop_interrupts_the_match_and_the_referee_does_not_release_it(rig: Rig):
    rig.match.start()
    assert rig.console.order(Order.ESTOP, ["all"]) == {"all": ""}
    rig.match.until(lambda: rig.match.said.phase is Phase.STOPPED, 20, "the referee to see it")
    assert "ESTOP" in rig.match.ask("start")
    rig.match.until(lambda: rig.speed() < 0.02, 20, "all robots to be at rest")
    assert rig.console.order(Order.RESET, ["all"]) == {"all": ""}


def test_the_recording_says_what_was_played(rig: Rig):
    """Runs last: the bag is flushed while the recorder runs, its metadata too."""
    text = (rig.folder / "bag" / "metadata.yaml").read_text()
    assert all(word in text for word in ("bundle_id/blue_0", "bundle_id/yellow_1", "soccer_2v2", "/referee/match"))


BAD = {
    "three": ({"robots": 3}, "can't be 2 teams of one size"),
    "six": ({"robots": 6}, "has 6 robots in 2 teams, its scenario soccer_2v2 is for 2 teams of 2"),
    "one team": ({"teams": 1}, "has 4 robots in 1 team, its scenario soccer_2v2 is for 2 teams of 2"),
    "no game": ({"scenario": "swap_4", "vehicle": "crazyflie_21"}, "its scenario swap_4 is no game"),
    "keepers": ({"roles": ["keeper", "keeper"]}, "roles names 2 keepers"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_fleets_that_cannot_play_are_refused_in_one_sentence(name: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    change, said = BAD[name]
    scenario = str(change.get("scenario", "soccer_2v2"))
    if roles := change.get("roles"):
        scenario = str(tmp_path / "two.toml")
        Path(scenario).write_text(f'extends = "soccer_2v2"\nroles = {roles}\n'.replace("'", '"'))
    count = int(str(change.get("robots", 4)))
    robots = [{"name": f"r{i}", "index": i, "folder": str(tmp_path / f"r{i}")} for i in range(count)]
    vehicle = change.get("vehicle", "ssl_omni")
    content = {"version": 1, "name": "odd", "vehicle": vehicle, "scenario": scenario, "robots": robots}
    (tmp_path / "odd.yaml").write_text(yaml.safe_dump({**content, "teams": change.get("teams", 2)}))
    assert main(["up", str(tmp_path / "odd.yaml"), "--sim", "mujoco", "--no-record"]) == 1
    error = capsys.readouterr().err.strip()
    assert said in error
    assert "\n" not in error
