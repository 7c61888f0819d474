"""What adapters' nodes have in the graph is what their enclaves permit."""

from dataclasses import replace
from fnmatch import fnmatch

import pytest

from robomarl.core.hardware.fleet import Fleet, load_fleet
from robomarl.ros.enclaves.rights import rights_of
from robomarl.ros.enclaves.rights_terms import Rights
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.vehicle_topics.mocap import KINDS

NAMES = ("left", "right")
SINGLE = {
    "mavlink": ("vehicles.nodes mavlink_node", "udpin://127.0.0.1:14999?system=1"),
    "px4_dds": ("vehicles.nodes px4_dds_node", "ros:/px4_1?system=1"),
    "mavros_adapter": ("vehicles.nodes mavros_adapter_node", "ros:/uav1/mavros?system=1"),
}
SHARED = {
    "crazyflie_node": ("vehicles.nodes crazyflie_node", "udp://127.0.0.1:19999"),
    "crazyswarm_node": ("vehicles.nodes crazyswarm_node", "ros:/cf1"),
}


def fleet_at(uri: str) -> Fleet:
    """Two robots; the first one's vehicle is there."""
    fleet = load_fleet("local_4")
    uris = zip(NAMES, fleet.robots[:2], (uri, ""), strict=True)
    robots = tuple(replace(robot, name=name, index=k, uri=at) for k, (name, robot, at) in enumerate(uris))
    return replace(fleet, robots=robots, scenario="swap_2")


def test_an_adapters_key_speaks_for_its_robot_and_its_vehicle_only():
    found = rights_of(fleet_at("ros:/px4_1?system=1"), "/lab")
    one, other = found["/lab/px4_dds_left"], found["/lab/px4_dds_right"]
    assert "/px4_1/fmu/in/vehicle_command*" in one.publishes and "/lab/left/command" in one.subscribes
    assert not [name for name in one.publishes | one.subscribes | one.serves if "/right" in name]
    assert not [name for name in other.publishes | other.subscribes if "px4_1" in name], "its vehicle is elsewhere"
    assert not one.calls
    assert "/px4_1/emergency" in found["/lab/crazyswarm_node"].calls
    team = {f"/lab/{name}/vehicle/kill" for name in NAMES}
    assert team <= found["/lab/crazyflie_node"].serves
    assert not [name for name, rights in found.items() if "vehicle_command" in str(rights) and "px4_dds" not in name]


def test_teams_that_no_adapter_flies_have_no_such_keys():
    found = rights_of(load_fleet("soccer_2v2"))
    assert not [name for name in found if "mavlink" in name or "crazyflie" in name or "base_node" in name]
    assert {"/blue_0/sighting", "/world/ball"} <= found["/ssl_node"].publishes
    assert "/base_node" in rights_of(bases()) and "/base_node" not in rights_of(load_fleet("local_4"))


def bases() -> Fleet:
    """Two of the fleet that drives, by their usual names."""
    fleet = load_fleet("navigation_3")
    robots = [replace(robot, name=name) for name, robot in zip((*NAMES, "third"), fleet.robots, strict=True)]
    return replace(fleet, robots=tuple(robots))


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.usefixtures("foreign_messages")
def test_what_motion_capture_has_in_the_graph_is_what_its_enclave_permits():
    """In every way in which poses may come."""
    from tests.ros.vehicles.noderig import spec

    made = [spec("vehicles.mocap.node", "mocap_node", team=["left"], source=way) for way in KINDS]
    compare(made, rights_of(bases())["/mocap_node"])


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.usefixtures("foreign_messages")
def test_what_a_base_has_in_the_graph_is_what_its_enclave_permits():
    """In every way in which it may learn where it is."""
    from robomarl.vehicles.base.seat import LOCALIZATIONS
    from tests.ros.vehicles.noderig import spec

    about = {"team": ["left"], "starts": [0.0, 0.0, 0.0]}
    made = [spec("vehicles.base.node", "base_node", localization=way, **about) for way in LOCALIZATIONS]
    compare(made, rights_of(bases())["/base_node"])


@pytest.mark.slow
@pytest.mark.ros
def test_what_the_leagues_adapter_has_in_the_graph_is_what_its_enclave_permits():
    pytest.importorskip("google.protobuf")
    from tests.ros.ssl.driver import nodes

    compare(nodes()[1:], rights_of(load_fleet("soccer_2v2"))["/ssl_node"])


def compare(ways: list[NodeSpec], permitted: Rights) -> None:
    """A node has nothing beyond its rights in any way in which it may run, and uses all of them in one or another."""
    pytest.importorskip("rclpy")
    allowed, used = own_part(permitted), Rights()
    for node in ways:
        used |= (found := of_running(node, allowed.serves))
        for own, most in zip(parts_of(found), parts_of(allowed), strict=True):
            assert own <= most, own - most
    rest = [most - own for own, most in zip(parts_of(used), parts_of(allowed), strict=True)]
    assert not frozenset.union(*rest) - {"/clock", "/parameter_events"}, rest


def of_running(node: NodeSpec, serves: frozenset[str]) -> Rights:
    """What it has in the graph, once all services are there and nothing more has come for a second."""
    from tests.ros.operator.test_rights import in_graph
    from tests.ros.vehicles.noderig import started

    with started(node) as peer:
        assert peer.wait(lambda: serves <= in_graph(peer.node).get(node.full_name, Rights()).serves), peer.lines
        before = Rights()
        while (found := in_graph(peer.node)[node.full_name]) != before:
            before = found
            peer.run(1.0)
        return found


def own_part(rights: Rights) -> Rights:
    """Without what belongs to robots that are not there."""
    others = ("/right/", "/third/")
    return Rights(*(frozenset(n for n in row if not n.startswith(others)) for row in parts_of(rights)))


def parts_of(rights: Rights) -> tuple[frozenset[str], ...]:
    return rights.publishes, rights.subscribes, rights.serves, rights.calls


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.usefixtures("foreign_messages")
def test_what_an_adapter_has_in_the_graph_is_what_its_enclave_permits():
    pytest.importorskip("rclpy")
    pytest.importorskip("cflib")
    pytest.importorskip("pymavlink")
    from tests.ros.operator.test_rights import in_graph
    from tests.ros.vehicles.noderig import spec, started

    specs = [spec(module, f"{kind}_left", robot="left", uri=uri) for kind, (module, uri) in SINGLE.items()]
    specs += [spec(module, kind, team=["left"], uris=[uri]) for kind, (module, uri) in SHARED.items()]
    allowed = {f"/{kind}_left": rights_of(fleet_at(uri))[f"/{kind}_left"] for kind, (_, uri) in SINGLE.items()}
    allowed |= {f"/{kind}": rights_of(fleet_at(uri))[f"/{kind}"] for kind, (_, uri) in SHARED.items()}
    with started(*specs) as peer:
        used: dict[str, Rights] = {}

        def complete() -> bool:
            used.update(in_graph(peer.node))
            return all(name in used and not unused(allowed[name], used[name]) for name in allowed)

        assert peer.wait(complete), {name: unused(allowed[name], used.get(name, Rights())) for name in allowed}
        for name, rights in allowed.items():
            for part in ("publishes", "subscribes", "serves", "calls"):
                beyond = [n for n in getattr(used[name], part) if not any(fnmatch(n, a) for a in getattr(rights, part))]
                assert not beyond, (name, part, beyond)


def unused(allowed: Rights, used: Rights) -> set[str]:
    """What a node may do and does not; what belongs to the second robot is not there."""
    parts = ("publishes", "subscribes", "serves", "calls")
    left = {a for part in parts for a in getattr(allowed, part) if not any(fnmatch(n, a) for n in getattr(used, part))}
    return {name for name in left if "/right/" not in name} - {"/clock", "/parameter_events"}
