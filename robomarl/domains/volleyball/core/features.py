"""Features for policies of drones that play volleyball: the observations of VolleyBots, element by element."""

from typing import cast

import numpy as np

from robomarl.core.features import NeighbourRule, feature, of_nearest
from robomarl.core.geometry import components, join, namespace, rotate
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.volleyball.core.sensed import TURNS, VolleySensed

XYZ = ("x", "y", "z")
_MATES = ("own.pos_m", "heard.mask", "heard.pos_m", "heard.vel_m_s", "heard.age_s")


def _sensed(view: LocalView) -> VolleySensed:
    return cast(VolleySensed, view.sensed)  # views that come from a file have a tuple of the same fields


@feature(XYZ, "m", "world", ("own.pos_m",))
def drone_position(view: LocalView, rule: NeighbourRule) -> Array:
    """Position of the drone on the court."""
    return view.own.pos_m


@feature(("w", "i", "j", "k"), "-", "world", ("own.quat_wxyz",))
def attitude(view: LocalView, rule: NeighbourRule) -> Array:
    """Attitude of the drone as a unit quaternion, body to world."""
    return view.own.quat_wxyz


@feature(XYZ, "rad/s", "world", ("own.quat_wxyz", "own.omega_rad_s"))
def spin_in_world(view: LocalView, rule: NeighbourRule) -> Array:
    """Angular velocity in the world frame."""
    return rotate(view.own.quat_wxyz, view.own.omega_rad_s)


@feature(XYZ, "-", "world", ("own.quat_wxyz",))
def body_front(view: LocalView, rule: NeighbourRule) -> Array:
    """Unit vector of the body's x axis."""
    w, x, y, z = components(view.own.quat_wxyz)
    return join([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])


@feature(("rotor0", "rotor1", "rotor2", "rotor3"), "-", "-", ("sensed.throttle",))
def throttles(view: LocalView, rule: NeighbourRule) -> Array:
    """Speed of each rotor from -1 (at rest) to 1 (largest speed)."""
    return _sensed(view).throttle * 2 - 1


@feature(XYZ, "m", "world", ("own.pos_m", "goal.pos_m"))
def anchor_offset(view: LocalView, rule: NeighbourRule) -> Array:
    """Vector from the drone's anchor, its goal, to the drone."""
    return view.own.pos_m - view.goal.pos_m


@feature(XYZ, "m", "world", ("own.pos_m", "sensed.ball_pos_m"))
def ball_offset(view: LocalView, rule: NeighbourRule) -> Array:
    """Vector from the ball to the drone."""
    return view.own.pos_m - _sensed(view).ball_pos_m


@feature(XYZ, "m/s", "world", ("sensed.ball_vel_m_s",))
def ball_velocity(view: LocalView, rule: NeighbourRule) -> Array:
    """Velocity of the ball."""
    return _sensed(view).ball_vel_m_s


@feature(("dx", "dy", "dz"), "m", "world", _MATES, per_neighbour=True)
def mate_offset(view: LocalView, rule: NeighbourRule) -> Array:
    """Vectors from the drone to its nearest teammates; NaN for a drone whose own position is NaN, because zeros would
    say that nobody is near."""
    own = view.own.pos_m[..., None, :]
    away = of_nearest(view, rule, view.heard.pos_m - own)
    known = away.reshape(*away.shape[:-1], rule.count, len(XYZ)) + 0 * own
    return known.reshape(away.shape)


@feature(("first", "second"), "-", "-", ("sensed.turn",))
def turn(view: LocalView, rule: NeighbourRule) -> Array:
    """1 for the drone whose turn it is to hit, else 0."""
    return _sensed(view).turn


@feature(("first", "second"), "-", "-", ("role",))
def number(view: LocalView, rule: NeighbourRule) -> Array:
    """1 for the drone's own number in the team, else 0."""
    xp = namespace(view.own.pos_m)
    return (view.role[..., None] == xp.asarray(np.arange(TURNS))).astype(view.own.pos_m.dtype)
