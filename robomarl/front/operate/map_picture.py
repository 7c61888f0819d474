"""`map_svg`: the field from above as SVG, and the places on it."""

import math
from dataclasses import dataclass
from html import escape

import numpy as np

from robomarl.core.geometry import yaw_of
from robomarl.front.operate.words import mark_of
from robomarl.lab.scene.scene import RGB, Primitive, Scene, SceneMoment
from robomarl.ros.robot.health import OK

WIDTH = 1000
"""Width of the picture in its own units; the browser scales it."""
EDGE_M = 0.4
"""Room around the arena [m]."""
NEAR = 34
"""Distance in units of the picture within which a click is on a robot."""
INK, GRID, PAPER, SOLID, ALERT = "#1b1f24", "#d5dae1", "#ffffff", "#9aa3ad", "#b35900"


@dataclass(frozen=True)
class MapFrame:
    """Scale and place of the map."""

    low_m: tuple[float, float]
    high_m: tuple[float, float]

    @property
    def scale(self) -> float:
        """Units of the picture for each metre."""
        return WIDTH / (self.high_m[0] - self.low_m[0])

    @property
    def height(self) -> float:
        """Height of the picture in its own units."""
        return self.scale * (self.high_m[1] - self.low_m[1])

    def at(self, place_m: np.ndarray) -> tuple[float, float]:
        """Return the point of the picture at a place of the world."""
        return float(self.scale * (place_m[0] - self.low_m[0])), float(self.scale * (self.high_m[1] - place_m[1]))

    def place_m(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of the world at a point of the picture."""
        return self.low_m[0] + x / self.scale, self.high_m[1] - y / self.scale


@dataclass(frozen=True)
class MapMarks:
    """Selection of one operator on the map."""

    selected: int | None = None
    """Index of a robot."""
    pending_m: np.ndarray | None = None
    """[3] goal that has not been sent yet."""
    levels: tuple[int | None, ...] = ()
    """Level of each robot as in diagnostics; None: it was never received, and is not drawn."""


def frame_of(scene: Scene) -> MapFrame:
    """Return the frame in which the arena fits."""
    (x0, y0, _), (x1, y1, _) = scene.low_m, scene.high_m
    return MapFrame((x0 - EDGE_M, y0 - EDGE_M), (x1 + EDGE_M, y1 + EDGE_M))


def robot_at(frame: MapFrame, moment: SceneMoment, x: float, y: float) -> int | None:
    """Return the index of the robot at a point of the picture, the nearest one; None if there is none."""
    gaps = [math.dist(frame.at(place), (x, y)) for place in moment.pos_m]
    return int(np.argmin(gaps)) if gaps and min(gaps) <= NEAR else None


def ground_svg(scene: Scene, frame: MapFrame) -> str:
    """Return the things that do not move: metres, arena, obstacles."""
    (x0, y0), (x1, y1) = frame.at(np.array(scene.low_m)), frame.at(np.array(scene.high_m))
    step = 1 if frame.high_m[0] - frame.low_m[0] < 15 else 5
    lines = []
    for k in range(math.ceil(frame.low_m[0] / step), math.floor(frame.high_m[0] / step) + 1):
        x, _ = frame.at(np.array([k * step, 0.0]))
        lines.append(f'<path d="M{x:.0f} 0V{frame.height:.0f}"/>')
    for k in range(math.ceil(frame.low_m[1] / step), math.floor(frame.high_m[1] / step) + 1):
        _, y = frame.at(np.array([0.0, k * step]))
        lines.append(f'<path d="M0 {y:.0f}H{WIDTH}"/>')
    arena = f'<rect x="{x0:.0f}" y="{y1:.0f}" width="{x1 - x0:.0f}" height="{y0 - y1:.0f}" fill="{PAPER}"/>'
    border = arena.replace(f'fill="{PAPER}"', f'fill="none" stroke="{INK}" stroke-width="3"')
    grid = f'<g stroke="{GRID}" stroke-width="1.5">{"".join(lines)}</g>'
    return f"{arena}{grid}{''.join(_solid(frame, part) for part in scene.solids)}{border}{_scale_bar(frame, step)}"


def moving_svg(scene: Scene, frame: MapFrame, moment: SceneMoment, marks: MapMarks) -> str:
    """Return goals, load, ball, robots with their names and heights, and the operator's choices."""
    parts = [_goal(frame, scene.colours[k % len(scene.colours)], goal) for k, goal in enumerate(moment.goal_m)]
    if len(moment.load_pose):
        parts.append(_disc(frame, moment.load_pose[:3], 16, "#b07a3c"))
    if len(moment.ball_m):
        parts.append(_disc(frame, moment.ball_m, 9, "#e8590c"))
    if marks.pending_m is not None and marks.selected is not None:
        parts.append(_pending(frame, moment.pos_m[marks.selected], marks.pending_m))
    for index in range(len(moment.pos_m)):
        level = marks.levels[index] if marks.levels else OK
        if level is not None:
            parts.append(_robot(scene, frame, moment, index, (marks.selected == index, level)))
    return "".join(parts)


def hex_of(rgb: RGB) -> str:
    """Return a colour as in HTML."""
    return "#{:02x}{:02x}{:02x}".format(*rgb)


def _solid(frame: MapFrame, part: Primitive) -> str:
    x, y = frame.at(np.array(part.place_m))
    fill = hex_of(part.rgb) if part.rgb else SOLID
    if part.kind == "box":
        wide, deep = (frame.scale * size for size in part.size_m[:2])
        return (
            f'<rect x="{x - wide / 2:.1f}" y="{y - deep / 2:.1f}" width="{wide:.1f}" height="{deep:.1f}" '
            f'fill="{fill}" fill-opacity="{part.opacity:g}"/>'
        )
    if part.kind == "capsule":
        x1, y1 = frame.at(np.array(part.end_m))
        wide = 2 * frame.scale * part.size_m[0]
        return (
            f'<path d="M{x:.1f} {y:.1f}L{x1:.1f} {y1:.1f}" stroke="{fill}" stroke-width="{wide:.1f}" '
            f'stroke-linecap="round"/>'
        )
    radius = frame.scale * part.size_m[0]
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}" fill-opacity="{part.opacity:g}"/>'


def _scale_bar(frame: MapFrame, step: int) -> str:
    y, wide = frame.height - 14, frame.scale * step
    return (
        f'<path d="M14 {y - 8:.0f}v8h{wide:.0f}v-8" fill="none" stroke="{INK}" stroke-width="3"/>'
        f'<text x="{22 + wide:.0f}" y="{y:.0f}" font-size="24" fill="{INK}">{step} m</text>'
    )


def _disc(frame: MapFrame, place_m: np.ndarray, radius: float, fill: str) -> str:
    x, y = frame.at(place_m)
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{INK}" stroke-width="2"/>'


def _goal(frame: MapFrame, colour: RGB, goal_m: np.ndarray) -> str:
    x, y = frame.at(goal_m)
    cross = f"M{x - 13:.1f} {y - 13:.1f}l26 26m0 -26l-26 26"
    return (
        f'<path d="{cross}" stroke="{INK}" stroke-width="8" stroke-linecap="round"/>'
        f'<path d="{cross}" stroke="{hex_of(colour)}" stroke-width="4.5" stroke-linecap="round"/>'
    )


def _pending(frame: MapFrame, from_m: np.ndarray, to_m: np.ndarray) -> str:
    (x0, y0), (x, y) = frame.at(from_m), frame.at(to_m)
    return (
        f'<path d="M{x0:.1f} {y0:.1f}L{x:.1f} {y:.1f}" stroke="{INK}" stroke-width="3" stroke-dasharray="10 8"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="20" fill="none" stroke="{INK}" stroke-width="4"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{INK}"/>'
    )


def _robot(scene: Scene, frame: MapFrame, moment: SceneMoment, index: int, shown: tuple[bool, int]) -> str:
    """Return one robot; `shown` is whether it is selected, and its level."""
    selected, level = shown
    x, y = frame.at(moment.pos_m[index])
    turn = -math.degrees(float(yaw_of(moment.quat_wxyz[index])))
    active = bool(len(moment.active) and moment.active[index])
    ring = f'<circle r="29" fill="none" stroke="{INK}" stroke-width="5"/>' if selected else ""
    ring += f'<circle r="23" fill="none" stroke="{ALERT}" stroke-width="5" stroke-dasharray="7 5"/>' if active else ""
    height = "" if scene.flat else f"{moment.pos_m[index][2]:.1f} m"
    body = f'<path d="M24 0L-14 15L-7 0L-14 -15Z" fill="{hex_of(scene.colours[index])}" stroke="{INK}" '
    body += f'stroke-width="3" transform="rotate({turn:.0f})"/>'
    name = (f"{mark_of(level).symbol} " if level > OK else "") + escape(scene.names[index])
    below = f'<text y="52" font-size="22">{height}</text>' if height else ""
    label = (
        f'<g text-anchor="middle" font-size="25" font-weight="600" fill="{INK}" stroke="{PAPER}" stroke-width="6" '
        f'paint-order="stroke"><text y="-32">{name}</text>{below}</g>'
    )
    return f'<g transform="translate({x:.1f} {y:.1f})">{ring}{body}{label}</g>'
