"""Memory of certified robots, and the inputs and the outcome of a decision."""

from typing import NamedTuple

from robomarl.core.certificate.course import CommittedCourse, state_at
from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.certificate.pact import Pact, Word
from robomarl.core.certificate.state_box import StateBox
from robomarl.core.filter.memory import FilterCarry
from robomarl.core.filter.model.bias import Bias
from robomarl.core.filter.model.look_ahead import heading
from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView

ELSEWHERE_TUBES = 2.0
"""A robot in motion that is this many radii of its tube away from its reference was pushed, and begins where it is."""


class CertifiedCarry(NamedTuple):
    """Memory of certified robots."""

    course: CommittedCourse
    """[...] the committed course."""
    placed: Array
    """[...] bool: the robot has known its place once; before, its course means nothing."""
    trip: Array
    """[...] bool: the robot was outside its tube at the last decision."""
    until_s: Array
    """[...] time up to which `accels` reaches."""
    accels: Array
    """[..., m, 3] accelerations of the reference in the periods before `until_s`, oldest first."""
    pact: Pact
    """[..., K] pacts with the teammates."""
    commands: Array
    """[..., Q, 4] commands that have not taken effect for sure yet, oldest first."""
    bias: Bias
    """Estimate of the constant part of the acceleration error."""
    box: StateBox
    """States that the robot may have had at the stamp of its last estimate."""
    front: FilterCarry
    """Memory of the filter between references."""


class DecisionInputs(NamedTuple):
    """Inputs of a decision."""

    view: LocalView
    """[...] views; of teammates nothing is read here but how many there is room for."""
    word: Word
    """[..., K] newest message heard of each teammate."""
    leads: Array
    """[..., K] bool: the robot leads the pair. Of each pair exactly one robot does."""
    present: Array
    """[..., K] bool: there is such a teammate. One that a pact was made with stays one, whatever this says."""
    nominal: Array
    """[..., 4 or 5] acceleration, world frame [m/s^2], yaw rate [rad/s], and perhaps gain that the policy asks for."""
    now_s: Array
    """[...] time of the decision, on the team's clock."""


class Certified(NamedTuple):
    """Outcome of a decision."""

    command: Array
    """[..., 4] to send."""
    word: Word
    """[..., K] to tell each teammate."""
    moves: Array
    """[...] bool: a new course was taken."""
    vetoed: Array
    """[...] bool: the course that the rows of the front let through was not."""
    error_m: Array
    """[..., 3] predicted distance of the robot from the tracked point, world."""
    trip: Array
    """[...] bool: that distance is more than the tube and its own error, so a declared bound does not hold."""
    point_m: Array
    """[..., 3] the tracked point in the middle of the range of times at which the command may take effect."""


def tubes_off(
    carry: CertifiedCarry, view: LocalView, figures: CertificateFigures, ahead_m: float, now_s: Array
) -> Array:
    """Return how many radii of its tube each robot [...] is away from where its reference is at a time [...] [s]."""
    led = at_reference(carry._replace(until_s=now_s), view, ahead_m).own.pos_m
    xp = namespace(led)
    off = (xp.asarray(view.own.pos_m, led.dtype) - led) * xp.asarray(figures.squash, led.dtype)
    return xp.sqrt((off * off).sum(-1)) / figures.unlearned.radius_m


def at_reference(carry: CertifiedCarry, view: LocalView, ahead_m: float = 0.0) -> LocalView:
    """Return the view [...] with robots where their references are when the decision moves them.

    Policies decide on it: tube and delay are the tracker's business, and a loop through both would swing. That of a
    differential drive leads its look-ahead point, this far in front of its axle: the axle is behind, as it heads.
    """
    xp = namespace(carry.until_s)
    pos, vel = state_at(carry.course, carry.until_s, xp)
    own, kind = view.own, xp.asarray(view.own.pos_m).dtype
    if ahead_m:
        ex, ey = heading(tuple(xp.asarray(own.quat_wxyz)[..., i] for i in range(4)), xp)
        along, across = (xp.stack([x, y, x * 0], -1) for x, y in ((ex, ey), (-ey, ex)))
        turn = (vel * across).sum(-1, keepdims=True) / ahead_m
        pos, vel = pos - ahead_m * along, (vel * along).sum(-1, keepdims=True) * along
        omega = xp.concatenate([xp.asarray(own.omega_rad_s)[..., :2], turn], -1)
        own = own._replace(omega_rad_s=omega.astype(kind))
    return view._replace(own=own._replace(pos_m=pos.astype(kind), vel_m_s=vel.astype(kind)))
