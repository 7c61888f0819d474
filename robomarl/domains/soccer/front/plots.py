"""Figures of a match: score, where each robot was, the ball's path, and the game as it moved."""

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robomarl.domains.soccer.core.log import MatchLog
from robomarl.front.report.plots.style import COLOURS, GRID, INK, MUTED, label_ends, new_chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TEAMS = ("c0", "c1")
"""Colours of the first and the second team."""
BIN_M = 0.15
"""Side of a square of a heat map."""
FRAMES_PER_S = 10
WIDTH_PX = 900
MARGIN_M = 0.15
JUMP_M = 0.5
"""Distance [m] per decision above which a ball has been put back."""


def team_of(log: MatchLog, robot: int) -> int:
    """0 for robots of the first team, 1 for those of the second."""
    return int(robot >= log.robots_m.shape[1] // 2)


def score_line(log: MatchLog) -> "Figure":
    """Goals of both teams over the time."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = new_chart(900, 220, "goals", "time [s]", margins=(46, 90, 30, 42))
    for team, name in enumerate(TEAMS):
        style = {"color": COLOURS[name][0], "linewidth": 2.0, "linestyle": ("-", (0, (5, 2)))[team]}
        axes.step(log.time_s, log.goals[:, team], where="post", **style)
    for row in np.flatnonzero(np.diff(log.goals.sum(-1)) > 0) + 1:
        axes.axvline(log.time_s[row], color=MUTED, linewidth=1, linestyle=(0, (2, 2)))
    axes.set_xlim(log.time_s[0], log.time_s[-1])
    axes.set_ylim(-0.2, max(float(log.goals.max()), 1.0) + 0.3)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    ends = zip(log.goals[-1], ("first team", "second team"), TEAMS, strict=True)
    label_ends(axes, [(float(value), name, COLOURS[colour][0]) for value, name, colour in ends])
    return figure


def heat_map(log: MatchLog, robot: int) -> "Figure":
    """Draw the places of one robot: the darker, the longer."""
    from matplotlib.colors import LinearSegmentedColormap

    figure, axes = new_chart(440, 320, "y [m]", "x [m]", margins=(46, 16, 30, 42))
    length, width, _ = log.field_m
    bins = (max(round(length / BIN_M), 1), max(round(width / BIN_M), 1))
    place = log.robots_m[log.playing][:, robot, :2]
    counts, *_ = np.histogram2d(*place.T, bins=bins, range=[[-length / 2, length / 2], [-width / 2, width / 2]])
    colour = COLOURS[TEAMS[team_of(log, robot)]][0]
    map_ = LinearSegmentedColormap.from_list("heat", [f"{colour}00", f"{colour}ff"])
    extent = (-length / 2, length / 2, -width / 2, width / 2)
    axes.imshow(np.sqrt(counts.T), cmap=map_, origin="lower", extent=extent, interpolation="nearest", zorder=1)
    _draw_field(axes, log)
    return figure


def ball_path(log: MatchLog) -> "Figure":
    """The ball's way, broken where it was put back; dots are kicks in the colour of the team."""
    figure, axes = new_chart(900, 600, "y [m]", "x [m]", margins=(46, 16, 30, 42))
    path = log.ball_m.astype(float).copy()
    jumps = np.flatnonzero(np.linalg.norm(np.diff(path, axis=0), axis=-1) > JUMP_M) + 1
    axes.plot(*np.insert(path, jumps, np.nan, axis=0).T, color=INK, linewidth=1.0, alpha=0.7)
    for step, robot in zip(*np.nonzero(log.kicked), strict=True):
        axes.plot(*path[step], "o", color=COLOURS[TEAMS[team_of(log, int(robot))]][0], markersize=6)
    _draw_field(axes, log)
    return figure


def animated_match(log: MatchLog, names: Sequence[str]) -> str:
    """The match in real time, again and again: an SVG that the browser plays by itself, without a script."""
    begin, seconds = float(log.time_s[0]), max(float(log.time_s[-1] - log.time_s[0]), 0.1)
    at = np.linspace(begin, begin + seconds, max(round(seconds * FRAMES_PER_S), 2))
    rows = np.clip(np.searchsorted(log.time_s, at), 0, len(log.time_s) - 1)
    length, width, _ = log.field_m
    scale = WIDTH_PX / (length + 2 * MARGIN_M)
    size = (WIDTH_PX, (width + 2 * MARGIN_M) * scale)
    timing = f'dur="{seconds:.1f}s" repeatCount="indefinite"'
    middle = np.array(size) / 2
    place = [(log.robots_m[rows, i, :2] * (1, -1) * scale + middle).round(1) for i in range(len(names))]
    turn = [np.degrees(-np.unwrap(log.robots_m[rows, i, 2])).round() for i in range(len(names))]
    ball = (log.ball_m[rows] * (1, -1) * scale + middle).round(1)
    radius, small = log.sizes_m * scale
    robots = [
        _robot(f"var(--{TEAMS[team_of(log, i)]})", name, (place[i], turn[i]), float(radius), timing)
        for i, name in enumerate(names)
    ]
    ball_ = f'<circle r="{1.6 * small:.1f}" fill="var(--warn)" stroke="var(--ink)">{_moves(ball, timing)}</circle>'
    label = '<svg role="img" aria-label="The match from above"'
    head = f'{label} viewBox="0 0 {size[0]} {size[1]:.0f}">{_lines(log, scale, middle)}'
    return "\n".join([head, *_scores(log, rows, timing), *robots, ball_, "</svg>"])


def _robot(colour: str, name: str, motion: tuple[np.ndarray, np.ndarray], radius: float, timing: str) -> str:
    """Disc, heading and name of one robot."""
    place, turn = motion
    angles = ";".join(f"{angle:g}" for angle in turn)
    spin = f'<animateTransform attributeName="transform" type="rotate" {timing} values="{angles}"/>'
    nose = f'<path d="M0 0H{radius:.1f}" stroke="var(--paper)" stroke-width="3">{spin}</path>'
    text = f'<text y="{-radius - 4:.1f}" text-anchor="middle" font-size="11" fill="{colour}">{html.escape(name)}</text>'
    return f'<g>{_moves(place, timing)}<circle r="{radius:.1f}" fill="{colour}"/>{nose}{text}</g>'


def _moves(place: np.ndarray, timing: str) -> str:
    values = ";".join(f"{x:g},{y:g}" for x, y in place)
    return f'<animateTransform attributeName="transform" type="translate" {timing} values="{values}"/>'


def _scores(log: MatchLog, rows: np.ndarray, timing: str) -> list[str]:
    """Every score that there was, each shown while it held."""
    goals = log.goals[rows]
    found = []
    for score in dict.fromkeys(map(tuple, goals.tolist())):
        shown = ";".join("1" if (row == score).all() else "0" for row in goals)
        moves = f'<animate attributeName="opacity" calcMode="discrete" {timing} values="{shown}"/>'
        style = 'y="64" font-size="24" font-weight="bold" text-anchor="middle" fill="var(--ink)"'
        found.append(f'<text x="{WIDTH_PX / 2:g}" {style}>{score[0]} : {score[1]}{moves}</text>')
    return found


def _lines(log: MatchLog, scale: float, middle: np.ndarray) -> str:
    """Boards, middle line and goals, each goal in the colour of the team that keeps it."""
    length, width, mouth = log.field_m * scale
    x, y = middle[0] - length / 2, middle[1] - width / 2
    frame = f'<rect x="{x:.1f}" y="{y:.1f}" width="{length:.1f}" height="{width:.1f}"'
    goals = [
        f'<path d="M{middle[0] + sign * length / 2:.1f} {middle[1] - mouth / 2:.1f}v{mouth:.1f}" '
        f'stroke="var(--{TEAMS[team]})" stroke-width="7"/>'
        for team, sign in enumerate((-1, 1))
    ]
    half = f'<path d="M{middle[0]:.1f} {y:.1f}v{width:.1f}" stroke="var(--grid)"/>'
    return f'{frame} fill="none" stroke="var(--muted)" stroke-width="2"/>{half}{"".join(goals)}'


def _draw_field(axes: "Axes", log: MatchLog) -> None:
    length, width, mouth = log.field_m / 2
    axes.plot([-length, length, length, -length, -length], [-width, -width, width, width, -width], color=MUTED)
    axes.plot([0, 0], [-width, width], color=GRID)
    for team, sign in enumerate((-1, 1)):
        axes.plot([sign * length] * 2, [-mouth, mouth], color=COLOURS[TEAMS[team]][0], linewidth=4)
    axes.set_xlim(-length - MARGIN_M, length + MARGIN_M)
    axes.set_ylim(-width - MARGIN_M, width + MARGIN_M)
    axes.set_aspect("equal", adjustable="box")
