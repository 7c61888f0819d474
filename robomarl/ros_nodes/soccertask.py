"""`Playing`: what one player knows, from its camera, its kicker and its team-mates. No ROS here.

A camera tells places in the robot's own frame. They are put into the field by the robot's own estimate of where it
was when the picture was taken, as in simulation. The scenario in the bundle's contract has the numbers.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from robomarl.config import UserError
from robomarl.geometry import rotate
from robomarl.ros_nodes.heard import Scene, SeenBall
from robomarl.soccer import ROLES, SoccerSensed
from robomarl.view import Goal

BALL, OPPONENT = "ball", "opponent_"
"""What a picture's things are called; an opponent's number comes after it, from 0, the same one at all times: the
safety filter remembers where each was seen."""
PICTURES = 3.0
"""After so many pictures that did not come the robot counts as blind."""
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


class Thing(NamedTuple):
    """One thing in a picture."""

    kind: str
    """`BALL`, or `OPPONENT` and a number; others are not looked at."""
    pos_m: np.ndarray
    """[3] body frame at the picture's stamp."""
    vel_m_s: np.ndarray
    """[3] over ground, along the body's axes then."""


class Sighting(NamedTuple):
    """One picture."""

    stamp_s: float
    things: tuple[Thing, ...]


class Playing:
    """One player's senses."""

    def __init__(self, content: Mapping[str, Any], index: int, size: int) -> None:
        """Read the scenario.

        Args:
            content: of the scenario, as the contract has it.
            index: which of its team this robot is.
            size: robots in a team.

        Raises:
            UserError: a team can't play with these roles.
        """
        check_roles(content)
        roles = content["roles"]
        self.role = np.int32(ROLES.index(roles[min(index, len(roles) - 1)]))
        """Index of its role; robots beyond the scenario's have the last one."""
        self.goal = Goal(np.array([content["field"]["length_m"] / 2, 0.0, 0.0]), UPRIGHT)
        """The middle of the goal that it attacks, in its team's field frame."""
        period_s = 1 / content["rates"]["policy_hz"]
        self.max_age_s = content["eyes"]["latency_s"] + PICTURES * period_s
        self._told_for_s = content["radio"]["max_age_s"]
        self._strangers = size
        self._rows = {BALL: 0, **{f"{OPPONENT}{i}": 1 + i for i in range(size)}}

    def sensed(self, sighting: Sighting | None, charged_s: float | None, scene: Scene) -> SoccerSensed:
        """What the view says of ball, opponents and kicker, in the team's field frame.

        Args:
            sighting: the latest picture; None before the first.
            charged_s: when the kicker will be charged, by the clock of stamps; None before it was said.
            scene: the moment, where the robot was, and what its team-mates say.
        """
        pos, vel, mask, age_s = self._placed(sighting, scene)
        told = [_told(said, since_s) if since_s <= self._told_for_s else None for said, since_s in scene.mates]
        rows = [ball or _UNSEEN for ball in told]
        return SoccerSensed(
            ball_mask=mask[0],
            ball_pos_m=pos[0],
            ball_vel_m_s=vel[0],
            ball_age_s=age_s * mask[0],
            strangers_mask=mask[1:],
            strangers_pos_m=pos[1:],
            strangers_vel_m_s=vel[1:],
            strangers_age_s=age_s * mask[1:],
            told_mask=np.array([ball is not None for ball in told], bool),
            told_pos_m=np.array([row.pos_m for row in rows]).reshape(-1, 3),
            told_vel_m_s=np.array([row.vel_m_s for row in rows]).reshape(-1, 3),
            told_age_s=np.array([row.age_s for row in rows]),
            charge_s=np.float64(max((charged_s or 0.0) - scene.now_s, 0.0)),
        )

    @staticmethod
    def told_ball(sensed: tuple, age_s: float) -> SeenBall | None:
        """The ball as this robot tells it its team: as in its latest picture, with the age at the stamp of an
        estimate that is `age_s` old now."""
        assert isinstance(sensed, SoccerSensed), "the view is a player's"
        if not sensed.ball_mask:
            return None
        return SeenBall(sensed.ball_pos_m, sensed.ball_vel_m_s, float(sensed.ball_age_s) - age_s)

    def _placed(self, sighting: Sighting | None, scene: Scene) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """[1 + S] places and velocities [m, m/s] and masks, the ball first, and the age of the picture [s]."""
        pos, vel = np.zeros((2, 1 + self._strangers, 3))
        mask = np.zeros(1 + self._strangers, bool)
        if sighting is None or (there := scene.trail.at(sighting.stamp_s)) is None:
            return pos, vel, mask, 0.0
        for thing in sighting.things:
            if (row := self._rows.get(thing.kind)) is None:
                continue
            pos[row] = there.pos_m + rotate(there.quat_wxyz, thing.pos_m)
            vel[row], mask[row] = rotate(there.quat_wxyz, thing.vel_m_s), True
        return pos, vel, mask, max(scene.now_s - sighting.stamp_s, 0.0)


def _told(said: Any, since_s: float) -> SeenBall | None:
    """The ball as a team-mate says, with its age now."""
    ball = None if said is None else said.ball
    return None if ball is None else ball._replace(age_s=ball.age_s + since_s)


_UNSEEN = SeenBall(np.zeros(3), np.zeros(3), 0.0)


def check_roles(content: Mapping[str, Any]) -> None:
    """Whether a team may line up so.

    Raises:
        UserError: there are two goalkeepers, or a role that nobody knows.
    """
    name, roles = f"scenario {content.get('name', '')}", list(content["roles"])
    if unknown := set(roles) - set(ROLES):
        raise UserError(f"{name}: {min(unknown)!r} in roles is not a role; allowed: {', '.join(ROLES)}.")
    if (keepers := roles.count("keeper")) > 1:
        raise UserError(f"{name}: roles names {keepers} keepers; a team may have one, make the others supporter.")
