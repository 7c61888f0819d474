"""Moving picture of a flight from above: an SVG with an animation that the browser plays by itself,
without a script.
"""

import html
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robomarl.core.log import FlightLog
from robomarl.front.report.plots.style import NUM_ROBOT_COLOURS

FRAMES_PER_S = 20
MOST_FRAMES = 300
WIDTH_PX = 440


class Map(NamedTuple):
    """Conversion of world x and y [m] to places in the picture; y grows downwards there."""

    centre_m: np.ndarray
    px_per_m: float
    height_px: float

    def place(self, xy_m: np.ndarray) -> np.ndarray:
        """[..., 2] pixels, to a tenth."""
        middle = np.array([WIDTH_PX / 2, self.height_px / 2])
        return ((xy_m - self.centre_m) * (self.px_per_m, -self.px_per_m) + middle).round(1)


def animated_map(log: FlightLog, names: Sequence[str], title: str) -> str:
    """The flight from above in real time, again and again.

    Discs are the robots in true size. The ring around each is half the safety distance wide on each side:
    where two rings touch, the robots are at the safety distance. A ring is filled while the safety filter acts.
    """
    paths, active, seconds = _frames(log)
    goals = log.goal_m[-1][:, :2]
    known = np.isfinite(goals).all(axis=1)  # nobody told the others theirs, or it is not in the recording
    view = _fit(np.concatenate([paths.reshape(-1, 2), goals[known]]))
    timing = f'dur="{seconds:.2f}s" repeatCount="indefinite"'
    robots = [
        _robot(log, view, (i, name), view.place(paths[:, i]), active[:, i], timing) for i, name in enumerate(names)
    ]
    crosses = [_cross(i, view.place(goals[i])) for i in np.flatnonzero(known).tolist()]
    label = html.escape(title, quote=True)
    head = f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDTH_PX} {view.height_px:.0f}">'
    return "\n".join([head, _grid(view), *crosses, *robots, "</svg>"])


def _frames(log: FlightLog) -> tuple[np.ndarray, np.ndarray, float]:
    """Positions [F, N, 2] and filter flags [F, N] at even times, and how long they last [s]."""
    start, seconds = float(log.time_s[0]), max(float(log.time_s[-1] - log.time_s[0]), 0.1)
    at = np.linspace(0, seconds, int(np.clip(seconds * FRAMES_PER_S, 2, MOST_FRAMES))) + start
    paths = np.zeros((len(at), log.pos_m.shape[1], 2))
    for i in range(paths.shape[1]):
        good = np.isfinite(log.pos_m[:, i, :2]).all(axis=1)
        for axis in range(2) if good.any() else ():
            paths[:, i, axis] = np.interp(at, log.time_s[good], log.pos_m[good, i, axis])
    first = np.clip(np.searchsorted(log.time_s, at), 0, len(log.time_s) - 1)
    return paths, np.logical_or.reduceat(log.active.astype(bool), first), seconds


def _fit(points_m: np.ndarray) -> Map:
    """A map that holds all points with a margin."""
    low, high = points_m.min(axis=0) - 0.3, points_m.max(axis=0) + 0.3
    size = high - low
    height = float(np.clip(WIDTH_PX * size[1] / size[0], 140, WIDTH_PX))
    return Map((low + high) / 2, float(min(WIDTH_PX / size[0], height / size[1])), height)


def _grid(view: Map) -> str:
    """Draw lines every half metre (or more, on large maps), with their distance as text."""
    step = next(s for s in (0.5, 1.0, 2.0, 5.0, 10.0, 50.0, 1e9) if s * view.px_per_m > 30)
    half = np.array([WIDTH_PX, view.height_px]) / 2 / view.px_per_m
    low, high = np.ceil((view.centre_m - half) / step), np.floor((view.centre_m + half) / step)
    lines = []
    for x in np.arange(low[0], high[0] + 1) * step:
        px = view.place(np.array([x, 0.0]))[0]
        lines.append(f"M{px} 0V{view.height_px:.0f}")
    for y in np.arange(low[1], high[1] + 1) * step:
        lines.append(f"M0 {view.place(np.array([0.0, y]))[1]}H{WIDTH_PX}")
    note = f'<text x="8" y="{view.height_px - 8:.0f}" font-size="11" fill="var(--muted)">grid {step:g} m</text>'
    return f'<path d="{"".join(lines)}" stroke="var(--grid)" fill="none"/>{note}'


def _cross(i: int, place: np.ndarray) -> str:
    x, y = place
    arms = f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8"
    return f'<path d="{arms}" stroke="var(--c{i % NUM_ROBOT_COLOURS})" stroke-width="1.8" fill="none"/>'


def _robot(log: FlightLog, view: Map, who: tuple[int, str], path: np.ndarray, active: np.ndarray, timing: str) -> str:
    """Trail, ring, disc and name of one robot."""
    colour = f"var(--c{who[0] % NUM_ROBOT_COLOURS})"
    trail = "M" + "L".join(f"{x:g} {y:g}" for x, y in path)
    moves = ";".join(f"{x:g},{y:g}" for x, y in path)
    fills = ";".join(".35" if is_active else "0" for is_active in active)
    ring, disc = log.separation_m / 2 * view.px_per_m, log.radius_m * view.px_per_m
    label = f'y="{-ring - 4:.1f}" text-anchor="middle" font-size="11" font-weight="bold"'
    return (
        f'<path d="{trail}" stroke="{colour}" stroke-opacity=".3" fill="none"/>'
        f'<g transform="translate({path[0][0]:g},{path[0][1]:g})">'
        f'<animateTransform attributeName="transform" type="translate" {timing} values="{moves}"/>'
        f'<circle r="{ring:.1f}" stroke="{colour}" fill="{colour}" fill-opacity="0">'
        f'<animate attributeName="fill-opacity" calcMode="discrete" {timing} values="{fills}"/></circle>'
        f'<circle r="{disc:.1f}" fill="{colour}"/>'
        f'<text {label} fill="{colour}">{html.escape(who[1])}</text>'
        "</g>"
    )
