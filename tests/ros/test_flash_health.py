"""Policy nodes that run go along with a flash, say whether they are well, and go back; a mixed team does not fly."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

pytest.importorskip("rclpy")

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import Trigger

from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.core.hardware.fleet import Fleet, load_fleet
from robomarl.fleet import flash, look
from robomarl.fleet.robot import connect_all
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.ros.io.processes import Processes, child_environment, claimed_domain
from robomarl.ros.operator.fleet_plan import PlanOptions, environment, plan_fleet
from tests.core.bundle.sealing import copy, reseal

pytestmark = pytest.mark.ros
PATIENCE_S, TRIES = 60.0, 6
NAMES = ("left", "right")


@dataclass
class Pair:
    """Two robots that are folders, and the nodes of those that have one."""

    fleet: Fleet
    root: Path
    domain: int
    processes: Processes

    @property
    def robots(self):
        return connect_all(self.fleet, self.root)

    def start(self, *names: str, autostart: bool = False) -> None:
        options = PlanOptions(root=str(self.root), monitor=False, robots=names, autostart=autostart)
        specs = plan_fleet(self.fleet, options)
        self.processes.start(specs, child_environment(environment(True, self.domain)))
        self.wait(lambda: all(self.node(name) for name in names))

    def node(self, name: str) -> dict[str, str]:
        return {r.name: r.facts["node"] for r in look.status(self.robots)}[name]

    def wait(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, [self.node(name) for name in NAMES]
            self.processes.check()
            time.sleep(0.1)

    def order(self, name: str, order: str) -> str:
        """The node's answer; a node that does not know the new client yet loses its answer, and is asked again."""
        rclpy.init(domain_id=self.domain)
        try:
            asking = Node("asking")
            client = asking.create_client(Trigger, f"/{name}/{order}")
            executor = SingleThreadedExecutor()
            executor.add_node(asking)
            assert client.wait_for_service(PATIENCE_S)
            for _ in range(TRIES):
                answer = client.call_async(Trigger.Request())
                executor.spin_until_future_complete(answer, PATIENCE_S / TRIES)
                if found := answer.result():
                    return found.message
            raise TimeoutError(f"{name}/{order} did not answer {TRIES} times in {PATIENCE_S:g} s")
        finally:
            rclpy.shutdown()


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    for name, value in environment(True).items():
        monkeypatch.setenv(name, value)
    robots = [{"name": name, "index": index, "folder": name} for index, name in enumerate(NAMES)]
    about = {"version": 1, "name": "pair", "vehicle": "crazyflie_21", "scenario": "swap_2", "robots": robots}
    (tmp_path / "pair.yaml").write_text(yaml.safe_dump(about))
    with claimed_domain(None) as domain, Processes(lambda name, line: None) as processes:
        yield Pair(load_fleet(str(tmp_path / "pair.yaml")), tmp_path, domain, processes)


@pytest.fixture
def sound(goto_bundle: Path) -> Bundle:
    return load_bundle(goto_bundle)


def altered(sound: Bundle, tmp_path: Path, **changes: object) -> Bundle:
    folder = copy(sound.folder, tmp_path / "altered")
    reseal(folder, lambda data: data.update(changes))
    return load_bundle(folder)


def test_nodes_come_up_with_what_is_flashed(pair: Pair, sound: Bundle, tmp_path: Path):
    """Before: a node kept the old bundle until somebody configured it, and flash said ok all the same."""
    other = altered(sound, tmp_path, name="other")
    pair.start(*NAMES, autostart=True)
    for bundle in (sound, other):
        reports = flash.flash(bundle, pair.robots)
        assert all(r.ok and r.healthy for r in reports), reports
        for name in NAMES:
            assert pair.node(name)["bundle_id"] == bundle.id and pair.node(name)["state"] in ("STANDBY", "READY")
    assert all(r.ok and r.healthy for r in flash.rollback(pair.robots))
    assert pair.node("left")["bundle_id"] == sound.id


def test_a_node_that_does_not_come_up_takes_the_team_back(pair: Pair, sound: Bundle, tmp_path: Path):
    """The bundle is sound, its checks pass, and the node of one robot refuses it: it is for larger teams."""
    larger = altered(sound, tmp_path, name="larger", team_size=[3, 16])
    pair.start("right")
    assert all(r.ok for r in flash.flash(sound, pair.robots))
    reports = flash.flash(larger, pair.robots)
    assert [(r.ok, r.healthy) for r in reports] == [(False, None), (False, False)]
    assert "its policy node does not come up" in reports[1].reason and "for teams of 3 to 16" in reports[1].reason
    assert {Store(tmp_path / name).state() for name in NAMES} == {InstalledBundles(sound.id)}
    pair.wait(lambda: pair.node("right")["bundle_id"] == sound.id)


def test_a_team_of_which_one_was_absent_does_not_fly(pair: Pair, sound: Bundle, tmp_path: Path):
    other = altered(sound, tmp_path, name="other")
    pair.start(*NAMES)
    assert all(r.ok for r in flash.flash(sound, pair.robots))
    assert flash.flash(other, {"left": pair.robots["left"]})[0].healthy
    said = f"right: flies bundle {sound.id[:12]}, this robot {other.id[:12]}"
    pair.wait(lambda: said in pair.order("left", "arm"))
    pair.wait(lambda: f"left: flies bundle {other.id[:12]}" in pair.order("right", "arm"))
    assert flash.flash(other, {"right": pair.robots["right"]})[0].healthy
    pair.wait(lambda: "flies bundle" not in (text := pair.order("left", "arm")) and "odometry" in text)
