"""Figures of training runs: columns of `metrics.csv` -> matplotlib figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from robomarl.front.report.plots.style import (
    COLOURS,
    GRID,
    INK,
    MUTED,
    label_ends,
    new_chart,
    robot_line,
    to_png,
    to_svg,
)
from robomarl.front.report.runs import Metrics, read_metrics, series, smooth, thin
from robomarl.front.report.units import si

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TIME_GAP = 0.08
"""Least distance of two wall times, over the length of the axis."""
TRAIN, CHECK = COLOURS["c0"][0], COLOURS["c1"][0]
"""Training and evaluation, in every figure."""


class Line(NamedTuple):
    """One line of a learning curve."""

    columns: tuple[str, ...]
    """Names of columns; the first one that has values is drawn."""
    label: str
    colour: str
    is_evaluation: bool = False
    """Few exact points: dots instead of a smoothed line."""
    scale: float = 1.0


class Panel(NamedTuple):
    """A learning curve."""

    y_label: str
    lines: tuple[Line, ...]
    low: float | None = None
    high: float | None = None


SUCCESS = Panel(
    "teams that succeed [%]",
    (
        Line(("success",), "training", TRAIN, scale=100),
        Line(("eval_success",), "MuJoCo", CHECK, is_evaluation=True, scale=100),
    ),
    low=0,
    high=100,
)
CONTACT = Panel("episodes that end in contact [%]", (Line(("contact",), "training", TRAIN, scale=100),), low=0)
COLLISIONS = Panel(
    "evaluation episodes with a collision [count]", (Line(("eval_collisions",), "MuJoCo", CHECK, True),), low=0
)
RETURN = Panel("return of an episode [reward]", (Line(("return",), "training", TRAIN),))
REWARD = Panel("reward per decision, mean", (Line(("reward",), "training", TRAIN),))


def learning_curve(metrics: Metrics, panel: Panel, size: tuple[int, int] = (440, 270)) -> "Figure | None":
    """Lines against agent-steps, with the wall time along the top; None where no line has a value."""
    drawn = [(line, *series(metrics, "steps", *line.columns)) for line in panel.lines]
    drawn = [(line, x, y * line.scale) for line, x, y in drawn if len(x)]
    if not drawn:
        return None
    figure, axes = new_chart(*size, panel.y_label, "agent-steps", margins=(46, 66, 56, 38))
    for line, x, y in drawn:
        _draw(axes, line, x, y)
    top = max(float(y.max()) for _, _, y in drawn)
    high = panel.high if panel.high is not None else (1.0 if top <= 0 else None)
    axes.set_ylim(panel.low, high if panel.low is not None else None)
    if panel.high is not None:  # a line that lies on the limit is not cut in half
        axes.set_ylim(panel.low, panel.high * 1.02)
    axes.set_xlim(0, max(float(x[-1]) for _, x, _ in drawn) or 1)
    axes.xaxis.set_major_formatter(lambda value, _: si(value))
    label_ends(axes, [(float(_end(line, y)), line.label, line.colour) for line, _, y in drawn])
    _add_time_axis(axes, metrics)
    return figure


def _draw(axes: "Axes", line: Line, x: np.ndarray, y: np.ndarray) -> None:
    if line.is_evaluation:
        dots = {"markersize": 4, "linewidth": 1.4, "clip_on": False, "zorder": 4, "label": line.label}
        axes.plot(thin(x), thin(y), "o-", color=line.colour, **dots)
        return
    axes.plot(thin(x), thin(y), color=line.colour, alpha=0.28, linewidth=1)
    axes.plot(thin(x), thin(smooth(y)), color=line.colour, linewidth=2, solid_capstyle="round", label=line.label)


def _end(line: Line, y: np.ndarray) -> float:
    return y[-1] if line.is_evaluation else smooth(y)[-1]


def _add_time_axis(axes: "Axes", metrics: Metrics) -> None:
    """Draw the wall time along the top at round times, as far apart as their numbers need: compilation makes even
    minutes crowd at the start.
    """
    from matplotlib.ticker import MaxNLocator

    steps, seconds = series(metrics, "steps", "seconds")
    if len(steps) < 2 or (np.diff(steps) <= 0).any() or (np.diff(seconds) <= 0).any():
        return  # a clock that was set back
    unit, per_unit = ("min", 60) if seconds[-1] >= 120 else ("s", 1)
    times = np.asarray(MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(0, seconds[-1] / per_unit))
    times = times[(times * per_unit >= seconds[0]) & (times * per_unit <= seconds[-1])]
    places, shown = np.interp(times * per_unit, seconds, steps), []
    for index in reversed(range(len(times))):
        if not shown or places[shown[-1]] - places[index] > TIME_GAP * axes.get_xlim()[1]:
            shown.append(index)
    top = axes.secondary_xaxis("top")
    top.set_xticks(places[shown], [f"{times[index]:g}" for index in shown])
    top.tick_params(colors=MUTED, labelsize=11, length=3, pad=3)
    top.spines["top"].set_color(GRID)
    top.patch.set_visible(False)
    top.set_xlabel(f"wall time [{unit}]", fontsize=11, color=MUTED, labelpad=4, loc="right")


def small_multiple(metrics: Metrics, column: str, target: float | None = None) -> "Figure | None":
    """One column against agent-steps, small, for a grid of many; `target` is drawn as a dashed line."""
    x, y = series(metrics, "steps", column)
    if not len(x):
        return None
    figure, axes = new_chart(196, 118, margins=(56, 16, 8, 20))
    axes.plot(thin(x), thin(y), color=TRAIN, alpha=0.28, linewidth=1)
    axes.plot(thin(x), thin(smooth(y)), color=TRAIN, linewidth=1.6)
    if target is not None:
        axes.axhline(target, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_xlim(0, float(x[-1]) or 1)
    axes.locator_params(axis="x", nbins=3)
    axes.xaxis.set_major_formatter(lambda value, _: si(value))
    axes.locator_params(axis="y", nbins=3)
    axes.yaxis.set_major_formatter(lambda value, _: si(value))
    axes.tick_params(labelsize=10)
    return figure


def compare_runs(runs: dict[str, Metrics], x: Literal["steps", "seconds"] = "steps") -> "Figure":
    """Learning curves of several runs over each other: success (MuJoCo where there is any), reward."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(900 / 72, 340 / 72), dpi=72)
    panels = (("success [%]", ("eval_success", "success"), 100), ("reward", ("return", "reward"), 1))
    for i, (title, columns, scale) in enumerate(panels):
        axes = figure.add_axes((0.055 + 0.5 * i, 0.14, 0.3, 0.74))
        _compare_panel(axes, runs, x, columns, scale)
        axes.set_title(title, fontsize=12, color=INK, loc="left", fontweight="bold", pad=10)
    return figure


def _compare_panel(axes: "Axes", runs: dict[str, Metrics], x: str, columns: tuple[str, ...], scale: float) -> None:
    from robomarl.front.report.plots.style import style_axes

    style_axes(axes)
    ends = []
    for i, (name, metrics) in enumerate(runs.items()):
        at, y = series(metrics, x, *columns)
        if not len(at):
            continue
        at, y = at / (60 if x == "seconds" else 1), y * scale
        is_evaluation = bool(len(series(metrics, x, columns[0])[0])) and columns[0].startswith("eval")
        y = y if is_evaluation else smooth(y)
        axes.plot(thin(at), thin(y), linewidth=1.8, **robot_line(i))
        note = "" if is_evaluation or scale == 1 else " (training)"
        ends.append((float(y[-1]), _short(name) + note, robot_line(i)["color"]))
    axes.xaxis.set_major_formatter(lambda value, _: si(value))
    axes.set_xlabel("wall time [min]" if x == "seconds" else "agent-steps", fontsize=11, color=MUTED)
    axes.set_xlim(0)
    if ends:
        label_ends(axes, ends)
    else:
        axes.text(0.5, 0.5, "no values yet", transform=axes.transAxes, ha="center", color=MUTED, fontsize=12)


def _short(name: str, most: int = 18) -> str:
    return name if len(name) <= most else name[: most // 2] + "…" + name[-most // 2 + 1 :]


def compare_runs_plot(
    run_dirs: Sequence[Path], file: Path | None = None, x: Literal["steps", "seconds"] = "steps"
) -> bytes:
    """Overlay the learning curves of several run folders.

    Args:
        run_dirs: run folders; each is named by its folder, or by its path if two folders have equal
            names.
        file: where to write, `.png` or `.svg`; None only returns the bytes, as SVG.
        x: against agent-steps or against wall time.

    Returns:
        The written content: SVG or PNG.
    """
    names = [folder.resolve().name for folder in run_dirs]
    labels = names if len(set(names)) == len(names) else [str(folder) for folder in run_dirs]
    runs = {label: read_metrics(folder / "metrics.csv") for label, folder in zip(labels, run_dirs, strict=True)}
    figure = compare_runs(runs, x)
    is_png = file is not None and file.suffix.lower() == ".png"
    content = to_png(figure) if is_png else to_svg(figure)
    if file is not None:
        file.write_bytes(content)
    return content
