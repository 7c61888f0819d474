"""Our team against another operator's: real processes over real DDS, the league's packets, no node of theirs."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")
pytest.importorskip("grpc_tools.protoc")

from robomarl.core.hardware.fleet import Fleet, load_fleet
from robomarl.domains.soccer.core.log import load_match
from robomarl.domains.soccer.ros import messages
from robomarl.domains.soccer.ros.playing import Sighting
from robomarl.domains.soccer.ros.rehearsal import Match
from robomarl.domains.soccer.ros.topics import SIGHTING
from robomarl.domains.soccer.vehicles.ssl.addresses import RADIO_PORT, SIM_PORT, simulated_radio, simulated_vision
from robomarl.ros import topics
from robomarl.ros.io.messages import Estimate
from robomarl.ros.io.node_base import Mailbox
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import TeamNodes, bring_up
from robomarl.ros.robot.state_machine import Order
from tests.ros.playerbundle import make_player_bundle
from tests.ros.ssl import foreign_team
from tests.ros.truth import truth_to

pytestmark = [pytest.mark.ros, pytest.mark.slow]
PATIENT = {"heartbeat_after_s": 10.0, "robot_lost_after_s": 5.0, "arm_lasts_s": 600.0, "silent_after_s": 10.0}
MATCH_S = 12.0
OURS, THEIRS = ("blue_0", "blue_1"), ("yellow_0", "yellow_1")


def fleet_of(folder: Path) -> Fleet:
    """soccer_2v2 with a second team that another operator commands."""
    robots = [{"name": name, "index": k, "folder": str(folder / name)} for k, name in enumerate(OURS)]
    robots += [{"name": name, "index": 2 + k, "foreign": True} for k, name in enumerate(THEIRS)]
    about = {"version": 1, "name": "visitors", "vehicle": "ssl_omni", "scenario": "soccer_2v2", "teams": 2}
    file = folder / "visitors.yaml"
    file.write_text(yaml.safe_dump({**about, "robots": robots, "field": {"on_robot_lost": "continue"}}))
    return load_fleet(str(file))


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamNodes]:
    folder = tmp_path_factory.mktemp("visitors")
    params = folder / "params.yaml"
    params.write_text(yaml.safe_dump({"/**/policy_node": {"ros__parameters": PATIENT}}))
    options = PlanOptions(
        sim=True,
        vehicles="ssl",
        bundle=str(make_player_bundle(folder / "bundle")),
        root=str(folder),
        log_dir=str(folder / "out"),
        params_file=str(params),
        match_s=MATCH_S,
    )
    with bring_up(fleet_of(folder), options, None, lambda name, line: None) as team:
        team.configure()
        yield team


@pytest.fixture(scope="module")
def match(team: TeamNodes) -> Match:
    return Match(team, MATCH_S)


@pytest.fixture
def visitors(team: TeamNodes) -> Iterator[subprocess.Popen[bytes]]:
    """Their program, in a process that knows the league's addresses and nothing of ROS."""
    domain = int(team.environment["ROS_DOMAIN_ID"])
    vision = (simulated_vision(domain).partition(":")[0], str(SIM_PORT))
    words = [*vision, simulated_radio(domain), str(RADIO_PORT["yellow"])]
    process = subprocess.Popen([sys.executable, str(foreign_team.__file__), *words])
    yield process
    process.kill()
    process.wait()


def newest(match: Match, mailbox: Mailbox):
    """The newest message, without its stamp."""
    found: list = []

    def came() -> bool:
        found[:] = [message for message, _ in mailbox.take()][-1:]
        return bool(found)

    match.until(came, 20, mailbox.name)
    return found[0][0]


def test_only_our_robots_have_nodes_and_are_waited_for(team: TeamNodes, match: Match):
    assert team.console.team == OURS
    nodes = {f"{base}/{name}".replace("//", "/") for name, base in team.console._node.get_node_names_and_namespaces()}
    assert {"/blue_0/policy_node", "/blue_1/policy_node", "/referee", "/monitor", "/ssl_node"} <= nodes
    assert not [name for name in nodes if "yellow" in name]
    topics_of = [name for name, _ in team.console._node.get_topic_names_and_types()]
    assert not [name for name in topics_of if "yellow" in name]


def test_our_robots_see_theirs_which_nobody_of_ours_moves(team: TeamNodes, match: Match):
    node = team.console._node
    sighting = Mailbox(node, SIGHTING, "/blue_0/sighting", messages.sighting_to)
    truth = Mailbox(node, topics.TRUTH, topics.TRUTH.of("sim"), truth_to)
    before: Estimate = newest(match, truth)
    picture: Sighting = newest(match, sighting)
    assert {thing.kind for thing in picture.things} >= {"opponent_0", "opponent_1"}
    away = np.linalg.norm(before.pos_m[2:] - before.pos_m[0], axis=-1)
    seen = {thing.kind: float(np.linalg.norm(thing.pos_m)) for thing in picture.things}
    assert [seen["opponent_0"], seen["opponent_1"]] == pytest.approx(away.tolist(), abs=0.05)
    match.start()
    began: Estimate = newest(match, truth)
    match.rest(3.0)
    after: Estimate = newest(match, truth)
    moved = np.linalg.norm(after.pos_m - began.pos_m, axis=-1)
    assert moved[:2].max() > 0.3 and moved[2:].max() < 0.1, moved
    assert match.ask("stop") == ""
    match.until(lambda: not match.moves(match.ticks), 20, "all of ours in STOP")


def test_a_match_against_their_program_goes_to_its_end(match: Match, visitors: subprocess.Popen[bytes]):
    result = match.play()
    assert result.ok, result.states
    assert set(result.states) == set(OURS)
    assert result.match.played_s >= MATCH_S
    assert visitors.poll() is None
    log = load_match(Path(result.log))
    assert result.match.impacts[0] == 0, result.line  # of ours, which have the filter
    paths = np.abs(np.diff(log.robots_m[log.playing][..., :2], axis=0)).sum((0, 2))
    assert (paths > 0.5).all(), paths  # theirs drive by their packets, ours by ours
    assert min(result.match.rate_hz[name] for name in OURS) > 15


def test_the_estop_stops_ours_and_leaves_theirs_to_them(
    team: TeamNodes, match: Match, visitors: subprocess.Popen[bytes]
):
    match.start()
    match.rest(1.0)
    truth = Mailbox(team.console._node, topics.TRUTH, topics.TRUTH.of("sim"), truth_to)
    assert team.console.order(Order.ESTOP, ["all"]) == {"all": ""}

    def speeds() -> np.ndarray:
        return np.linalg.norm(newest(match, truth).vel_m_s, axis=-1)

    match.until(lambda: speeds()[:2].max() < 0.05, 20, "ours to rest")
    match.until(lambda: speeds()[2:].max() > 0.1, 20, "theirs to go on")
