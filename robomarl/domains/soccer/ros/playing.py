"""`Playing`: knowledge of one player, from its camera, its kicker and its teammates. No ROS here.

A camera reports places in the robot's own frame. They are put into the field by the robot's own
estimate of its pose when the picture was taken, as in simulation. The scenario in the bundle's
contract has the numbers.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.config.parsed import is_list, number_in
from robomarl.core.domain.onboard import Content, LazyImport
from robomarl.core.geometry import rotate
from robomarl.core.view import Goal
from robomarl.domains.soccer.core.features import ROLES, MatesSeen, Picture, SoccerSensed, sensed_of
from robomarl.domains.soccer.core.mates_in_sight import NOW_S
from robomarl.domains.soccer.ros.topics import CMD_VEL, KICK, KICKER, SIGHTING
from robomarl.ros.fieldtask import FieldTask, Seat, Sensor
from robomarl.ros.io.messages import Detections, TeamSnapshot

BALL, OPPONENT = "ball", "opponent_"
"""Names of the things in a picture. An opponent's number follows its name, from 0, and never changes: the safety
filter remembers where each opponent was seen.
"""
MATE = "mate_"
"""Name of a teammate that a message says its sender sees; its index in the team follows. Its place is that at the
message's stamp, because the age of a message is that of ball and opponents."""
PICTURES = 3.0
"""Number of missing pictures after which the robot counts as blind."""
PUT_BACK_S = 0.1
"""Players are put back at a kick-off, by hand or by a simulator."""
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

    def __init__(self, content: Content, index: int, size: int, length_m: float = 0.0) -> None:
        """Read the scenario.

        Args:
            content: of the scenario, as the contract has it.
            index: which of its team this robot is.
            size: robots in a team.
            length_m: the field that is played on, from goal to goal; 0: the scenario's.

        Raises:
            UserError: a team can't play with these roles.
        """
        check_roles(content)
        roles = _roles(content)
        self.role = np.int32(ROLES.index(roles[min(index, len(roles) - 1)]))
        """Index of its role; robots beyond the scenario's have the last one."""
        self.goal = Goal(np.array([(length_m or number_in(content, "field", "length_m")) / 2, 0.0, 0.0]), UPRIGHT)
        """The middle of the goal that it attacks, in its team's field frame."""
        period_s = 1 / number_in(content, "rates", "policy_hz")
        self.max_age_s = number_in(content, "eyes", "latency_s") + PICTURES * period_s
        self._told_for_s = number_in(content, "radio", "max_age_s")
        self._rows = {kind_of(row): row for row in range(1 + size)}
        self._name, self._mates = f"{MATE}{index}", [f"{MATE}{(index + 1 + k) % size}" for k in range(size - 1)]

    def sensed(self, sighting: Sighting | None, charged_s: float | None, snapshot: TeamSnapshot) -> SoccerSensed:
        """Return the view's part on ball, opponents and kicker, in the team's field frame.

        Args:
            sighting: the latest picture; None before the first.
            charged_s: when the kicker will be charged, by the clock of stamps; None before the first
                message.
            snapshot: the moment, the robot's earlier poses, and its teammates' messages.
        """
        own, none = self._placed(sighting, snapshot), blank(len(snapshot.mates))
        charge_s = charge_left(charged_s, snapshot)
        return sensed_of(own, self.told_by(snapshot), charge_s, self.mates_seen(none, snapshot))

    def told(self, sensed: tuple, age_s: float) -> Detections | None:
        """Return this robot's detections for its team: its latest picture, with the age at the stamp of an estimate
        that is `age_s` old now, and teammates that it saw shortly before. Detections that it received itself are not
        passed on.
        """
        assert isinstance(sensed, SoccerSensed), "the view is a player's"
        rows = np.flatnonzero([sensed.ball_mask, *sensed.strangers_seen])
        ago_s = sensed.mates_age_s - age_s
        mates = np.flatnonzero(sensed.mates_mask & (ago_s <= NOW_S))
        if not len(rows) + len(mates):
            return None
        there = sensed.mates_pos_m + sensed.mates_vel_m_s * ago_s[:, None]
        pos = np.concatenate([np.stack([sensed.ball_pos_m, *sensed.strangers_pos_m])[rows], there[mates]])
        vel = np.stack([sensed.ball_vel_m_s, *sensed.strangers_vel_m_s])[rows]
        vel = np.concatenate([vel, sensed.mates_vel_m_s[mates]])
        picture_s = max(sensed.ball_age_s * sensed.ball_mask, *(sensed.strangers_age_s * sensed.strangers_seen))
        kinds = (*(kind_of(int(row)) for row in rows), *(self._mates[k] for k in mates))
        return Detections(kinds, pos, vel, float(picture_s) - age_s)

    def mates_seen(self, shown: Picture, snapshot: TeamSnapshot) -> MatesSeen:
        """Return teammates in the own picture [K], and this robot as their messages say that they see it."""
        by_mask, by_pos = np.zeros(len(snapshot.mates), bool), np.zeros((len(snapshot.mates), 3))
        for k, (said, _) in enumerate(snapshot.mates):
            if said is not None and said.seen is not None and self._name in said.seen.kinds:
                by_mask[k], by_pos[k] = True, said.seen.pos_m[said.seen.kinds.index(self._name)]
        return MatesSeen(shown, by_mask, by_pos)

    def _placed(self, sighting: Sighting | None, snapshot: TeamSnapshot) -> Picture:
        """[1 + S] the picture in the field."""
        mask, pos, vel, age_s = picture = blank(len(self._rows))
        if sighting is None or (there := snapshot.history.at(sighting.stamp_s)) is None:
            return picture
        for thing in sighting.things:
            if (row := self._rows.get(thing.kind)) is None:
                continue
            pos[row] = there.pos_m + rotate(there.quat_wxyz, thing.pos_m)
            vel[row], mask[row] = rotate(there.quat_wxyz, thing.vel_m_s), True
        age_s[mask] = max(snapshot.now_s - sighting.stamp_s, 0.0)
        return picture

    def told_by(self, snapshot: TeamSnapshot) -> Picture:
        """Return the teammates' pictures [K, 1 + S], as they report them."""
        mask, pos, vel, age_s = picture = blank(len(snapshot.mates), len(self._rows))
        for k, (said, since_s) in enumerate(snapshot.mates):
            if said is None or said.seen is None or since_s > self._told_for_s:
                continue
            for kind, place, motion in zip(*said.seen[:3], strict=True):
                if (row := self._rows.get(kind)) is not None:
                    pos[k, row], vel[k, row], mask[k, row] = place, motion, True
            age_s[k, mask[k]] = said.seen.age_s + since_s
        return picture


def blank(*shape: int) -> Picture:
    """Return a picture that shows nothing."""
    return Picture(np.zeros(shape, bool), np.zeros((*shape, 3)), np.zeros((*shape, 3)), np.zeros(shape))


def charge_left(charged_s: float | None, snapshot: TeamSnapshot) -> np.float64:
    """Return the time [s] until the kicker is charged; see `Playing.sensed`."""
    return np.float64(max((charged_s or 0.0) - snapshot.now_s, 0.0))


def kind_of(row: int) -> str:
    """Return the name of the thing in a row: the ball first, then opponents by their number."""
    return f"{OPPONENT}{row - 1}" if row else BALL


def check_roles(content: Content) -> None:
    """Check that a team may line up with these roles.

    Raises:
        UserError: there are two goalkeepers, or a role that does not exist.
    """
    name, roles = f"scenario {content.get('name', '')}", _roles(content)
    if unknown := set(roles) - set(ROLES):
        raise UserError(f"{name}: {min(unknown)!r} in roles is not a role; allowed: {', '.join(ROLES)}.")
    if (keepers := roles.count("keeper")) > 1:
        raise UserError(f"{name}: roles names {keepers} keepers; a team may have one, make the others supporter.")


def _roles(content: Content) -> list[str]:
    """Return the roles of a team; raises `TypeError` if the scenario has something else there."""
    roles = content["roles"]
    if not is_list(roles):
        raise TypeError("roles is no list")
    return [str(role) for role in roles]


def field_task(content: Content, seat: Seat) -> FieldTask:
    """A player; see `Playing`. One whose bundle sees has a camera in place of sightings; see `seeing`."""
    playing = Playing(content, seat.index, seat.size, seat.pitch_m[0])
    messages = "robomarl.domains.soccer.ros.messages"
    task = FieldTask(
        sensors=(
            Sensor(SIGHTING, LazyImport(f"{messages}:sighting_to"), shared=False),
            Sensor(KICKER, LazyImport(f"{messages}:kicker_to"), shared=False),
        ),
        sensed=lambda values, snapshot: playing.sensed(values[SIGHTING.name], values[KICKER.name], snapshot),
        max_age_s=playing.max_age_s,
        fixed_goal=playing.goal,
        commands=(CMD_VEL, KICK),
        writer=LazyImport(f"{messages}:PlayerCommands"),
        away=seat.away,
        told=playing.told,
        role=playing.role,
        put_back_s=PUT_BACK_S,
    )
    if seat.perception is None:
        return task
    seeing: LazyImport[FieldTask] = LazyImport("robomarl.domains.soccer.ros.seeing:seeing_task")
    return seeing(task, playing, seat)
