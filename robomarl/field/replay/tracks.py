"""`TrackRows`: the tracks of a recording's robots, from the ticks in which their policies moved them."""

from array import array

import numpy as np

from robomarl.field.replay.bag_replay import Moment
from robomarl.field.replay.tally import RobotTally
from robomarl.field.track import RobotTrack
from robomarl.ros.robot.state_machine import POLICY

BREAK_S = 0.3
"""Without any row for longer, another flight begins."""


class TrackRows:
    """Collects rows; `note` is for `BagReplay.watch`."""

    def __init__(self) -> None:
        """Start empty; no robot has moved."""
        self._rows: dict[str, array] = {}
        self._width = self._commands = 0

    def note(self, moment: Moment) -> None:
        """A tick of a robot that moves."""
        tick, own = moment.tick, moment.own
        command = tick.row[tick.columns.command]
        if tick.state not in POLICY or not np.isfinite(command).all():
            return
        seen_s = tick.at_s - float(tick.columns.ages_s(tick.row)[0])
        moves = [[seen_s, tick.at_s], own.pos_m, own.quat_wxyz, own.vel_m_s, own.omega_rad_s, command]
        row = np.concatenate([*moves, *map(np.ravel, moment.sensed)])
        self._width, self._commands = len(row), len(command)
        self._rows.setdefault(moment.robot, array("d")).extend(row)

    def add(self, other: "TrackRows") -> None:
        """Add the rows of other robots of the team."""
        self._rows.update(other._rows)
        self._width, self._commands = self._width or other._width, self._commands or other._commands

    def tracks(self, tallies: dict[str, RobotTally]) -> list[RobotTrack]:
        """Return every flight of every robot; the counts of received and lost messages are with each robot's first
        flight.
        """
        found = []
        for robot, tally in tallies.items():
            if robot not in self._rows:
                continue
            table = np.array(self._rows[robot]).reshape(-1, self._width)
            heard = sum(tally.received.values()), sum(tally.lost.values())
            since_s = np.diff(table[:, 1])
            cuts = np.flatnonzero((since_s > BREAK_S) | (since_s < 0)) + 1  # a clock may jump back
            for flight, part in enumerate(np.split(table, cuts)):
                found.append(_track((robot, flight), part, self._commands, (0, 0) if flight else heard))
        return found


def _track(of: tuple[str, int], rows: np.ndarray, commands: int, heard: tuple[int, int]) -> RobotTrack:
    seen_s, sent_s, *_ = rows.T
    pos, quat, vel, omega, command, sensed = np.split(rows[:, 2:], [3, 7, 10, 13, 13 + commands], axis=1)
    return RobotTrack(*of, seen_s, pos, quat, vel, omega, sent_s, command, *heard, sensed=sensed)
