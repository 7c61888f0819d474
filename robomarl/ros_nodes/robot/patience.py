"""`Patience`: how long a robot goes on without what it needs. No ROS here."""

from dataclasses import dataclass

from robomarl.ros_nodes.robot.state_machine import TeamFallback


@dataclass(frozen=True)
class Patience:
    """How long to go on without what one needs, and what to do then."""

    max_gap_s: float = 0.1
    """Longer without a decision of the policy, and its memory starts again."""
    silent_after_s: float = 1.0
    """After so long of blind braking the robot falls silent."""
    blend_s: float = 0.5
    """From hovering to the policy's command."""
    takeoff_s: float = 60.0
    """A robot that is in TAKEOFF for longer lands: its team does not come."""
    arm_lasts_s: float = 60.0
    """An armed robot that is not activated for so long is disarmed."""
    robot_lost_after_s: float = 1.0
    """A team-mate that was not heard for so long in flight is lost."""
    on_robot_lost: TeamFallback = TeamFallback.HOLD
