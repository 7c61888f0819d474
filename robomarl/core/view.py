"""`LocalView`: everything that one robot may know, and the only input that policies and filters read.

The simulator fills it from the full state, the ROS nodes fill it from messages; all code after it
is identical in training, in verification and on the robot. Decentralization is this type.

All fields are arrays with optional leading axes (environments, robots); K is the number of
teammates that the view has room for. World frame ENU, quaternions wxyz, SI units.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.types import Array


class Own(NamedTuple):
    """The robot's own state, as its estimator reports it."""

    pos_m: Array
    """[..., 3] position, world."""
    quat_wxyz: Array
    """[..., 4] attitude, body to world."""
    vel_m_s: Array
    """[..., 3] velocity, world."""
    omega_rad_s: Array
    """[..., 3] angular velocity, body."""
    age_s: Array
    """[...] time since the estimate was taken."""


class Plan(NamedTuple):
    """A team-mate's committed plan: where it comes to rest if it brakes from its queued commands now."""

    pos_m: Array
    """[..., K, 3] position when the queued commands have been carried out, world."""
    vel_m_s: Array
    """[..., K, 3] velocity then, world."""
    stop_m: Array
    """[..., K, 3] position at rest after braking from there, world."""


class Heard(NamedTuple):
    """Team-mates, as heard over the radio. Rows with `mask` False hold zeros."""

    mask: Array
    """[..., K] bool: this row holds a team-mate that was heard."""
    pos_m: Array
    """[..., K, 3] its position at the stamp of its message, world."""
    vel_m_s: Array
    """[..., K, 3] its velocity then, world."""
    age_s: Array
    """[..., K] time since the stamp of its message."""
    plan: Plan
    """Its committed plan, for the safety filter; a policy reads it only where its contract says so."""


class Goal(NamedTuple):
    """Pose that the robot (or the load that it carries) is asked to reach."""

    pos_m: Array
    """[..., 3] position, world."""
    quat_wxyz: Array
    """[..., 4] attitude, body to world."""


class NothingSensed(NamedTuple):
    """Tasks without sensors of their own."""


class LoadSensed(NamedTuple):
    """Knowledge of a robot that carries about its load; the load's target is the view's `goal`."""

    load_pos_m: Array
    """[..., 3] place of the load frame's origin, world."""
    load_quat_wxyz: Array
    """[..., 4] attitude of the load, load frame to world."""
    point_m: Array
    """[..., 3] where the robot's own cable is tied to the load, load frame: a number of its configuration."""
    grip_n: Array
    """[..., 3, 4] the pull of its own cable that, together with all other cables' pulls, holds the load
    still: this matrix times (up in the load frame, 1), load frame. From the configuration too; see
    `robomarl.domains.flight.core.payload.statics`."""
    length_m: Array
    """[...] from there to the vehicle's centre when the cable is taut, as configured."""


class LocalView(NamedTuple):
    """Knowledge of one robot at one decision."""

    own: Own
    heard: Heard
    sensed: tuple[Array, ...]
    """The task's own sensors (load pose; ball and robots in the field of view), one NamedTuple per task."""
    goal: Goal
    role: Array
    """[...] int: the robot's role in the team; 0 where roles do not exist."""
    time_s: Array
    """[...] time since the policy was activated."""


def leaf_shapes(lead: tuple[int, ...], mates: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array of a view by its dotted name, without those of `sensed`, which are
    the task's.

    Args:
        lead: axes that all arrays begin with.
        mates: K, how many teammates the view has room for.
    """
    pose = {"pos_m": (3,), "quat_wxyz": (4,)}
    moves = {"pos_m": (3,), "vel_m_s": (3,)}
    own = {**pose, "vel_m_s": (3,), "omega_rad_s": (3,), "age_s": ()}
    plan = {f"plan.{name}": tail for name, tail in {**moves, "stop_m": (3,)}.items()}
    heard = {"mask": (), **moves, "age_s": (), **plan}
    found = {f"own.{name}": (*lead, *tail) for name, tail in own.items()}
    found |= {f"heard.{name}": (*lead, mates, *tail) for name, tail in heard.items()}
    found |= {f"goal.{name}": (*lead, *tail) for name, tail in pose.items()}
    return found | {"role": lead, "time_s": lead}


def blank_view(num_mates: int, sensed: tuple[Array, ...] | None = None, batch: tuple[int, ...] = ()) -> LocalView:
    """Return a view of a robot at rest at the origin that has received no teammate (numpy, float32).

    Args:
        num_mates: K, how many teammates the view has room for.
        sensed: the task's own sensors; `NothingSensed()` by default.
        batch: leading axes of every field.
    """
    zero = np.zeros((*batch, 3), np.float32)
    unit = np.broadcast_to(np.array([1, 0, 0, 0], np.float32), (*batch, 4)).copy()
    mates = np.zeros((*batch, num_mates, 3), np.float32)
    scalar = np.zeros(batch, np.float32)
    return LocalView(
        own=Own(zero, unit, zero.copy(), zero.copy(), scalar),
        heard=Heard(
            mask=np.zeros((*batch, num_mates), bool),
            pos_m=mates,
            vel_m_s=mates.copy(),
            age_s=np.zeros((*batch, num_mates), np.float32),
            plan=Plan(mates.copy(), mates.copy(), mates.copy()),
        ),
        sensed=NothingSensed() if sensed is None else sensed,
        goal=Goal(zero.copy(), unit.copy()),
        role=np.zeros(batch, np.int32),
        time_s=scalar.copy(),
    )
