"""The launch files: the field test's is thin over the fleet plan, every scenario's over that one."""

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from robomarl.config import UserError
from robomarl.domains.soccer.scenario import is_soccer, load_soccer
from robomarl.hardware_configs.fleet import Fleet, load_fleet
from robomarl.ros_nodes.operator.fleet_plan import NodeSpec, PlanOptions, environment, plan_fleet
from robomarl.sim.scenario import load_scenario, scenario_names


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
        and node.respawn == spec.respawn
    )


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"record": "false"}, PlanOptions(tell_goals=True)),
        ({"record": "false", "monitor": "false", "goals": "false"}, PlanOptions(monitor=False)),
        (
            {"sim": "true", "bundle": "swap_4", "namespace": "lab", "record_dir": "bag", "autostart": "True"},
            PlanOptions(sim=True, bundle="swap_4", namespace="lab", record="bag", autostart=True, tell_goals=True),
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
    assert len(nodes) == len(specs)
    assert all(same(spec, as_spec(node)) for spec, node in zip(specs, nodes, strict=True))
    variables = {a.args[0]: a.args[1] for a in others if a.kind == "SetEnvironmentVariable"}
    assert variables == environment(options.sim)


FIELDED = [name for name in scenario_names() if re.fullmatch(r"(swap|goto|lift)_\d+|soccer_(2v2|3v3)", name)]
"""Other names are variants for `eval`, and a game of one against one."""


@pytest.mark.parametrize("name", FIELDED)
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
    fleet = load_fleet(module.ARGUMENTS["fleet"])
    scenario = load_soccer(name) if is_soccer(name) else load_scenario(name)
    assert (fleet.scenario, fleet.team_size, fleet.vehicle) == (name, scenario.count, scenario.vehicle)
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
