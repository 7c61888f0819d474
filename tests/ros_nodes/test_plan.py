"""The fleet plan, the launch file over it, and what the README says of both."""

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

from robomarl.config import UserError
from robomarl.hardware_configs.fleet import FieldConfig, Fleet, load_fleet
from robomarl.paths import vehicles_dir
from robomarl.ros_nodes import topics
from robomarl.ros_nodes.plan import NodeSpec, PlanOptions, environment, plan_fleet
from robomarl.ros_nodes.settings import LinkSettings, MonitorSettings, PolicySettings, RecorderSettings, SimSettings

ROBOTS = ("robot_0", "robot_1", "robot_2", "robot_3")


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
    ours = replace(fleet, radio=radio, field=FieldConfig(1.3, 0.4, "land"))
    given = plan_fleet(ours)[0].parameters
    assert (given["radio_hz"], given["radio_reliable"], given["radio_depth"]) == (25.0, True, 2)
    assert (given["on_robot_lost"], given["handover_m"], given["climb_m_s"]) == ("land", 1.3, 0.4)
    assert plan_fleet(ours, PlanOptions(sim=True))[0].parameters["handover_m"] == 0.0  # they start in the air
    assert plan_fleet(ours, PlanOptions(sim=True, ground=True))[0].parameters["handover_m"] == 1.3
    assert plan_fleet(ours, PlanOptions(sim=True, ground=True))[-1].parameters["handover_m"] == 1.3


def test_what_the_fleet_file_leaves_out_the_scenario_and_the_vehicle_say(fleet: Fleet, tmp_path: Path):
    given = plan_fleet(fleet)[0].parameters
    assert (given["on_robot_lost"], given["handover_m"], given["climb_m_s"]) == ("hold", 1.2, 0.3)
    scenario, vehicle = tmp_path / "low.toml", tmp_path / "slow.yaml"
    scenario.write_text('extends = "swap_4"\n[field]\nhandover_m = 0.6\non_robot_lost = "continue"\n')
    vehicle.write_text((vehicles_dir() / "crazyflie_21.yaml").read_text() + "climb_m_s: 0.15\n")
    ours = replace(fleet, scenario=str(scenario), vehicle=str(vehicle), field=FieldConfig(on_robot_lost="land"))
    given = plan_fleet(ours)[0].parameters
    assert (given["on_robot_lost"], given["handover_m"], given["climb_m_s"]) == ("land", 0.6, 0.15)
    assert plan_fleet(replace(fleet, scenario="swap_6"))[0].parameters["handover_m"] == 1.2  # its family says so
    scenario.write_text('extends = "swap_4"\n[field]\nhand_over = 0.6\n')
    with pytest.raises(UserError, match="low.toml, field: .*hand_over"):
        plan_fleet(ours)


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


class Recorded:
    """Any class of the launch API: remembers how it was made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.kind, self.args, self.kwargs = type(self).__name__, args, kwargs


class Argument(Recorded):
    def perform(self, context: dict[str, str]) -> str:
        return context[self.args[0]]


@pytest.fixture
def launch_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The launch file, loaded with a launch API that only remembers."""
    names = {
        "launch": ["LaunchContext", "LaunchDescription"],
        "launch.actions": ["DeclareLaunchArgument", "EmitEvent", "OpaqueFunction", "RegisterEventHandler",
                           "SetEnvironmentVariable"],
        "launch.event_handlers": ["OnProcessStart"],
        "launch.events": [],
        "launch.substitutions": [],
        "launch_ros": [],
        "launch_ros.actions": ["LifecycleNode", "Node"],
        "launch_ros.events": [],
        "launch_ros.events.lifecycle": ["ChangeState"],
    }  # fmt: skip
    if importlib.util.find_spec("lifecycle_msgs") is None:
        pytest.skip("lifecycle_msgs is not installed")
    yield loaded(root, monkeypatch, "field_test.launch.py", names)


def loaded(root: Path, monkeypatch: pytest.MonkeyPatch, file: str, names: dict[str, list[str]]) -> ModuleType:
    """A launch file, with a launch API that only remembers."""
    for module, classes in names.items():
        made = ModuleType(module)
        for name in classes:
            setattr(made, name, type(name, (Recorded,), {}))
        monkeypatch.setitem(sys.modules, module, made)
    monkeypatch.setitem(sys.modules, "launch.events", ModuleType("launch.events"))
    sys.modules["launch.events"].matches_action = lambda action: ("matches", action)  # type: ignore[attr-defined]
    sys.modules["launch.substitutions"].LaunchConfiguration = Argument  # type: ignore[attr-defined]
    path = root / "ros_nodes" / "launch" / file
    spec = importlib.util.spec_from_file_location(file.replace(".", "_"), path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launched(launch_file: ModuleType, **given: str) -> tuple[list[Recorded], list[Recorded]]:
    """Nodes and other actions that the launch file makes for these arguments."""
    described = launch_file.generate_launch_description().args[0]
    declared = [action for action in described if action.kind == "DeclareLaunchArgument"]
    defaults = {action.args[0]: action.kwargs.get("default_value") for action in declared}
    assert set(given) <= set(defaults)
    (opaque,) = [action for action in described if action.kind == "OpaqueFunction"]
    made = opaque.kwargs["function"]({**defaults, **given})
    is_node = [action.kind in ("Node", "LifecycleNode") for action in made]
    return (
        [action for action, node in zip(made, is_node, strict=True) if node],
        [action for action, node in zip(made, is_node, strict=True) if not node],
    )


def as_spec(node: Recorded) -> SimpleNamespace:
    return SimpleNamespace(**node.kwargs, lifecycle=node.kind == "LifecycleNode")


def same(spec: NodeSpec, node: SimpleNamespace) -> bool:
    files = [p for p in node.parameters if isinstance(p, str)]
    return (
        (spec.executable, spec.name, spec.namespace) == (node.executable, node.name, node.namespace)
        and (spec.lifecycle, [spec.params_file] if spec.params_file else []) == (node.lifecycle, files)
        and node.parameters[-1] == spec.parameters
        and node.ros_arguments == ["--log-level", spec.log_level]
    )


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"record": "false"}, PlanOptions()),
        (
            {"sim": "true", "bundle": "swap_4", "namespace": "lab", "record_dir": "bag", "autostart": "True"},
            PlanOptions(sim=True, bundle="swap_4", namespace="lab", record="bag", autostart=True),
        ),
        (
            {"record": "false", "robots": "robot_1,robot_3", "params_file": "p.yaml", "log_level": "debug",
             "use_sim_time": "true"},
            PlanOptions(robots=("robot_1", "robot_3"), params_file="p.yaml", log_level="debug", use_sim_time=True),
        ),
    ],
)  # fmt: skip
def test_the_launch_file_starts_what_the_plan_says(
    launch_file: ModuleType, fleet: Fleet, given: dict[str, str], options: PlanOptions
):
    nodes, others = launched(launch_file, fleet="local_4", **given)
    specs = plan_fleet(fleet, options)
    assert len(nodes) == len(specs)
    assert all(same(spec, as_spec(node)) for spec, node in zip(specs, nodes, strict=True))
    variables = {a.args[0]: a.args[1] for a in others if a.kind == "SetEnvironmentVariable"}
    assert variables == environment(options.sim)


@pytest.mark.parametrize("name", ["swap_4", "lift_3"])
def test_every_scenario_has_a_launch_file_over_the_same_one(root: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    names = {
        "launch": ["LaunchDescription"],
        "launch.actions": ["DeclareLaunchArgument", "IncludeLaunchDescription"],
        "launch.launch_description_sources": ["PythonLaunchDescriptionSource"],
        "launch.substitutions": ["LaunchConfiguration"],
    }
    module = loaded(root, monkeypatch, f"{name}.launch.py", names)
    *declared, included = module.generate_launch_description().args[0]
    assert included.args[0].args[0] == str(root / "ros_nodes" / "launch" / "field_test.launch.py")
    assert load_fleet(module.ARGUMENTS["fleet"]).scenario == name
    assert [given[0] for given in included.kwargs["launch_arguments"]] == [action.args[0] for action in declared]


def test_the_launch_file_configures_policy_nodes_and_activates_none(launch_file: ModuleType):
    nodes, others = launched(launch_file, fleet="local_4", sim="true")
    handlers = [action.args[0] for action in others if action.kind == "RegisterEventHandler"]
    targets = [handler.kwargs["target_action"] for handler in handlers]
    assert targets == [node for node in nodes if node.kind == "LifecycleNode"]
    for handler in handlers:
        (emitted,) = handler.kwargs["on_start"]
        assert emitted.kwargs["event"].kwargs["transition_id"] == 1  # configure


def test_it_records_unless_told_not_to(launch_file: ModuleType):
    nodes, _ = launched(launch_file, fleet="local_4")
    recorder = nodes[-1].kwargs
    assert recorder["executable"] == "recorder_node"
    assert "runs/field/" in recorder["parameters"][-1]["folder"]


def test_the_launch_file_passes_mistakes_in_the_fleet_file_through(launch_file: ModuleType):
    with pytest.raises(UserError, match="Unknown fleet 'nowhere'"):
        launched(launch_file, fleet="nowhere")


def test_parameter_files_name_parameters_that_exist(root: Path):
    known = {"policy_node": PolicySettings, "recorder": RecorderSettings, "sim": SimSettings}
    known |= {"monitor": MonitorSettings, "link": LinkSettings}
    for path in (root / "ros_nodes" / "params").glob("*.yaml"):
        for node, content in yaml.safe_load(path.read_text()).items():
            fields = known[node.rpartition("/")[2]].__dataclass_fields__
            assert set(content["ros__parameters"]) <= set(fields), path.name


def test_the_readme_lists_every_topic_as_it_is(root: Path):
    lines = (root / "ros_nodes" / "README.md").read_text().splitlines()
    team = (*topics.TEAM_TOPICS, topics.CLOCK)
    world = [topic for found in topics.WORLD_TOPICS.values() for topic in found]
    named = (("NAME/", topics.ROBOT_TOPICS), ("world/", world), ("sim/", topics.SIM_TOPICS), ("", team))
    for prefix, found in named:
        for topic in found:
            kind = topic.type.replace("/msg/", "/")
            cells = (f"`{prefix}{topic.name}`", kind, topics.qos_text(topic), topic.rate, topic.frame, topic.content)
            assert f"| {' | '.join(cells)} |" in lines, topic.name
