"""Start a fleet: policy nodes on robots or on this machine, a recorder, and on request the simulator.

    ros2 launch robomarl robomarl.launch.py fleet:=local_4 sim:=true bundle:=swap_4
    ros2 launch robomarl swap_4.launch.py       # the rehearsal of a scenario: the same, by other defaults

The launch files beside this one are links to it: the name under which it is called selects the defaults of its
arguments (`REHEARSALS`). `field_test.launch.py` is its former name and has none. A rehearsal of a team that carries
waits on the ground for `/all/arm` and `/all/activate`, a match for `/referee/start` (all std_srvs/srv/Trigger).

All that is decided is decided in `robomarl.ros.operator.launch_plan`, over the plan that `robomarl up` starts as
well. Written for ROS 2 Jazzy and newer.
"""

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

from robomarl.ros.operator.launch_plan import REHEARSALS, arguments, launch_plan
from robomarl.ros.operator.node_spec import NodeSpec


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` calls."""
    defaults = REHEARSALS.get(Path(__file__).name.removesuffix(".launch.py"), {})
    declared = [
        DeclareLaunchArgument(name, default_value=defaults.get(name, argument.default), description=argument.text)
        for name, argument in arguments().items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list:
    """The plan as launch actions."""
    plan = launch_plan({name: LaunchConfiguration(name).perform(context) for name in arguments()})
    shared = [SetEnvironmentVariable(name, value) for name, value in plan.environment.items()]
    return [*shared, *(action for spec in plan.nodes for action in actions_of(spec))]


def actions_of(spec: NodeSpec) -> list:
    """One node; a lifecycle node is configured whenever its process has started."""
    node = (LifecycleNode if spec.lifecycle else Node)(
        package=spec.package,
        executable=spec.executable,
        name=spec.name,
        namespace=spec.namespace,
        parameters=[*([spec.params_file] if spec.params_file else []), spec.parameters],
        remappings=list(spec.remaps),
        ros_arguments=["--log-level", spec.log_level],
        output="screen",
        respawn=spec.respawn,
        respawn_delay=spec.respawn_s,
    )
    if not spec.lifecycle:
        return [node]
    configure = ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=Transition.TRANSITION_CONFIGURE)
    handler = OnProcessStart(target_action=node, on_start=[EmitEvent(event=configure)])
    return [RegisterEventHandler(handler), node]
