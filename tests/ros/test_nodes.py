"""Real nodes in processes of their own, over real DDS. One bring-up; the tests fly one after the other."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from rosbags.highlevel import AnyReader

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.hardware.fleet import Fleet, load_fleet
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.log import load_flight
from robomarl.core.view import Goal
from robomarl.ros import topics
from robomarl.ros.io.node_base import Mailbox, publisher
from robomarl.ros.operator.console import ACTIVATE, DEACTIVATE
from robomarl.ros.operator.flights import TeamFlight
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import TeamNodes, bring_up
from robomarl.ros.robot.decision import Held
from robomarl.ros.robot.inbox import Estimate
from robomarl.ros.robot.state_machine import Order, State
from tests.ros.truth import truth_to

pytestmark = [pytest.mark.ros, pytest.mark.alone]
ROBOTS = ("left", "right")
UP = np.array([1.0, 0, 0, 0])


class Rig:
    """A team that is up, what its nodes logged, and the truth."""

    def __init__(self, team: TeamNodes, lines: list[str], folder: Path) -> None:
        self.team, self.console, self.lines, self.folder = team, team.console, lines, folder
        truth = topics.TRUTH
        self._truth = Mailbox(team.console._node, truth, truth.of("sim"), truth_to)

    def truth(self) -> Estimate:
        """Newest true states, [N, ...] each."""
        newest: list[tuple[Estimate, float]] = []

        def came() -> bool:
            newest[:] = [message for message, _ in self._truth.take()][-1:]
            return bool(newest)

        came()
        self.console.wait(came, 10, "the truth")
        return newest[0][0]

    def speeds(self) -> dict[str, float]:
        """Of every robot [m/s]."""
        return dict(zip(ROBOTS, np.linalg.norm(self.truth().vel_m_s, axis=-1).tolist(), strict=True))

    def speed(self) -> float:
        """Of the fastest robot [m/s]."""
        return max(self.speeds().values())

    def take_off(self) -> list[Goal]:
        self.land()  # whatever the test before has left
        goals = self.console.reset()
        self.console.send_goals(dict(zip(ROBOTS, goals, strict=True)))
        assert self.console.start(ROBOTS) == dict.fromkeys(ROBOTS, "")
        return goals

    def fly(self, duration_s: float) -> dict[str, list[dict[str, float]]]:
        """Let time pass; returns the ticks of every robot meanwhile."""
        end_s = time.monotonic() + duration_s
        ticks: dict[str, list[dict[str, float]]] = {name: [] for name in ROBOTS}
        for name in ROBOTS:
            self.console.take_ticks(name)
        while time.monotonic() < end_s:
            self.console.poll()
            for name in ROBOTS:
                ticks[name] += self.console.take_ticks(name)
        return ticks

    def land(self) -> dict[str, Any]:
        self.console.change(DEACTIVATE, ROBOTS)
        return self.console.finish()

    def send(self, signal_: signal.Signals, node: str) -> None:
        self.team.processes.running[node].popen.send_signal(signal_)

    def logged(self, text: str) -> bool:
        return any(text in line for line in self.lines)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    path = tmp_path_factory.mktemp("fleet") / "pair.yaml"
    content = {
        "version": 1,
        "name": "pair",
        "vehicle": "crazyflie_21",
        "scenario": "swap_2",
        "robots": [
            {"name": name, "index": index, "folder": str(path.parent / name)} for index, name in enumerate(ROBOTS)
        ],
    }
    path.write_text(yaml.safe_dump(content))
    return load_fleet(str(path))


@pytest.fixture(scope="module")
def rig(fleet: Fleet, goto_bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    folder = tmp_path_factory.mktemp("flights")
    # On machines that have other things to do.
    patient = {"heartbeat_after_s": 3.0, "robot_lost_after_s": 3.0, "silent_after_s": 3.0}
    params = folder / "params.yaml"
    params.write_text(yaml.safe_dump({"/**/policy_node": {"ros__parameters": patient}}))
    plan = PlanOptions(
        bundle=str(goto_bundle), sim=True, record=str(folder / "bag"), log_dir=str(folder), params_file=str(params)
    )
    lines: list[str] = []
    with bring_up(fleet, plan, None, lambda name, line: lines.append(f"{name} {line}")) as team:
        team.configure()
        yield Rig(team, lines, folder)


def test_the_running_graph_is_the_one_of_the_readme(rig: Rig):
    """Names, types and quality of service; `test_plan` holds the README against the same table."""
    expected = dict(topics.recorded_topics(ROBOTS, True))
    ours = ("/left/", "/right/", "/sim/", "/monitor/", "/recorder/", "/emergency_stop", "/recording", "/fleet",
            "/diagnostics")  # fmt: skip

    def found() -> dict[str, list[str]]:
        names = rig.console._node.get_topic_names_and_types()
        return {n: kinds for n, kinds in names if n.startswith(ours) and not n.endswith("transition_event")}

    rig.console.wait(lambda: set(found()) >= set(expected), 20, "all topics")
    assert found() == {name: [topic.type] for name, topic in expected.items()}
    for name, topic in expected.items():
        for info in rig.console._node.get_publishers_info_by_topic(name):
            offered = info.qos_profile
            assert (offered.reliability.name == "RELIABLE") is topic.reliable, name
            assert (offered.durability.name == "TRANSIENT_LOCAL") is topic.latched, name


def test_nothing_moves_because_a_process_started(rig: Rig):
    before = rig.truth()
    ticks = rig.fly(0.5)
    assert not any(tick["active"] for rows in ticks.values() for tick in rows)
    assert np.abs(rig.truth().pos_m - before.pos_m).max() < 0.1
    assert rig.console.finish()["flight_s"] == 0


def test_without_a_goal_no_robot_is_activated_and_the_log_says_why(rig: Rig):
    for refused in (rig.console.order(Order.ARM, ROBOTS), rig.console.order(Order.ARM, ["all"])):
        assert all("is in STANDBY, not in READY" in why for why in refused.values())
        assert all("goal: none received yet" in why for why in refused.values())
    assert rig.console.change(ACTIVATE, ROBOTS) == dict.fromkeys(ROBOTS, False)


def test_a_robot_that_nobody_armed_is_not_activated(rig: Rig):
    goals = rig.console.reset()
    rig.console.send_goals(dict(zip(ROBOTS, goals, strict=True)))
    rig.console.wait_until_ready(ROBOTS, 15)
    assert rig.console.change(ACTIVATE, ROBOTS) == dict.fromkeys(ROBOTS, False)
    assert all("is not armed" in why for why in rig.console.order(Order.ACTIVATE, ROBOTS).values())
    ticks = rig.fly(0.3)
    assert not any(tick["active"] for rows in ticks.values() for tick in rows)


def test_a_robot_that_somebody_else_commands_is_not_activated(rig: Rig):
    rig.console.wait_until_ready(ROBOTS, 15)
    assert rig.console.order(Order.ARM, ["left"]) == {"left": ""}
    other = publisher(rig.console._node, topics.COMMAND, topics.COMMAND.of("left"))
    rig.console.wait(lambda: other.get_subscription_count() > 0, 5, "the command's reader")
    said = rig.console.order(Order.ACTIVATE, ["left"])["left"]
    assert "/left/command has several publishers: /left/policy_node, /robomarl_console" in said
    assert rig.console.order(Order.RESET, ["left"]) == {"left": ""}
    rig.console._node.destroy_publisher(other)


def test_two_robots_change_places(rig: Rig):
    figures = TeamFlight(rig.team, seed=1, duration_s=0.0).fly()
    assert figures.success, figures.reason
    assert (figures.collisions, figures.seed) == (0, 1)
    assert figures.min_distance_m > 0.14
    assert figures.arrived_s
    assert figures.arrived_s <= 8
    assert {(link.sender, link.receiver) for link in figures.links} == {
        ("simulator", "left"), ("right", "left"), ("simulator", "right"), ("left", "right"),
    }  # fmt: skip
    assert all(link.expected == link.received + link.lost for link in figures.links)
    assert all(link.received > 0.5 * 50 * figures.arrived_s for link in figures.links)
    log = load_flight(Path(figures.log))
    assert np.isfinite(log.nominal).mean() > 0.8  # NaN where a busy machine made it brake without asking the policy
    assert np.linalg.norm(log.pos_m[-1] - log.goal_m[-1], axis=-1).max() < 0.15
    assert log.closest_m().min() >= figures.min_distance_m - 1e-6


def test_an_operator_sends_new_goals(rig: Rig):
    goals = rig.take_off()
    rig.console.wait(lambda: rig.speed() > 0.5, 60, "the robots to get going")
    elsewhere = {name: Goal(goal.pos_m + (0, 0, 0.4), UP) for name, goal in zip(ROBOTS, goals, strict=True)}
    rig.console.send_goals(elsewhere)
    rig.console.wait(lambda: succeeded(rig), 60, "both robots at their new goals")
    pos = rig.truth().pos_m
    assert np.linalg.norm(pos - [goal.pos_m for goal in elsewhere.values()], axis=-1).max() < 0.2
    assert rig.land()["failed"] == 0


def succeeded(rig: Rig) -> bool:
    status = rig.console.status.latest()
    return bool(status and status["succeeded_s"] > 0)


def test_stale_odometry_brakes_within_one_tick(rig: Rig):
    rig.take_off()
    rig.console.wait(lambda: rig.speed() > 0.5, 60, "the robots to get going")
    before_m_s = dict(zip(ROBOTS, rig.truth().vel_m_s, strict=True))
    rig.send(signal.SIGSTOP, "/sim")
    ticks = rig.fly(0.5)
    rig.send(signal.SIGCONT, "/sim")
    limit_s = load_vehicle("crazyflie_21").safety.delay_s
    for name in ROBOTS:
        rows = [tick for tick in ticks[name] if tick["active"]]
        age_s = np.array([max(tick["odometry.source_age_s"], tick["odometry.delivery_age_s"]) for tick in rows])
        stale = age_s > limit_s
        assert stale.sum() > 3
        np.testing.assert_array_equal([tick["reason"] == Held.BLIND for tick in rows], stale)  # none of them late
        every = np.array([[tick[f"command.acceleration.{axis}"] for axis in "xyz"] for tick in rows])
        period_s = np.median(np.diff([tick["stamp_s"] for tick in rows]))
        vel_m_s = before_m_s[name] + np.cumsum(every, 0) * period_s  # as its commands are carried out
        start = int(stale.argmax())
        assert np.linalg.norm(every[start]) > 0.5
        assert every[start] @ vel_m_s[start - 1] < 0
        speeds = np.linalg.norm(vel_m_s, axis=-1)[start - 1 :]
        assert speeds.max() == speeds[0]  # rows of a mate may turn it, but it never gets faster
        assert speeds[-1] < 0.7 * speeds[0]
    assert rig.logged("input lost: odometry")
    assert rig.logged("now: blind")
    rig.console.wait(lambda: all(flies(rig, name) for name in ROBOTS), 60, "the robots to fly on")


def flies(rig: Rig, name: str) -> bool:
    ticks = rig.console.take_ticks(name)
    return bool(ticks and ticks[-1]["active"] and ticks[-1]["reason"] == 0)


def test_a_robot_whose_policy_is_killed_hovers_then_lands_and_its_mate_stops(rig: Rig):
    rig.take_off()
    # One that is killed before its mate has heard that it flies is not missed: wait for this one, not for any.
    rig.console.wait(lambda: rig.speeds()["left"] > 0.5, 60, "the robot to get going")
    rig.team.processes.kill("/left/policy_node")
    rig.console.wait(lambda: rig.speed() < 0.3, 60, "the robots to stop")
    truth = rig.truth()
    held: list[dict[str, float]] = []

    def holds() -> bool:
        held.extend(rig.console.take_ticks("right"))
        return bool(held) and held[-1]["state"] == State.HOLD  # the fleet's rule

    rig.console.wait(holds, 60, "the mate to hold")
    assert held[-1]["left.source_age_s"] > 0.5
    rig.console.wait(lambda: rig.truth().pos_m[0, 2] < truth.pos_m[0, 2] - 0.2, 60, "the robot to land")
    assert np.linalg.norm(rig.truth().pos_m[0, :2] - truth.pos_m[0, :2]) < 0.3
    rig.console.change(DEACTIVATE, ["right"])
    assert rig.console.order(Order.RESET, ["right"]) == {"right": ""}


def test_what_was_recorded_a_second_before_kill_9_is_read_back(rig: Rig, goto_bundle: Path):
    before_ns = time.time_ns()
    rig.fly(1.2)
    rig.team.processes.kill("/recorder")
    with AnyReader([rig.folder / "bag"]) as reader:
        seen = {name: 0 for name, _ in topics.recorded_topics(ROBOTS, True)}
        last: dict[str, Any] = {}
        for connection, time_ns, raw in reader.messages():
            seen[connection.topic] = seen.get(connection.topic, 0) + 1
            last[connection.topic] = time_ns, connection.msgtype, raw
        assert all(seen.values()), seen
        assert last["/right/odometry"][0] > before_ns
        _, kind, raw = last["/right/tick"]
        tick: Any = reader.deserialize(raw, kind)
        assert "latency_us" in tick.layout.dim[1].label
        assert "obs.goal_error.x" in tick.layout.dim[1].label
        assert {"/rosout", "/left/policy_node/transition_event"} <= set(seen)
        _, kind, raw = last["/right/announce"]
        said: Any = reader.deserialize(raw, kind)
        assert said.values[0].value == load_bundle(goto_bundle).id
    about = yaml.safe_load((rig.folder / "bag" / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert about["custom_data"]["bundle_id/left"] == load_bundle(goto_bundle).id
    assert about["custom_data"]["fleet"] == "pair"
