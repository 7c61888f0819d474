"""The fleet plan, and what the README says of it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from robomarl.core.config import UserError
from robomarl.core.domain.registry import domains
from robomarl.core.hardware.fleet import DeploymentConfig, Fleet, load_fleet
from robomarl.core.paths import vehicles_dir
from robomarl.ros import topics
from robomarl.ros.io.environment import environment
from robomarl.ros.operator.fleet_plan import ADAPTERS, plan_fleet
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.settings import LinkSettings, MonitorSettings, PolicySettings, RecorderSettings, SimSettings

ROBOTS = ("robot_0", "robot_1", "robot_2", "robot_3")

CRAZYFLIES = PlanOptions(vehicles="crazyflie")


@pytest.fixture
def fleet() -> Fleet:
    return load_fleet("local_4")


def test_one_policy_node_for_each_robot_in_its_namespace(fleet: Fleet):
    specs = plan_fleet(fleet)
    assert [spec.full_name for spec in specs] == [*(f"/{name}/policy_node" for name in ROBOTS), "/monitor"]
    specs, (monitor,) = specs[:4], specs[4:]
    assert [spec.parameters["index"] for spec in specs] == [0, 1, 2, 3]
    assert all(spec.parameters["team"] == list(ROBOTS) for spec in [*specs, monitor])
    assert all(spec.lifecycle for spec in specs)
    assert not monitor.lifecycle
    assert not any(spec.parameters["autostart"] for spec in specs)


def test_robots_keep_their_bundles_below_the_root(fleet: Fleet, tmp_path: Path):
    spec = plan_fleet(fleet, PlanOptions(root=str(tmp_path)))[1]
    assert spec.parameters["robot_root"] == str(tmp_path / "runs/robots/robot_1")
    assert "bundle" not in spec.parameters


def test_a_bundle_folder_becomes_absolute_and_a_name_stays(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    assert plan_fleet(fleet, PlanOptions(bundle="mine"))[0].parameters["bundle"] == str(tmp_path / "mine")
    assert plan_fleet(fleet, PlanOptions(bundle="swap_4"))[0].parameters["bundle"] == "swap_4"


def test_simulator_and_recorder_come_when_asked_for(fleet: Fleet):
    specs = plan_fleet(fleet, PlanOptions(sim=True, record="bag", namespace="lab/"))
    assert [spec.full_name for spec in specs[4:]] == ["/lab/monitor", "/lab/sim", "/lab/recorder"]
    assert specs[0].namespace == "/lab/robot_0"
    monitor, sim, recorder = specs[4:]
    assert all(spec.parameters["needs_recorder"] for spec in specs[:4]), "or what they hear first is missing"
    assert not any(spec.parameters["needs_recorder"] for spec in plan_fleet(fleet, PlanOptions(record="bag"))[:4])
    assert monitor.parameters["base"] == "/lab"
    assert sim.parameters["scenario"] == "swap_4"
    assert (recorder.parameters["base"], recorder.parameters["sim"]) == ("/lab", True)
    assert "fleet=local_4" in recorder.parameters["about"]


def test_the_link_emulator_comes_when_asked_for_and_policy_nodes_listen_to_it(fleet: Fleet):
    specs = plan_fleet(fleet, PlanOptions(sim=True, link=True))
    assert [spec.name for spec in specs] == ["policy_node"] * 4 + ["monitor", "link", "sim"]
    assert all(spec.parameters["via_link"] for spec in specs[:4])
    assert not any(spec.parameters["via_link"] for spec in plan_fleet(fleet)[:4])


def test_what_the_fleet_file_says_of_radio_and_field_reaches_the_nodes(fleet: Fleet):
    radio = replace(fleet.radio, rate_hz=25.0, reliable=True, depth=2)
    ours = replace(fleet, radio=radio, field=DeploymentConfig(1.3, 0.4, "land"))
    given = plan_fleet(ours)[0].parameters
    assert (given["radio_hz"], given["radio_reliable"], given["radio_depth"]) == (25.0, True, 2)
    assert (given["on_robot_lost"], given["handover_m"], given["climb_m_s"]) == ("land", 1.3, 0.4)
    assert plan_fleet(ours, PlanOptions(sim=True))[0].parameters["handover_m"] == 0.0  # they start in the air
    assert plan_fleet(ours, PlanOptions(sim=True, ground=True))[0].parameters["handover_m"] == 1.3
    assert plan_fleet(ours, PlanOptions(sim=True, ground=True))[-1].parameters["handover_m"] == 1.3


def test_nodes_get_the_estimator_and_real_robots_need_one(fleet: Fleet):
    ours = replace(fleet, estimator="mocap")
    nodes = {spec.name: spec.parameters for spec in plan_fleet(ours, PlanOptions(mocap="tf"))}
    assert [nodes[name]["estimator"] for name in ("policy_node", "monitor", "mocap_node")] == ["mocap"] * 3
    silent = replace(fleet, estimator="")
    assert "estimator" not in plan_fleet(silent, PlanOptions(sim=True))[0].parameters
    known = "firmware, firmware_corrected, mocap"
    with pytest.raises(UserError, match=f"^Fleet local_4: estimator is missing, .* measured bounds of {known};"):
        plan_fleet(silent, PlanOptions(mocap="tf"))


def test_an_estimator_that_no_node_makes_is_refused_and_simulated_ones_are_not(fleet: Fleet):
    ours = replace(fleet, estimator="firmware_corrected")
    for options in (PlanOptions(mocap="tf"), PlanOptions(vehicles="crazyswarm"), PlanOptions(vehicles="px4")):
        with pytest.raises(
            UserError, match="firmware_corrected is a Crazyflie's own estimate that crazyflie_node corr"
        ):
            plan_fleet(ours, options)
    uris = tuple(replace(robot, uri=f"radio://0/80/2M/E7E7E7E70{robot.index}") for robot in ours.robots)
    nodes = {spec.executable: spec.parameters for spec in plan_fleet(replace(ours, robots=uris), CRAZYFLIES)}
    assert nodes["crazyflie_node"]["estimator"] == nodes["policy_node"]["estimator"] == "firmware_corrected"
    assert plan_fleet(ours, PlanOptions(sim=True))


def test_what_the_fleet_file_leaves_out_the_scenario_and_the_vehicle_say(fleet: Fleet, tmp_path: Path):
    given = plan_fleet(fleet)[0].parameters
    assert (given["on_robot_lost"], given["handover_m"], given["climb_m_s"]) == ("hold", 1.2, 0.3)
    scenario, vehicle = tmp_path / "low.toml", tmp_path / "slow.yaml"
    scenario.write_text('extends = "swap_4"\n[field]\nhandover_m = 0.6\non_robot_lost = "continue"\n')
    vehicle.write_text((vehicles_dir() / "crazyflie_21.yaml").read_text() + "climb_m_s: 0.15\n")
    ours = replace(fleet, scenario=str(scenario), vehicle=str(vehicle), field=DeploymentConfig(on_robot_lost="land"))
    given = plan_fleet(ours)[0].parameters
    assert (given["on_robot_lost"], given["handover_m"], given["climb_m_s"]) == ("land", 0.6, 0.15)
    assert plan_fleet(replace(fleet, scenario="swap_6"))[0].parameters["handover_m"] == 1.2  # its family says so
    scenario.write_text('extends = "swap_4"\n[field]\nhand_over = 0.6\n')
    with pytest.raises(UserError, match="low.toml, field: .*hand_over"):
        plan_fleet(ours)


def test_policy_nodes_hear_what_stands_in_the_arena_of_the_scenario(fleet: Fleet):
    ours = replace(fleet, scenario="swap_4_pillar")
    spec = plan_fleet(ours, PlanOptions(sim=True))[0]
    said = next(word.partition(":=")[2] for word in spec.arguments() if word.startswith("obstacles"))
    assert [stands["name"] for stands in json.loads(yaml.safe_load(said))] == ["pillar"]
    assert "obstacles" not in plan_fleet(fleet)[0].parameters


@pytest.mark.parametrize(("name", "pitch_m"), [("soccer_2v2", [4.5, 3.0]), ("soccer_3v3", [6.05, 4.05])])
def test_players_know_the_field_of_their_fleet_whatever_the_bundle_was_trained_on(name: str, pitch_m: list[float]):
    specs = plan_fleet(load_fleet(name), PlanOptions(bundle="soccer_2v2"))
    told = [spec.parameters["pitch_m"] for spec in specs if "pitch_m" in spec.parameters]
    assert told == [pitch_m] * 2 * int(name[-1])
    assert [spec.parameters["away"] for spec in specs if "away" in spec.parameters].count(True) == int(name[-1])


@pytest.mark.parametrize(("side", "own"), [(0, ("yellow_0", "yellow_1")), (1, ("blue_0", "blue_1"))])
def test_a_foreign_team_has_no_node_and_is_waited_for_by_none(side: int, own: tuple[str, ...]):
    whole = load_fleet("soccer_2v2")
    robots = tuple(replace(robot, foreign=robot.index // 2 == side) for robot in whole.robots)
    fleet, every = replace(whole, robots=robots), tuple(robot.name for robot in robots)
    options = PlanOptions(bundle="soccer_2v2", sim=True, vehicles="ssl", record="bag", link=True)
    specs = {spec.full_name: spec.parameters for spec in plan_fleet(fleet, options)}
    assert [name for name in specs if name.endswith("policy_node")] == [f"/{name}/policy_node" for name in own]
    for name in own:
        node = specs[f"/{name}/policy_node"]
        assert (node["team"], node["index"], node["away"]) == ([*own], int(name[-1]), side == 0)
    assert all(specs[name]["team"] == [*own] for name in ("/monitor", "/referee", "/recorder", "/link"))
    assert all(specs[name]["team"] == [*every] for name in ("/sim", "/ssl_node"))
    assert specs["/ssl_node"]["foreign"] == [name for name in every if name not in own]
    assert "foreign" not in {spec.name: spec for spec in plan_fleet(whole, options)}["ssl_node"].parameters
    with pytest.raises(UserError, match=f"no node of ours for foreign robot '{every[2 * side]}'; it has {own[0]}"):
        plan_fleet(fleet, PlanOptions(robots=(every[2 * side],)))


def test_only_the_simulator_ignores_simulated_time(fleet: Fleet):
    specs = plan_fleet(fleet, PlanOptions(sim=True, use_sim_time=True))
    assert [spec.name for spec in specs if not spec.parameters["use_sim_time"]] == ["sim"]
    assert specs[-1].parameters["clock"]


def test_some_of_the_robots(fleet: Fleet):
    specs = plan_fleet(fleet, PlanOptions(robots=("robot_2",)))
    assert [spec.full_name for spec in specs] == ["/robot_2/policy_node", "/monitor"]
    assert specs[0].parameters["team"] == list(ROBOTS)
    with pytest.raises(UserError, match="no robot 'robot_9'; it has robot_0"):
        plan_fleet(fleet, PlanOptions(robots=("robot_9",)))


def test_parameters_are_those_that_the_nodes_have(fleet: Fleet):
    options = PlanOptions(sim=True, record="bag", bundle="b", log_dir="l", params_file="p.yaml", link=True)
    specs = plan_fleet(fleet, options)
    known = {"policy_node": PolicySettings, "sim_node": SimSettings, "recorder_node": RecorderSettings}
    known |= {"monitor_node": MonitorSettings, "link_node": LinkSettings}
    for spec in specs:
        names = set(known[spec.executable].__dataclass_fields__) | {"use_sim_time"}
        assert set(spec.parameters) <= names


def test_arguments_are_what_ros_reads(fleet: Fleet):
    words = plan_fleet(fleet, PlanOptions(params_file="p.yaml", log_level="debug"))[1].arguments()
    assert words[:5] == ["--ros-args", "-r", "__node:=policy_node", "-r", "__ns:=/robot_1"]
    assert words[words.index("--params-file") + 1] == "p.yaml"
    assert words[words.index("--log-level") + 1] == "debug"
    pairs = [word.partition(":=") for flag, word in zip(words, words[1:], strict=False) if flag == "-p"]
    values = {name: yaml.safe_load(value) for name, _, value in pairs}
    assert (values["index"], values["team"], values["use_sim_time"]) == (1, list(ROBOTS), False)


def test_the_environment_keeps_simulations_on_this_machine():
    assert environment(sim=True, domain_id=7) | {"ROS_DOMAIN_ID": "7"} == environment(sim=True, domain_id=7)
    assert environment(sim=True)["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert "ROS_AUTOMATIC_DISCOVERY_RANGE" not in environment(sim=False)
    with pytest.raises(UserError, match="from 0 to 101"):
        environment(sim=True, domain_id=102)


def test_parameter_files_name_parameters_that_exist(root: Path):
    known = {"policy_node": PolicySettings, "recorder": RecorderSettings, "sim": SimSettings}
    known |= {"monitor": MonitorSettings, "link": LinkSettings}
    for path in (root / "ros_nodes" / "params").glob("*.yaml"):
        for node, content in yaml.safe_load(path.read_text()).items():
            fields = known[node.rpartition("/")[2]].__dataclass_fields__
            assert set(content["ros__parameters"]) <= set(fields), path.name


def qos_text(topic: topics.Topic) -> str:
    """Quality of service in words, as in the README."""
    return f"{'reliable' if topic.reliable else 'best effort'}{', latched' if topic.latched else ''}, {topic.depth}"


def test_the_readme_lists_every_topic_as_it_is(root: Path):
    lines = (root / "ros_nodes" / "README.md").read_text().splitlines()
    team = (*topics.TEAM_TOPICS, topics.CLOCK)
    graphs = [topics.graph_of(task) for domain in domains().values() for task in domain.tasks]
    named = [("", team), ("sim/", topics.SIM_TOPICS)]
    for graph in graphs:
        named += [("NAME/", graph.robot), ("world/", graph.world), *((f"{name}/", (t,)) for name, t in graph.beside)]
    assert [prefix for prefix, _ in named].count("referee/") == 1
    for prefix, found in named:
        for topic in found:
            kind = topic.type.replace("/msg/", "/")
            cells = (f"`{prefix}{topic.name}`", kind, qos_text(topic), topic.rate, topic.frame, topic.content)
            assert f"| {' | '.join(cells)} |" in lines, topic.name


def specs_of_all_plans() -> Iterator[NodeSpec]:
    """Nodes of every adapter, simulated and real, and of every kind of team."""
    for name in ("local_4", "lift_3", "soccer_2v2", "navigation_3"):
        fleet = load_fleet(name)
        robots = [replace(robot, uri=f"udp://10.0.0.{k + 1}:19999") for k, robot in enumerate(fleet.robots)]
        for sim in (True, False):
            known = replace(fleet, robots=tuple(robots))
            for vehicles in ("", *ADAPTERS, "ssl"):
                try:
                    yield from plan_fleet(known, PlanOptions(sim=sim, vehicles=vehicles, link=True, record="bag"))
                except UserError:  # robots of that kind have no such adapter
                    continue
    yield from plan_fleet(load_fleet("local_4"), PlanOptions(mocap="tf"))


def test_every_node_of_a_plan_is_a_module_that_there_is():
    found = {(spec.executable, spec.module) for spec in specs_of_all_plans()}
    assert len(found) >= 20
    assert not [pair for pair in found if find_spec(pair[1].split()[0]) is None]
