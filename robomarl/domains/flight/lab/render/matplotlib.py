"""Pictures by matplotlib, where MuJoCo has no GL library to draw with."""

import colorsys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from robomarl.core.log import FlightLog
from robomarl.domains.flight.lab.render.cables import cable_rgb, has_cables
from robomarl.domains.flight.lab.render.shots import Shot
from robomarl.domains.flight.lab.scenario import FlightScenario

DPI = 100
Axes = Any
"""Axes in three dimensions: matplotlib has no types for them."""


def plot_frames(
    log: FlightLog, scenario: FlightScenario, shots: Sequence[Shot], size: tuple[int, int]
) -> Iterator[np.ndarray]:
    """Pictures [height, width, 3] uint8; see `robomarl.domains.flight.lab.render.render_frames`."""
    figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    axes: Axes = figure.add_axes((-0.08, -0.06, 1.16, 1.12), projection="3d")
    for shot in shots:
        axes.clear()
        _set_up(axes, log)
        for i in range(log.pos_m.shape[1]):
            _draw_robot(axes, log, shot, i)
        if has_cables(log):
            _draw_cables(axes, log, scenario, shot.step)
        axes.text2D(0.12, 0.9, f"{scenario.name}   {log.time_s[shot.step]:.1f} s", transform=axes.transAxes)
        canvas.draw()
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _set_up(axes: Axes, log: FlightLog) -> None:
    """Set one scale on all axes, around the whole flight."""
    places = np.concatenate([log.pos_m.reshape(-1, 3), log.goal_m.reshape(-1, 3)])
    low, high = places.min(0), places.max(0)
    centre, reach = (low + high) / 2, (high - low)[:2].max() / 2 + 0.1
    height = max((high - low)[2] / 2, 0.3 * reach)
    axes.set_xlim(centre[0] - reach, centre[0] + reach)
    axes.set_ylim(centre[1] - reach, centre[1] + reach)
    axes.set_zlim(centre[2] - height, centre[2] + height)
    axes.set_box_aspect((1, 1, height / reach))
    axes.view_init(elev=38, azim=-60)
    axes.tick_params(labelsize=7, pad=-2)
    axes.set_xlabel("x [m]", labelpad=-4, fontsize=8)
    axes.set_ylabel("y [m]", labelpad=-4, fontsize=8)


def _draw_cables(axes: Axes, log: FlightLog, scenario: FlightScenario, step: int) -> None:
    for i, color in enumerate(cable_rgb(log, scenario, step)):
        if np.isfinite(log.cable_m[step, i]):
            ends = np.stack([log.pos_m[step, i], log.tied_m[step, i]], -1)
            axes.plot(*ends, color=color, linewidth=2)
    ring = [*range(log.tied_m.shape[1]), 0]
    axes.plot(*log.tied_m[step, ring].T, color="saddlebrown", linewidth=1.5)


def _draw_robot(axes: Axes, log: FlightLog, shot: Shot, index: int) -> None:
    count = log.pos_m.shape[1]
    color = colorsys.hls_to_rgb((0.02 + index / count) % 1.0, 0.45, 0.75)
    path, goal, pos = log.pos_m[shot.trail_from : shot.step + 1, index], log.goal_m[shot.step, index], None
    axes.plot(*path.T, color=color, linewidth=1.5, alpha=0.6)
    axes.plot(*goal[:, None], marker="x", color=color, markersize=9, markeredgewidth=2)
    pos = log.pos_m[shot.step, index]
    edge = "orange" if log.active[shot.step, index] else "black"
    axes.plot(*pos[:, None], marker="o", color=color, markersize=9, markeredgecolor=edge, markeredgewidth=1.5)
