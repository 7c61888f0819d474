"""`Scene`: everything of a scenario that does not move, and `SceneMoment`: everything that does, at one decision.

World frame ENU, SI units, wxyz quaternions. A viewer draws both without knowing the kind of team.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np

from robomarl.core.types import Array
from robomarl.core.view import Plan
from robomarl.lab.evaluate.episodes import Moves
from robomarl.lab.sim.message import Message

RGB = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""
Point = tuple[float, float, float]
S = TypeVar("S", contravariant=True)
W = TypeVar("W")


@dataclass(frozen=True)
class Primitive:
    """One primitive of a robot, a load, an obstacle or a floor."""

    kind: Literal["box", "cylinder", "sphere", "capsule"]
    """Cylinders stand along z. The axis of a capsule runs from `place_m` to `end_m`."""
    size_m: Point
    """Edges of a box; radius (x) and height (z) of a cylinder; radius (x) of a sphere or capsule."""
    place_m: Point = (0.0, 0.0, 0.0)
    """Centre, in the frame of the thing that the part belongs to."""
    end_m: Point = (0.0, 0.0, 0.0)
    """Far end of a capsule's axis."""
    rgb: RGB | None = None
    """Colour; None: the colour of the robot."""
    opacity: float = 1.0


@dataclass(frozen=True)
class RobotShape:
    """Shape of one kind of robot."""

    parts: tuple[Primitive, ...]
    """In the body frame: x forward, z up."""
    keep_m: Point
    """Semi-axes of the ellipsoid around the robot's centre that touches the ellipsoid of a teammate at the safety
    distance."""


class Label(NamedTuple):
    """Words at a place, always upright and of one size in a picture."""

    place_m: Point
    """Middle of the words, world frame."""
    words: str


@dataclass(frozen=True)
class Scene:
    """The fixed things of a scenario."""

    names: tuple[str, ...]
    """Names of the N robots."""
    colours: tuple[RGB, ...]
    """Colours of the N robots."""
    looks: tuple[RobotShape, ...]
    """Shapes of the N robots; robots of one kind share one object."""
    low_m: Point
    """Lowest corner of the arena, or of the room to be shown."""
    high_m: Point
    """Highest corner of the arena."""
    period_s: float
    """Time between two moments."""
    solids: tuple[Primitive, ...] = ()
    """Obstacles, boards and markings, world frame."""
    load: tuple[Primitive, ...] = ()
    """The load of the team, in its own frame; empty where the team carries none."""
    working_n: float = 1.0
    """Tension of a cable [N] when every robot carries its share."""
    ball: Primitive | None = None
    goal_m: float = 0.1
    """Distance from its goal [m] within which a robot has arrived."""
    flat: bool = False
    """True if robots stay on the floor: goals are dragged in the plane."""
    tags: tuple[str, ...] = ()
    """[N] short names that stand beside the robots in films; none by default."""
    labels: tuple[Label, ...] = ()
    """Names of places."""
    goals: bool = True
    """False if robots have no goals of their own: films do not draw any."""
    pace: float = 1.0
    """Factor by which films run faster than the robots."""
    shown_m: tuple[Point, ...] = ()
    """Places that films have in their picture besides robots and goals."""


class SceneMoment(NamedTuple):
    """The moving things of a scene at one decision; an array of length 0 stands for a thing that is not there."""

    time_s: float
    """Since the start of the episode or recording."""
    pos_m: np.ndarray
    """[N, 3]"""
    quat_wxyz: np.ndarray
    """[N, 4] body to world."""
    goal_m: np.ndarray = np.zeros((0, 3))
    """[N, 3], or [1, 3] for the goal of the load."""
    active: np.ndarray = np.zeros(0, bool)
    """[N] True if the safety filter changed the command of the robot."""
    nominal_m_s2: np.ndarray = np.zeros((0, 3))
    """[N, 3] acceleration that the policy asked for, world frame."""
    command_m_s2: np.ndarray = np.zeros((0, 3))
    """[N, 3] acceleration that was sent, world frame."""
    plan_m: np.ndarray = np.zeros((0, 2, 3))
    """[N, 2, 3] position after the queued commands and stop point, as the robot broadcasts them."""
    load_pose: np.ndarray = np.zeros(0)
    """[7] origin and attitude of the load's own frame."""
    tied_m: np.ndarray = np.zeros((0, 3))
    """[N, 3] points at which cables are tied to the load, world frame; NaN where a cable is cut."""
    tension_n: np.ndarray = np.zeros(0)
    """[N] tension of each cable."""
    ball_m: np.ndarray = np.zeros(0)
    """[3]"""
    marks: tuple[Primitive, ...] = ()
    """Things of the task that come and go, world frame."""
    labels: tuple[Label, ...] = ()
    """Words at those things."""
    caption: str = ""
    """One line about the task: score, number delivered, state."""
    states: tuple[str, ...] = ()
    """[N] state of each robot with its cause, where robots say one."""


@dataclass(frozen=True)
class Staging(Generic[S, W]):
    """The part of a domain that shows its scenarios."""

    scene: Callable[[S], Scene]
    moment: Callable[[S, W, int], SceneMoment]
    """(scenario, world, index of the episode in the batch) -> its moment, without what robots decided."""
    with_goal: Callable[[S, W, int, Array], W] | None = None
    """(scenario, world, robot, place [3]) -> the world in which the robot (or the load) of all episodes has this goal;
    None: goals of this kind of team are not set from outside."""
    moves: Callable[[str, S, str], tuple[S, Moves]] | None = None
    """(name of a policy or script, scenario, mode of the filter) -> the scenario as it is played, and the pilot of
    all robots; None: the policy of that name behind the filter."""


def planned(pos_m: Array, message: Message, env: int) -> np.ndarray:
    """Return [N, 2, 3]: position after the queued commands and stop point, as robots at [E, N, 3] broadcast them.

    A message without a plan says that the robot stays where it is.
    """
    if not isinstance(message.plan, Plan):
        return np.repeat(np.asarray(pos_m)[env][:, None], 2, 1)
    return np.stack([np.asarray(message.plan.pos_m)[env], np.asarray(message.plan.stop_m)[env]], 1)


def decided(moment: SceneMoment, nominal: np.ndarray, command: np.ndarray, active: np.ndarray) -> SceneMoment:
    """Return the moment with the decisions of its robots, [N, A], [N, A] and [N]."""
    return moment._replace(nominal_m_s2=nominal[:, :3], command_m_s2=command[:, :3], active=active)
