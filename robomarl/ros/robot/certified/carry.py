"""Memory of a certified robot on its team's radio, its place in the team, and its doubts. No ROS here."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from robomarl.core.certificate.course import stop_of
from robomarl.core.certificate.memory import CertifiedCarry
from robomarl.core.certificate.pact import Word
from robomarl.core.certificate.reach import RadioReach
from robomarl.core.filter.model.bias import Bias
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import Array
from robomarl.core.view import Plan
from robomarl.ros.robot.certified.words import AddressedWord


class RobotCarry(NamedTuple):
    """Memory of one certified robot among K teammates."""

    robot: CertifiedCarry
    heard: Word
    """[K] newest words of the teammates; a number below 0: none of this session."""
    now_s: float
    """Time of this decision, on the team's clock."""
    session_s: float
    """When this session began; 0: no decision was made yet."""
    sessions_s: np.ndarray
    """[K] sessions of the teammates; 0: none is known."""
    pairs_s: np.ndarray
    """[K] sessions of the robot with each teammate: `session_s`, or when it forgot that one last."""
    heard_s: np.ndarray
    """[K] times at which a message of each teammate came last, -inf for none."""
    present: np.ndarray
    """[K] bool: there is such a teammate; one that is out of reach is not."""
    too_near: np.ndarray
    """[K] bool: a teammate that was out of reach was nearer than that allows, and there is no pact with it yet."""
    told: tuple[AddressedWord | None, ...] = ()
    """The words at the last decision, by which new ones are told from old ones."""
    waits: bool = False
    """True from a jump of the clock on until the reference rests: then the time of its course means nothing."""
    worn: tuple[object, ...] = ()
    """Memory of commands of another kind, see `CertifiedCommand`."""
    listens_s: float = 0.0
    """Time from which on the session listens: before it has for long enough, nobody that was not heard is far away."""
    decided_s: float = 0.0
    """Time of the decision that `worn` is of, on the team's clock; 0: there was none."""
    strays: bool = False
    """True from a sighting that breaks A10 on until the reference rests, see `stranger_watch`."""
    rows: tuple[tuple[float, np.ndarray], ...] = ()
    """What the robot would have said after its last decisions, and when, the oldest first: words wait `held_s`, however
    late its decisions come."""

    @property
    def plan(self) -> Plan:
        """The course, as a plan, [3] each."""
        course = self.robot.course
        return Plan(course.pos_m, course.vel_m_s, stop_of(course, np))

    @property
    def bias(self) -> Bias:
        """Estimate of the constant part of the acceleration error; estimates that break a bound are misfits, too."""
        bias, box = self.robot.bias, self.robot.box
        return bias._replace(misfits=bias.misfits + box.misfits)

    @property
    def commands(self) -> Array:
        """[Q, 4] commands that have not taken effect for sure yet."""
        return self.robot.commands


@runtime_checkable
class Ageing(Protocol):
    """Memory of commands of another kind that holds something seen, which is older after a late decision."""

    def aged(self, by_s: float) -> tuple[object, ...]:
        """Return the memory where that much more time than a period passed since its decision; below 0: less."""
        ...


class Doubts(NamedTuple):
    """Reasons why a certified robot takes no new course."""

    unagreed: tuple[int, ...]
    """Rows of teammates without a pact."""
    trip: bool
    """The robot is outside its tube: a bound of the vehicle file does not hold."""
    waits: bool
    """The clock was set, and the reference does not rest yet."""
    too_near: tuple[int, ...] = ()
    """Rows of teammates that were heard anew and too near: the radio reaches less far than its stated range."""
    strays: bool = False
    """A stranger is faster or nearer than one can be: a bound of strangers or of sightings does not hold."""


class TeamSeat(NamedTuple):
    """A robot's place in its team, and what it knows of all."""

    index: int
    """Index of this robot in its team."""
    mates: Sequence[int]
    """[K] indices of its teammates in the order of its view."""
    beside: Sequence[tuple[SafetyParams, float]] = ()
    """Parameters and body radius of teammates of other vehicles, once for each vehicle."""
    reach: RadioReach | None = None
    """Stated range of the radio; None: every robot of the team hears all others."""
