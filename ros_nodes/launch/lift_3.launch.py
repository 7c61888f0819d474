"""Three robots carry a load for 60 s, in the simulator: `field_test.launch.py` with fleet, bundle and mission.

    ros2 launch robomarl lift_3.launch.py
    ros2 service call /all/arm std_srvs/srv/Trigger
    ros2 service call /all/activate std_srvs/srv/Trigger

They stand on the ground, cables slack, until an operator arms and activates them; then the mission's set-points go
to the load's goal topic. All arguments of `field_test.launch.py` can be given as well. Written for ROS 2 Jazzy and
newer.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from robomarl.ros.operator.launch_plan import REHEARSALS


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` calls."""
    arguments = REHEARSALS[Path(__file__).name.removesuffix(".launch.py")]
    declared = [DeclareLaunchArgument(name, default_value=value) for name, value in arguments.items()]
    source = PythonLaunchDescriptionSource(str(Path(__file__).with_name("field_test.launch.py")))
    given = [(name, LaunchConfiguration(name)) for name in arguments]
    return LaunchDescription([*declared, IncludeLaunchDescription(source, launch_arguments=given)])
