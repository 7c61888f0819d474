"""Figures of a rally: the ball from the side and from above with the robots' ways, and distances of mates."""

from typing import TYPE_CHECKING

import numpy as np

from robomarl.domains.volleyball.core.log import RallyLog
from robomarl.domains.volleyball.ros.outcome import distances_m
from robomarl.front.report.plots.style import COLOURS, GRID, INK, MUTED, new_chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TEAMS = ("c0", "c1")
"""Colours of the first and the second team."""
ROOM_M = 6.0
"""Least height [m] that is shown."""


def colour_of(log: RallyLog, robot: int) -> str:
    """Colour of a robot's team."""
    return COLOURS[TEAMS[robot * int(log.teams) // log.robots_m.shape[1]]][0]


def from_the_side(log: RallyLog) -> "Figure":
    """The ball's height along the court: across the net in a match, along it else."""
    axis = 0 if int(log.teams) > 1 else 1
    figure, axes = new_chart(900, 320, "height [m]", f"{'xy'[axis]} [m]", margins=(46, 16, 30, 42))
    _ways(axes, log, (axis, 2))
    if axis == 0:
        axes.plot([0, 0], [0, log.court_m[2]], color=MUTED, linewidth=3)
    axes.set_ylim(0, max(float(log.ball_m[log.in_play][:, 2].max(initial=ROOM_M)), ROOM_M))
    return figure


def from_above(log: RallyLog) -> "Figure":
    """The ball's way and the robots' ways on the court."""
    figure, axes = new_chart(900, 480, "y [m]", "x [m]", margins=(46, 16, 30, 42))
    x, y = log.court_m[:2] / 2
    axes.plot([-x, x, x, -x, -x], [-y, -y, y, y, -y], color=MUTED)
    axes.plot([0, 0], [-y, y], color=GRID, linewidth=3)
    _ways(axes, log, (0, 1))
    axes.set_aspect("equal", adjustable="datalim")
    return figure


def _ways(axes: "Axes", log: RallyLog, plane: tuple[int, int]) -> None:
    """Ways of robots and ball while it is in play; dots are hits in the colour of the team."""
    first, second = plane
    for robot in range(log.robots_m.shape[1]):
        way = log.robots_m[log.in_play][:, robot]
        axes.plot(way[:, first], way[:, second], color=colour_of(log, robot), linewidth=1.0, alpha=0.6)
    ball = log.ball_m[log.in_play]
    axes.plot(ball[:, first], ball[:, second], color=INK, linewidth=1.2)
    for step, robot in zip(*np.nonzero(log.hit & log.in_play[:, None]), strict=True):
        at = log.ball_m[step]
        axes.plot(at[first], at[second], "o", color=colour_of(log, int(robot)), markersize=6)


def apart(log: RallyLog) -> "Figure":
    """Least distance of two mates over the time."""
    figure, axes = new_chart(900, 220, "mates apart [m]", "time since the serve [s]", margins=(46, 16, 30, 42))
    time_s = log.time_s[log.in_play]
    axes.plot(time_s - time_s[:1], distances_m(log).min((1, 2), initial=np.inf), color=INK, linewidth=1.2)
    axes.axhline(0.8, color=MUTED, linewidth=1, linestyle=(0, (2, 2)))
    axes.set_ylim(bottom=0.0)
    return figure
