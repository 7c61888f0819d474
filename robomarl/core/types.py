"""Conventions of robomarl, on one page, and the aliases that carry them.

- SI units; radians; names carry the unit where a bare float crosses an interface (`rate_hz`, `age_s`).
- World frame: ENU, z up (REP-103). Body frame: FLU. Angular velocity is in the body frame.
- Quaternions are wxyz, body to world, everywhere but in ROS messages (xyzw there).
- Arrays put the batch first, then the robot, then the component: `[..., N, 3]`. Functions that say
  "array-generic" take numpy or JAX arrays and return arrays of their kind.
- One word per idea: scenario, task, vehicle, fleet, view, command, bundle (see the README).

Units, frames and quaternion order change in `ros/convert.py` and `vehicles/` only.
"""

from typing import Any, NamedTuple

import numpy as np

Array = Any
"""A numpy or a JAX array. Shapes, units and frames are in the docstring beside it."""

Figures = dict[str, Any]
"""JSON fields of a command's result: numbers, words, lists and such fields again, by name."""

SENT = 4
"""Elements of a sent command: acceleration x, y, z [m/s^2, world] and yaw rate [rad/s]; a gain [1/s] comes after."""

GRAVITY_M_S2 = 9.81
"""Standard gravity, rounded as the vehicles' data sheets do. World z is up: the vector is (0, 0, -g)."""


class PhysicalAction(np.ndarray):
    """Command of a bundle's or a run's policy, in the units of its `ActionSpec`: m/s^2 and rad/s.

    It is an array like any other. Environments with actions in [-1, 1] refuse it by its type;
    `ActionSpec.to_unit` makes the action that they take.
    """


class FilterResult(NamedTuple):
    """Result of the safety filter for one robot's command; `command` is the one that is really sent.

    Leading axes are allowed everywhere (one entry per robot, or per environment and robot).
    """

    command: Array
    """[..., A] the command that is sent, in the units of the action `Spec`."""
    nominal: Array
    """[..., A] the command that the policy asked for."""
    active: Array
    """[...] bool: the filter changed the command."""
    slack: Array
    """[...] worst violation of a row by `command` [row units, m/s^2]; 0 when all rows hold."""
    solved: Array
    """[...] bool: the QP was solved and its result passed the check against its own rows."""
    reason: Array
    """[...] int: a `Reason` of `robomarl.core.filter.filter`; says which fallback acted, if any."""
    margin_m: Array
    """[...] smallest separation beyond the safety distance that the filter saw [m]; +inf if alone."""


def divided(nominal: Array) -> tuple[Array, Array | None]:
    """Split commands into [..., 4] and the gain [...] that a policy sets; None where there is none."""
    return nominal[..., :SENT], nominal[..., SENT] if nominal.shape[-1] > SENT else None
