"""Figures of flights with a load: pose against goal, tensions, paths."""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robomarl.core.log import FlightLog
from robomarl.domains.flight.ros.payload.outcome import errors
from robomarl.front.report.plots.flight import steps_to_draw
from robomarl.front.report.plots.style import BAD, GRID, INK, MUTED, PAPER, label_ends, new_chart, robot_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXIS_COLOURS = tuple(robot_line(i)["color"] for i in range(3))
Marks = Sequence[tuple[float, str]]
"""Events as (time [s], description)."""


def place_against_goal(log: FlightLog, marks: Marks = ()) -> "Figure":
    """Draw the load's place and its goal, axis by axis; goals are dashed."""
    at = steps_to_draw(log)
    figure, axes = new_chart(900, 300, "place of the load [m]", "time [s]", margins=(46, 60, 30, 42))
    for i, colour in enumerate(AXIS_COLOURS):
        axes.step(
            log.time_s[at], log.load_goal[at, i], where="post", color=colour, linewidth=1.1, linestyle=(0, (4, 3))
        )
        axes.plot(log.time_s[at], log.load_place_m[at, i], color=colour, linewidth=1.8)
    axes.set_xlim(log.time_s[0], log.time_s[-1])
    _mark(axes, marks)
    ends = zip(log.load_place_m[-1], "xyz", AXIS_COLOURS, strict=True)
    label_ends(axes, [(float(value), name, colour) for value, name, colour in ends])
    return figure


def pose_errors(log: FlightLog, which: int, marks: Marks = ()) -> "Figure":
    """Distance (0) or angle (1) between the load and its goal."""
    values, label = errors(log)[which], ("distance to the goal [m]", "angle to the goal [degrees]")[which]
    at = steps_to_draw(log)
    figure, axes = new_chart(440, 260, label, "time [s]", margins=(46, 16, 30, 42))
    axes.plot(log.time_s[at], (np.degrees(values) if which else values)[at], color=INK, linewidth=1.6)
    axes.set_ylim(0)
    axes.set_xlim(log.time_s[0], log.time_s[-1])
    _mark(axes, marks)
    return figure


def tensions(log: FlightLog, names: Sequence[str], marks: Marks = ()) -> "Figure":
    """Pull of every cable; the largest of each stretch that is left out stays."""
    at = steps_to_draw(log)
    figure, axes = new_chart(900, 260, "tension [N]", "time [s]", margins=(46, 90, 30, 42))
    shown = np.maximum.reduceat(log.tension_n, at, axis=0)
    for i in range(len(names)):
        axes.plot(log.time_s[at], shown[:, i], linewidth=1.4, **robot_line(i))
    axes.set_xlim(log.time_s[0], log.time_s[-1])
    axes.set_ylim(0)
    _mark(axes, marks)
    label_ends(axes, [(float(shown[-1, i]), name, robot_line(i)["color"]) for i, name in enumerate(names)])
    return figure


def load_paths(log: FlightLog, plane: tuple[int, int], size: tuple[int, int]) -> "Figure":
    """Paths of the vehicles (thin) and of the load (bold) in a plane; crosses are the load's goals."""
    at = steps_to_draw(log)
    figure, axes = new_chart(*size, "xyz"[plane[1]] + " [m]", "xyz"[plane[0]] + " [m]", margins=(46, 16, 30, 42))
    for i in range(log.pos_m.shape[1]):
        path = log.pos_m[at, i][:, plane]
        axes.plot(*path.T, linewidth=1.3, **robot_line(i))
        axes.plot(*path[0], "o", color=robot_line(i)["color"], markersize=6, markerfacecolor=PAPER)
        axes.plot(*path[-1], "s", color=robot_line(i)["color"], markersize=6)
    axes.plot(*log.load_place_m[at][:, plane].T, color=INK, linewidth=2.2)
    for goal in np.unique(log.load_goal[:, :3], axis=0):
        axes.plot(*goal[list(plane)], "x", color=BAD, markersize=8, markeredgewidth=1.8)
    axes.set_aspect("equal", adjustable="datalim")
    axes.grid(axis="x", color=GRID, linewidth=1)
    return figure


def _mark(axes: "Axes", marks: Marks) -> None:
    """Vertical lines where something happened; names at two heights, so that they do not overlap."""
    for (when, what), height in zip(marks, itertools.cycle((0.97, 0.87)), strict=False):
        axes.axvline(when, color=MUTED, linewidth=1, linestyle=(0, (2, 2)))
        axes.annotate(what, (when, height), xycoords=("data", "axes fraction"), xytext=(3, 0),
                      textcoords="offset points", fontsize=10, color=MUTED, va="center")  # fmt: skip
