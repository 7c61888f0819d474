"""Everything that one robot thinks with, put together from its parameters and its bundle. No ROS here."""

from functools import partial
from typing import NamedTuple

from robomarl import __version__
from robomarl.core.config import UserError
from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.goals.rest import margins
from robomarl.core.goals.room import box_fault, goal_fault, inside
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.ros.intake.goal_slot import GoalLimits
from robomarl.ros.recording.watch import RecordingWatch
from robomarl.ros.robot.autopilot import Autopilot, TeamWatch
from robomarl.ros.robot.blind_brake import Fallback
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.certified.rest import certified_goal_fault
from robomarl.ros.robot.command_layout import CommandLayout
from robomarl.ros.robot.heartbeat import Heartbeat
from robomarl.ros.robot.hover.control import HoverConfig, HoverController
from robomarl.ros.robot.inbox import Inbox, InboxLimits
from robomarl.ros.robot.jumps import reach_of
from robomarl.ros.robot.startup import Loaded
from robomarl.ros.robot.state_machine import Patience, State, TeamFallback
from robomarl.ros.robot.team_agreement import Announcement, TeamAgreement
from robomarl.ros.settings import PolicySettings
from robomarl.ros.topics import GOAL

ANNOUNCED_S = 3.0
"""An announcement that is older is of a robot that is not there."""


class Inputs(NamedTuple):
    """Inputs that are filled from the radio."""

    inbox: Inbox
    agreement: TeamAgreement
    heartbeat: Heartbeat
    recording: RecordingWatch


class AssembledRobot(NamedTuple):
    """One robot without its topics."""

    settings: PolicySettings
    loaded: Loaded
    inputs: Inputs
    autopilot: Autopilot
    fallback: Fallback


def assemble(settings: PolicySettings, loaded: Loaded) -> AssembledRobot:
    """Put a robot together.

    Raises:
        UserError: a parameter has no such value.
    """
    if settings.on_robot_lost not in list(TeamFallback):
        allowed = ", ".join(TeamFallback)
        raise UserError(f"policy_node: on_robot_lost = {settings.on_robot_lost!r} is not known; allowed: {allowed}.")
    if settings.radio_range_m and settings.on_robot_lost != TeamFallback.CONTINUE:
        lost = settings.on_robot_lost
        raise UserError(f"policy_node: on_robot_lost = {lost!r} ends flights out of radio_range_m; write continue.")
    params = loaded.pilot.safety.params
    fallback = Fallback(params, CommandLayout(tuple(field.name for field in loaded.pilot.policy.action.sent)))
    ages = (fallback.max_own_age_s, params.safety.max_age_s, settings.frozen_after_s)
    limits = InboxLimits(
        *ages,
        reach=reach_of(params, loaded.own_error_m),
        goals=goal_limits(loaded.pilot.safety, loaded.task.goal is GOAL),
    )
    inbox = Inbox(settings.team, settings.index, limits, loaded.task)
    inbox.expect_bundle(loaded.id, unlike := unlike_of(settings))
    seat = (settings.name, loaded.id, loaded.contract, loaded.vehicle, settings.index, State.STANDBY)
    own = Announcement(*seat, robomarl=__version__, handover_m=settings.handover_m)
    agreement, heartbeat = TeamAgreement(own, settings.team, ANNOUNCED_S, unlike), Heartbeat(settings.heartbeat_after_s)
    inputs = Inputs(inbox, agreement, heartbeat, RecordingWatch(settings.name, settings.needs_recorder))
    floor_m = 0.0 if params.arena is None else params.arena.low_m[2]
    hover = HoverController(HoverConfig(settings.handover_m, settings.climb_m_s, loaded.land_speed_m_s, floor_m))
    patience = Patience(
        max_gap_s=loaded.max_gap_s,
        silent_after_s=settings.silent_after_s,
        blend_s=settings.blend_s,
        takeoff_s=settings.takeoff_s,
        arm_lasts_s=settings.arm_lasts_s,
        robot_lost_after_s=settings.robot_lost_after_s,
        on_robot_lost=TeamFallback(settings.on_robot_lost),
        vehicle_alone_s=loaded.vehicle_alone_s,
    )
    team = TeamWatch(agreement, heartbeat, hover, inputs.recording)
    autopilot = Autopilot(loaded.pilot, inbox, team, patience, loaded.landing)
    return AssembledRobot(settings, loaded, inputs, autopilot, fallback)


def unlike_of(settings: PolicySettings) -> dict[str, str]:
    """Return the vehicles of teammates that have another one than this robot, by their names."""
    if not settings.is_unlike:
        return {}
    pairs = zip(settings.team, settings.vehicles, strict=True)
    return {name: load_any_vehicle(vehicle).name for name, vehicle in pairs if vehicle != settings.vehicle}


def goal_limits(safety: SafetyFilter | CertifiedRobot, is_own: bool) -> GoalLimits:
    """Return the limits by which an inbox checks goals; measure the margins of the robot's filter now, and
    not in flight.

    Args:
        safety: the robot's filter.
        is_own: True if the goal is the robot's; otherwise it is that of the team's load, which hangs
            inside the arena.
    """
    params = safety.params
    if not is_own:
        return GoalLimits(partial(box_fault, params))
    if isinstance(safety, CertifiedRobot):
        front = safety.figures.front
        margins(front)
        return GoalLimits(partial(certified_goal_fault, safety.figures), partial(inside, front))
    margins(params)
    return GoalLimits(partial(goal_fault, params), partial(inside, params))
