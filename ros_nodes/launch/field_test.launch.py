"""Start a fleet: policy nodes on robots or on this machine, a recorder, and on request the simulator.

    ros2 launch robomarl field_test.launch.py fleet:=local_4 sim:=true bundle:=swap_4

Thin over `robomarl.ros_nodes.operator.fleet_plan`, which `robomarl up` uses as well. Written for ROS 2 Jazzy and newer.
"""

import time
from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessStart
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode, Node
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition

from robomarl.hardware_configs.fleet import load_fleet
from robomarl.ros_nodes.operator.fleet_plan import NodeSpec, PlanOptions, environment, plan_fleet

RESPAWN_S = 2.0
ARGUMENTS = {
    "fleet": ("", "name of a fleet in hardware_configs/fleets, or a YAML file"),
    "bundle": ("", "name or folder of a bundle for all robots, instead of what each was flashed with"),
    "against": ("", "of a game: the same for the second team, if it is another one"),
    "robots": ("", "start the policy nodes of these only, comma-separated; by default of the whole fleet"),
    "root": ("", "folder that the robots' relative folders are below"),
    "namespace": ("", "namespace above the robots' own"),
    "sim": ("false", "simulate the robots with MuJoCo"),
    "link": ("false", "put the link emulator between the robots: rehearse loss, delay, faults of sensors"),
    "ground": ("false", "simulated robots start on the ground"),
    "mission": ("", "where the load is to go, and when: a name of ros_nodes/missions, or a YAML file"),
    "seed": ("0", "of the simulator's first flight"),
    "goals": ("true", "in a simulation robots are told the scenario's goals, until somebody else tells them others"),
    "monitor": ("true", "start the team's monitor: on one machine only"),
    "params_file": ("", "ROS parameter file that all nodes read first"),
    "use_sim_time": ("false", "take the time from /clock"),
    "autostart": (
        "false",
        "arm and activate each robot once it is READY and has a goal: it moves then",
    ),
    "record": ("true", "record everything (MCAP)"),
    "record_dir": ("", "folder of the recording; by default runs/field/DATE_TIME"),
    "log_level": ("info", "of all nodes"),
}


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` calls."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
        if name != "fleet"
    ]
    fleet = DeclareLaunchArgument("fleet", description=ARGUMENTS["fleet"][1])
    return LaunchDescription([fleet, *declared, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list:
    """The plan as launch actions."""
    text = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    options = options_of(text)
    plan = plan_fleet(load_fleet(text["fleet"]), options)
    shared = [SetEnvironmentVariable(name, value) for name, value in environment(options.sim).items()]
    return [*shared, *(action for spec in plan for action in actions_of(spec))]


def options_of(text: dict[str, str]) -> PlanOptions:
    """Launch arguments as the plan's options."""
    folder = text["record_dir"] or str(Path("runs", "field", time.strftime("%Y%m%d_%H%M%S")).absolute())
    return PlanOptions(
        bundle=text["bundle"],
        against=text["against"],
        namespace=text["namespace"],
        root=text["root"],
        robots=tuple(filter(None, text["robots"].split(","))),
        sim=is_true(text["sim"]),
        link=is_true(text["link"]),
        ground=is_true(text["ground"]),
        mission=text["mission"],
        tell_goals=is_true(text["goals"]),
        monitor=is_true(text["monitor"]),
        record=folder if is_true(text["record"]) else "",
        params_file=text["params_file"],
        use_sim_time=is_true(text["use_sim_time"]),
        autostart=is_true(text["autostart"]),
        log_level=text["log_level"],
        seed=int(text["seed"]),
    )


def actions_of(spec: NodeSpec) -> list:
    """One node; policy nodes are configured when their process has started. Configuring moves nothing."""
    node = (LifecycleNode if spec.lifecycle else Node)(
        package="robomarl",
        executable=spec.executable,
        name=spec.name,
        namespace=spec.namespace,
        parameters=[*([spec.params_file] if spec.params_file else []), spec.parameters],
        remappings=list(spec.remaps),
        ros_arguments=["--log-level", spec.log_level],
        output="screen",
        respawn=spec.respawn,
        respawn_delay=RESPAWN_S,
    )
    if not spec.lifecycle:
        return [node]
    configure = ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=Transition.TRANSITION_CONFIGURE)
    handler = OnProcessStart(target_action=node, on_start=[EmitEvent(event=configure)])
    return [RegisterEventHandler(handler), node]


def is_true(text: str) -> bool:
    """A launch argument as yes or no."""
    return text.strip().lower() in ("true", "1", "yes", "on")
