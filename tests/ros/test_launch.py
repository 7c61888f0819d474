"""The launch file is thin over the fleet plan; every rehearsal's is a link to it with other defaults."""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet, load_fleet
from robomarl.core.hardware.scenario_files import scenario_names
from robomarl.front.cli.up import Args
from robomarl.lab.sim.scenario import load_scenario
from robomarl.ros.io.environment import environment
from robomarl.ros.io.processes import PARENT_ENV
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.launch_plan import LEFT_OUT, REHEARSALS, arguments, launch_plan
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.operator.plan_options import PlanOptions

BAG = str(Path("bag").absolute())


@pytest.fixture
def fleet() -> Fleet:
    return load_fleet("local_4")


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
    for module, classes in names.items():
        made = ModuleType(module)
        for name in classes:
            setattr(made, name, type(name, (Recorded,), {}))
        monkeypatch.setitem(sys.modules, module, made)
    monkeypatch.setitem(sys.modules, "launch.events", ModuleType("launch.events"))
    sys.modules["launch.events"].matches_action = lambda action: ("matches", action)  # type: ignore[attr-defined]
    sys.modules["launch.substitutions"].LaunchConfiguration = Argument  # type: ignore[attr-defined]
    yield loaded(root, "robomarl.launch.py")


def loaded(root: Path, file: str) -> ModuleType:
    """A launch file under the name that it is called by; the launch API is replaced already."""
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


def given_to(spec: NodeSpec) -> dict[str, Any]:
    """All that a launch file has to tell the node's action, no more and no less."""
    return {
        "package": spec.package,
        "executable": spec.executable,
        "name": spec.name,
        "namespace": spec.namespace,
        "parameters": [*([spec.params_file] if spec.params_file else []), spec.parameters],
        "remappings": list(spec.remaps),
        "ros_arguments": ["--log-level", spec.log_level],
        "output": "screen",
        "respawn": spec.respawn,
        "respawn_delay": spec.respawn_s,
    }


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"record": "false"}, PlanOptions(tell_goals=True)),
        ({"record": "false", "monitor": "false", "goals": "false"}, PlanOptions(monitor=False)),
        (
            {"sim": "true", "bundle": "swap_4", "namespace": "lab", "record_dir": "bag", "autostart": "True"},
            PlanOptions(sim=True, bundle="swap_4", namespace="lab", record=BAG, autostart=True, tell_goals=True),
        ),
        (
            {"record": "false", "robots": "robot_1,robot_3", "params_file": "p.yaml", "log_level": "debug",
             "use_sim_time": "true"},
            PlanOptions(robots=("robot_1", "robot_3"), params_file="p.yaml", log_level="debug", use_sim_time=True,
                        tell_goals=True),
        ),
    ],
)  # fmt: skip
def test_the_launch_file_starts_what_the_plan_says(
    launch_file: ModuleType, fleet: Fleet, given: dict[str, str], options: PlanOptions
):
    nodes, others = launched(launch_file, fleet="local_4", **given)
    specs = plan_fleet(fleet, options)
    assert [node.kwargs for node in nodes] == [given_to(spec) for spec in specs]
    assert not any(node.args for node in nodes)
    assert [node.kind == "LifecycleNode" for node in nodes] == [spec.lifecycle for spec in specs]
    variables = {a.args[0]: a.args[1] for a in others if a.kind == "SetEnvironmentVariable"}
    assert variables == environment(options.sim, options.domain_id) | {PARENT_ENV: str(os.getpid())}


EACH = {
    "bundle": ("local_4", "swap_4", {"bundle": "swap_4"}),
    "against": ("soccer_2v2", "soccer_2v2", {"against": "soccer_2v2"}),
    "namespace": ("local_4", "lab", {"namespace": "lab"}),
    "root": ("local_4", "/srv/fleet", {"root": "/srv/fleet"}),
    "robots": ("local_4", " robot_1 , robot_3,", {"robots": ("robot_1", "robot_3")}),
    "policies": ("local_4", "No", {"policies": False}),
    "sim": ("local_4", "1", {"sim": True}),
    "params_file": ("local_4", "p.yaml", {"params_file": "p.yaml"}),
    "use_sim_time": ("local_4", "on", {"use_sim_time": True}),
    "autostart": ("local_4", "TRUE", {"autostart": True}),
    "log_level": ("local_4", "debug", {"log_level": "debug"}),
    "seed": ("local_4", "7", {"seed": 7}),
    "link": ("local_4", "yes", {"link": True}),
    "mission": ("lift_3", "lift_3", {"mission": "lift_3"}),
    "goals": ("local_4", "off", {"tell_goals": False}),
    "monitor": ("local_4", "0", {"monitor": False}),
    "vehicles": ("local_4", "crazyflie", {"vehicles": "crazyflie"}),
    "mocap": ("local_4", "named_poses", {"mocap": "named_poses"}),
    "ground": ("local_4", "true", {"ground": True}),
    "domain_id": ("local_4", "42", {"domain_id": 42}),
    "record": ("local_4", "false", {"record": ""}),
    "record_dir": ("local_4", "elsewhere", {"record": str(Path("elsewhere").absolute())}),
}
"""By argument: a fleet that it says something to, its text, and the option that it is."""


def test_each_argument_is_tried_alone():
    assert set(EACH) == set(arguments()) - {"fleet"}


@pytest.mark.parametrize("name", EACH)
def test_each_argument_reaches_the_nodes_as_its_option(launch_file: ModuleType, name: str):
    """In a simulation, where the simulator has a say in most of them, and without one."""
    fleet, text, option = EACH[name]
    for sim in (True, False):
        told: dict[str, Any] = {"sim": sim, "tell_goals": True, "record": BAG, **option}
        given = {"sim": str(sim), "record_dir": "bag", name: text}
        try:
            specs = plan_fleet(load_fleet(fleet), PlanOptions(**told))
        except UserError as error:  # what the plan refuses, the launch file refuses in the same words
            with pytest.raises(UserError, match=re.escape(str(error))):
                launched(launch_file, fleet=fleet, **given)
            continue
        nodes, others = launched(launch_file, fleet=fleet, **given)
        assert [node.kwargs for node in nodes] == [given_to(spec) for spec in specs]
        variables = {a.args[0]: a.args[1] for a in others if a.kind == "SetEnvironmentVariable"}
        assert variables == environment(told["sim"], told.get("domain_id")) | {PARENT_ENV: str(os.getpid())}


def test_the_environment_is_set_before_the_first_node(launch_file: ModuleType):
    """Who configures the nodes has to be in their domain."""
    described = launch_file.generate_launch_description().args[0]
    arguments_of = {a.args[0]: a.kwargs["default_value"] for a in described if a.kind == "DeclareLaunchArgument"}
    made = described[-1].kwargs["function"]({**arguments_of, "fleet": "local_4", "domain_id": "7"})
    kinds = [action.kind for action in made]
    assert len(kinds) - kinds[::-1].index("SetEnvironmentVariable") <= kinds.index("RegisterEventHandler")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("sim", "maybe", "sim:=maybe must be true or false"),
        ("goals", "", "goals:= must be true or false"),
        ("seed", "first", "seed:=first must be a whole number"),
        ("domain_id", "x", "domain_id:=x must be a whole number"),
        ("domain_id", "102", "must be from 0 to 101"),
        ("robots", "robot_9", "has no robot 'robot_9'"),
    ],
)
def test_an_argument_that_is_none_is_one_sentence(name: str, text: str, words: str):
    given = {name: argument.default or "" for name, argument in arguments().items()}
    with pytest.raises(UserError, match=re.escape(words)):
        launch_plan({**given, "fleet": "local_4", name: text})


def test_up_and_the_launch_files_give_every_option_of_the_plan():
    options = {field.name for field in fields(PlanOptions)}
    assert {*arguments(), *LEFT_OUT} >= (options - {"tell_goals"}) | {"goals"}
    words = {"match_s": "duration", "log_dir": "out", "keystore": "secure", "policies": "no_policies",
             "monitor": "no_monitor"}  # fmt: skip
    assert {words.get(name, name) for name in options - {"tell_goals"}} <= {field.name for field in fields(Args)}


def test_rehearsals_give_arguments_that_there_are():
    assert all(set(given) <= set(arguments()) for given in REHEARSALS.values())
    for given in REHEARSALS.values():
        plan = launch_plan({name: argument.default or "" for name, argument in arguments().items()} | given)
        assert [spec.name for spec in plan.nodes][-1] == "recorder"


@pytest.mark.ros
@pytest.mark.skipif(importlib.util.find_spec("launch_ros") is None, reason="ROS's own launch is on no package index")
def test_ros_launch_brings_a_rehearsal_to_ready_and_takes_it_down(root: Path, goto_bundle: Path, tmp_path: Path):
    """The real `launch`: robots become READY by themselves; when it ends, by whatever signal, so do all nodes."""
    from robomarl.ros.io.processes import child_environment, claimed_domain
    from robomarl.ros.operator.console import open_console
    from robomarl.ros.robot.state_machine import Order

    robots, file = tuple(f"robot_{k}" for k in range(4)), root / "ros_nodes" / "launch" / "swap_4.launch.py"
    with claimed_domain(None) as domain:
        shared = environment(True, domain)
        words = ["ros2", "launch", str(file), f"bundle:={goto_bundle}", f"root:={tmp_path}", f"domain_id:={domain}"]
        process = subprocess.Popen([*words, f"record_dir:={tmp_path / 'bag'}"], env=child_environment(shared))
        try:
            with open_console(robots, shared) as console:
                console.wait_for_nodes(60)
                console.wait_until_ready(robots, 60)
                for order in (Order.ARM, Order.ACTIVATE, Order.LAND):
                    assert console.order(order, ["all"]) == {"all": ""}
                process.kill()
                console.wait(lambda: len(console._node.get_node_names()) == 1, 40, "all nodes to end")
        finally:
            process.kill()
            process.wait()


FIELDED = [name for name in scenario_names() if re.fullmatch(r"(swap|goto|lift)_\d+|soccer_(2v2|3v3)", name)]
"""Other names are variants for `eval`, and a game of one against one."""


def test_every_rehearsal_has_a_link_to_the_one_launch_file(root: Path):
    links = {file for file in (root / "ros_nodes" / "launch").glob("*.launch.py") if file.is_symlink()}
    assert {file.name.removesuffix(".launch.py") for file in links} == {*REHEARSALS, "field_test"}
    assert {str(file.readlink()) for file in links} == {"robomarl.launch.py"}
    assert set(FIELDED) <= set(REHEARSALS)


@pytest.mark.usefixtures("launch_file")
@pytest.mark.parametrize("name", [*REHEARSALS, "field_test"])
def test_a_link_differs_in_defaults_only(root: Path, name: str):
    described = loaded(root, f"{name}.launch.py").generate_launch_description().args[0]
    declared = {a.args[0]: a.kwargs["default_value"] for a in described if a.kind == "DeclareLaunchArgument"}
    defaults = {key: argument.default for key, argument in arguments().items()}
    assert declared == defaults | REHEARSALS.get(name, {})


@pytest.mark.parametrize("name", REHEARSALS)
def test_a_rehearsal_starts_the_fleet_of_its_scenario(name: str):
    fleet, scenario = load_fleet(REHEARSALS[name]["fleet"]), load_scenario(name)
    assert (fleet.scenario, fleet.team_size, fleet.vehicle) == (name, scenario.count, scenario.vehicle)


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
