"""What nodes may is what they do: the rights of enclaves beside the graph of real processes."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.enclaves.rights import CONSOLE, DESK, rights_of
from robomarl.ros.enclaves.rights_terms import Rights
from robomarl.ros.robot.state_machine import Order


def test_a_robots_key_speaks_for_that_robot_only():
    rights = rights_of(load_fleet("local_4"))["/robot_1/policy_node"]
    own = {name for name in rights.publishes if not name.startswith("/robot_1/")}
    assert own == {"/diagnostics", "/rosout", "/parameter_events"}
    assert not rights.calls
    assert all(name.startswith("/robot_1/") for name in rights.serves)
    assert {"/robot_0/state_and_plan", "/robot_0/announce"} <= rights.subscribes
    assert "/robot_0/command" not in rights.subscribes


def test_who_may_press_the_e_stop_and_who_may_order():
    found = rights_of(load_fleet("local_4"))
    assert [name for name, rights in found.items() if "/emergency_stop" in rights.publishes] == ["/monitor"]
    arms = [name for name, rights in found.items() if f"/robot_0/{Order.ARM}" in rights.calls]
    assert arms == ["/monitor", f"/{CONSOLE}", f"/{DESK}"]
    goals = [name for name, rights in found.items() if "/robot_0/goal" in rights.publishes]
    assert goals == [f"/{CONSOLE}", f"/{DESK}"]
    assert {"/robot_0/announce", "/robot_0/odometry", "/emergency_stop"} <= found[f"/{DESK}"].subscribes


def test_only_a_robots_vehicle_and_motion_capture_tell_where_it_is():
    found = rights_of(load_fleet("lift_3"), "/lab")
    tell = [name for name, rights in found.items() if "/lab/robot_0/odometry" in rights.publishes]
    assert tell == ["/lab/robot_0/vehicle", "/lab/world/sensors", "/lab/mocap_node"]
    assert "/lab/world/load_pose" in found["/lab/world/sensors"].publishes
    assert "/lab/robot_0/command" in found["/lab/robot_0/vehicle"].subscribes


def test_players_hear_their_own_team_only():
    found = rights_of(load_fleet("soccer_2v2"))
    heard = found["/blue_0/policy_node"].subscribes
    assert "/blue_1/state_and_plan" in heard
    assert not [name for name in heard if name.startswith("/yellow")]
    assert "/blue_0/cmd_vel" in found["/blue_0/policy_node"].publishes
    assert "/world/ball" in found["/referee"].subscribes


def test_a_foreign_team_has_no_enclaves():
    fleet = load_fleet("soccer_2v2")
    robots = tuple(replace(robot, foreign=robot.index < 2) for robot in fleet.robots)
    found = rights_of(replace(fleet, robots=robots))
    assert "/yellow_1/state_and_plan" in found["/yellow_0/policy_node"].subscribes
    assert "blue" not in str(found) and "/yellow_0/vehicle/stop" in str(found["/ssl_node"])


NODES = ("/left/policy_node", "/right/policy_node", "/monitor", "/recorder", f"/{CONSOLE}")
DISCOVERED_S = 30.0
"""Far more than it takes until a node has heard of all that others have."""


@pytest.fixture(scope="module")
def graph(goto_bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Rights]]:
    """What the nodes of a field test have in the graph, by their full names."""
    pytest.importorskip("rclpy")
    from robomarl.ros.operator.plan_options import PlanOptions
    from robomarl.ros.operator.rehearsal import bring_up
    from tests.ros.faultrig import write_files

    files = write_files(tmp_path_factory.mktemp("rights"), goto_bundle)
    plan = PlanOptions(bundle=str(goto_bundle), root=str(files.folder), sim=True, record=str(files.folder / "bag"))
    with bring_up(load_fleet(str(files.fleet)), plan, None, lambda name, line: None) as team:
        team.configure()
        readiness = team.console.readiness(lambda line: None)  # as `up` has it that stays up
        end = time.monotonic() + DISCOVERED_S
        found = in_graph(team.console._node)
        while time.monotonic() < end and any(n not in found or missing(n, found[n]) for n in NODES):
            team.console.poll(0.2)
            readiness.look("")
            found = in_graph(team.console._node)
        yield found


def in_graph(node: Any) -> dict[str, Rights]:
    """What a node has discovered of all nodes."""
    asked = (
        node.get_publisher_names_and_types_by_node,
        node.get_subscriber_names_and_types_by_node,
        node.get_service_names_and_types_by_node,
        node.get_client_names_and_types_by_node,
    )
    names = node.get_node_names_and_namespaces()
    return {
        f"{space.rstrip('/')}/{name}": Rights(*(frozenset(found for found, _ in ask(name, space)) for ask in asked))
        for name, space in names
    }


def missing(node: str, used: Rights) -> set[str]:
    """What a node may do and does not."""
    allowed = pair()[node]
    unused = {*(allowed.publishes - used.publishes), *(allowed.subscribes - used.subscribes)}
    unused |= {*(allowed.serves - used.serves), *(allowed.calls - used.calls)}
    own = {f"/{CONSOLE}/{service.rpartition('/')[2]}" for service in allowed.serves}  # it has no parameters
    return unused - own - {"/clock", "/tf", "/tf_static", "/parameter_events"}


@pytest.mark.ros
@pytest.mark.parametrize("node", NODES)
def test_what_a_node_has_in_the_graph_is_what_its_enclave_permits(graph: dict[str, Rights], tmp_path: Path, node: str):
    allowed, used = pair()[node], graph[node]
    simulated = frozenset(name for name in used.subscribes | used.calls if name.startswith("/sim/"))
    assert used.publishes <= allowed.publishes
    assert used.subscribes - simulated <= allowed.subscribes
    assert used.serves <= allowed.serves
    assert used.calls - simulated <= allowed.calls
    assert not missing(node, used)


def pair() -> dict[str, Rights]:
    from dataclasses import replace

    fleet = load_fleet("local_4")
    names = zip(("left", "right"), fleet.robots[:2], strict=True)
    robots = tuple(replace(robot, name=name, index=k) for k, (name, robot) in enumerate(names))
    return rights_of(replace(fleet, robots=robots, scenario="swap_2"))
