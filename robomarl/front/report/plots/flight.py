"""Figures of flights: a `FlightLog` -> matplotlib figures. Robots keep their colours in all figures."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robomarl.core.log import FlightLog
from robomarl.front.report.plots.style import (
    BAD,
    GRID,
    INK,
    MUTED,
    PAPER,
    WARN,
    label_ends,
    name_beside,
    new_chart,
    robot_line,
)
from robomarl.front.report.runs import RecordedFlight

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

MOST_POINTS = 600
BEHIND_TEXT = {"facecolor": PAPER, "edgecolor": "none", "alpha": 0.75, "pad": 1}
"""Box that keeps a text across lines readable."""


def nearest_m(log: FlightLog) -> np.ndarray:
    """[T, N] distance of each robot to the nearest other one [m]; +inf for one robot and for NaN."""
    count = log.pos_m.shape[1]
    nearest = np.full(log.pos_m.shape[:2], np.inf)
    for i in range(count):
        others = np.delete(log.pos_m, i, axis=1)
        if others.shape[1]:
            gaps = np.linalg.norm(others - log.pos_m[:, i : i + 1], axis=-1)
            nearest[:, i] = np.where(np.isfinite(gaps), gaps, np.inf).min(axis=1)
    return nearest


def deviation(log: FlightLog) -> np.ndarray:
    """[T, N] size of command minus nominal over the first three action elements: the acceleration [m/s^2]."""
    return np.linalg.norm((log.command - log.nominal)[..., :3], axis=-1)


def steps_to_draw(log: FlightLog, keep: Sequence[int] = ()) -> np.ndarray:
    """Indices of at most about `MOST_POINTS` times, `keep` included."""
    even = np.linspace(0, len(log.time_s) - 1, min(len(log.time_s), MOST_POINTS)).round().astype(int)
    return np.unique([*even, *keep])


def map_view(log: FlightLog, plane: tuple[int, int], names: Sequence[str], size: tuple[int, int]) -> "Figure":
    """Trajectories in a plane of the world frame: (0, 1) is from above, (0, 2) from the side.

    Rings are the starts, crosses the goals, discs the robots where the flight ends (true size). A pale band
    marks where the safety filter changed the command.
    """
    unit = "xyz"[plane[1]] + " [m]", "xyz"[plane[0]] + " [m]"
    figure, axes = new_chart(*size, *unit, margins=(46, 16, 30, 42))
    at = steps_to_draw(log)
    for i, name in enumerate(names):
        _draw_path(axes, log, at, i, plane).set_label(name)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.2 if plane == (0, 1) else 0.12)
    axes.locator_params(nbins=6)
    axes.grid(axis="x", color=GRID, linewidth=1)
    axes.spines["bottom"].set_visible(False)
    if plane == (0, 1):
        _name_starts(axes, log, plane, names)
    return figure


def _draw_path(axes: "Axes", log: FlightLog, at: np.ndarray, i: int, plane: tuple[int, int]) -> "Line2D":
    """Draw the path of one robot with its start, goal and end; return the line of the path."""
    from matplotlib.patches import Circle

    line = robot_line(i)
    path = log.pos_m[at, i][:, plane]
    filtered = np.where(log.active[at, i][:, None], path, np.nan)
    axes.plot(*filtered.T, color=line["color"], linewidth=7, alpha=0.25, solid_capstyle="round")
    (drawn,) = axes.plot(*path.T, linewidth=1.8, **line)
    axes.plot(*path[0], "o", color=line["color"], markersize=7, markerfacecolor=PAPER, markeredgewidth=1.6)
    axes.plot(*log.goal_m[-1, i][list(plane)], "x", color=line["color"], markersize=8, markeredgewidth=1.8)
    if np.isfinite(path[-1]).all():
        axes.add_patch(Circle(tuple(path[-1]), log.radius_m, color=line["color"], alpha=0.35, linewidth=0))
    return drawn


def _name_starts(axes: "Axes", log: FlightLog, plane: tuple[int, int], names: Sequence[str]) -> None:
    """Names beside the starts, on the side that faces away from the team."""
    starts = log.pos_m[0][:, plane]
    outward = starts - starts.mean(axis=0)
    length = np.linalg.norm(outward, axis=1, keepdims=True)
    outward = np.where(length > 1e-6, outward / np.maximum(length, 1e-6), (0.0, 1.0))
    for i, (start, way) in enumerate(zip(starts, outward, strict=True)):
        side = "left" if way[0] > 0.6 else "right" if way[0] < -0.6 else "center"
        axes.annotate(names[i], start, xytext=(10 * way[0], 13 * way[1]), textcoords="offset points",
                      fontsize=11, ha=side, va="center", color=robot_line(i)["color"],
                      fontweight="bold", bbox=BEHIND_TEXT, zorder=6)  # fmt: skip


def distances(log: FlightLog, names: Sequence[str]) -> "Figure | None":
    """Each robot's distance to its nearest team-mate, against the safety distance; None for one robot."""
    nearest = nearest_m(log)
    if not np.isfinite(nearest).any():
        return None
    step, robot = np.unravel_index(int(np.argmin(nearest)), nearest.shape)
    at, least = steps_to_draw(log, [int(step)]), float(nearest[step, robot])
    figure, axes = new_chart(440, 280, "distance to the nearest robot [m]", "time [s]", margins=(46, 106, 30, 42))
    shown = np.minimum.reduceat(nearest, at)  # where times are left out, their closest approach stays
    for i in range(len(names)):
        axes.plot(log.time_s[at], shown[:, i], linewidth=1.5, label=names[i], **robot_line(i))
    _mark_limits(axes, log, least)
    axes.set_xlim(log.time_s[0], log.time_s[-1])
    when = float(log.time_s[step])
    is_late = when > log.time_s[0] + 0.6 * (log.time_s[-1] - log.time_s[0])
    axes.plot(when, least, "o", color=INK, markersize=6, zorder=5, clip_on=False)
    axes.annotate(f"least {least:.3f} m at {when:.1f} s", (when, least), xytext=(-8 if is_late else 8, 22),
                  textcoords="offset points", fontsize=11, color=INK, ha="right" if is_late else "left",
                  bbox=BEHIND_TEXT, zorder=6)  # fmt: skip
    label_ends(axes, _limit_labels(log))
    return figure


def _mark_limits(axes: "Axes", log: FlightLog, least: float) -> None:
    """Safety distance and contact; the axis ends where approaches can still be read."""
    contact = 2 * log.radius_m
    axes.axhline(log.separation_m, color=WARN, linewidth=1.4, linestyle=(0, (5, 3)))
    axes.axhline(contact, color=BAD, linewidth=1.4)
    axes.axhspan(0, contact, color=BAD, alpha=0.1, linewidth=0)
    axes.set_ylim(0, max(5 * log.separation_m, 1.6 * least if np.isfinite(least) else 0))


def _limit_labels(log: FlightLog) -> list[tuple[float, str, str]]:
    contact = 2 * log.radius_m
    return [
        (log.separation_m, f"safety {log.separation_m:.2f} m", WARN),
        (contact, f"contact {contact:.2f} m", BAD),
    ]


def all_distances(flights: Sequence[RecordedFlight]) -> "Figure | None":
    """Least distance in the team over time, one line a flight; the closest flight is named."""
    least = [nearest_m(flight.log).min(axis=1) for flight in flights]
    if not least or not any(np.isfinite(gap).any() for gap in least):
        return None
    worst = int(np.argmin([gap.min() for gap in least]))
    figure, axes = new_chart(440, 280, "least distance in the team [m]", "time [s]", margins=(46, 106, 30, 42))
    for i in sorted(range(len(flights)), key=lambda i: i == worst):
        log, is_worst = flights[i].log, i == worst
        at = steps_to_draw(log)
        style = {"color": INK, "linewidth": 1.8} if is_worst else {"color": MUTED, "linewidth": 1, "alpha": 0.5}
        axes.plot(log.time_s[at], np.minimum.reduceat(least[i], at), label=flights[i].name, **style)
    _mark_limits(axes, flights[worst].log, float(least[worst].min()))
    axes.set_xlim(0, max(flight.log.time_s[-1] for flight in flights))
    place = int(np.argmin(least[worst]))
    axes.plot(flights[worst].log.time_s[place], least[worst][place], "o", color=INK, markersize=6, zorder=5)
    label_ends(axes, _limit_labels(flights[worst].log))
    return figure


def goal_errors(log: FlightLog, names: Sequence[str], tolerance_m: float | None = None) -> "Figure":
    """Draw each robot's distance to its goal over time; a robot within `tolerance_m` has arrived."""
    at = steps_to_draw(log)
    error = np.linalg.norm(log.pos_m - log.goal_m, axis=-1)
    figure, axes = new_chart(440, 280, "distance to the goal [m]", "time [s]", margins=(46, 106, 30, 42))
    for i in range(len(names)):
        axes.plot(log.time_s[at], error[at, i], linewidth=1.6, label=names[i], **robot_line(i))
    axes.set_ylim(0)
    axes.set_xlim(log.time_s[0], log.time_s[-1])
    labels = [(float(error[-1, i]), name, robot_line(i)["color"]) for i, name in enumerate(names)]
    if tolerance_m is not None:
        axes.axhline(tolerance_m, color=MUTED, linewidth=1.2, linestyle=(0, (5, 3)))
        axes.annotate(f"arrived below {tolerance_m:.2f} m", (log.time_s[-1], tolerance_m), xytext=(-2, 9),
                      textcoords="offset points", fontsize=11, color=MUTED, ha="right", va="center",
                      bbox=BEHIND_TEXT, zorder=6)  # fmt: skip
    label_ends(axes, [(y, name, colour) for y, name, colour in labels if np.isfinite(y)])
    return figure


def interventions(log: FlightLog, names: Sequence[str]) -> "Figure | None":
    """When and how strongly the safety filter changed each robot's command; None where it never did."""
    size = np.where(log.active, deviation(log), 0.0)
    top = float(np.nanmax(size, initial=0.0))
    if not log.active.any():
        return None
    count, at = len(names), steps_to_draw(log)
    lane = 34 if count <= 8 else 22
    shown = np.maximum.reduceat(np.nan_to_num(size), at)  # no intervention is lost where times are left out
    figure, axes = new_chart(440, 76 + lane * count, "change of the command [m/s²]", "time [s]", (92, 76, 30, 42))
    for i in range(count):
        base, line = count - 1 - i, robot_line(i)["color"]
        axes.fill_between(log.time_s[at], base, base + 0.85 * shown[:, i] / max(top, 1e-9), color=line, linewidth=0)
        axes.axhline(base, color=GRID, linewidth=1)
        height = (base + 0.4 + 0.12) / (count + 0.12)
        name_beside(axes, (0, height), names[i], line, gap_px=-8)
        name_beside(axes, (1, height), f"max {np.nanmax(size[:, i]):.2f}", MUTED)
    axes.set_yticks([])
    axes.set_ylim(-0.12, count)
    axes.set_xlim(log.time_s[0], log.time_s[-1])
    return figure
