"""Success against every randomized parameter: small charts side by side, the range of training shaded."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from robomarl.core.config import UserError
from robomarl.core.types import Figures
from robomarl.front.report.plots.style import COLOURS, INK, MUTED, PAPER, style_axes, to_png, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 4
WIDTH_PX, HEIGHT_PX, HEAD_PX = 210, 190, 40


def check_file(file: Path) -> None:
    """Raises `UserError` for a file name with another ending, before anything is flown."""
    if file.suffix not in (".png", ".svg"):
        raise UserError(f"--sensitivity {file}: the name must end in .png or .svg.")


def write_sensitivity(points: Mapping[str, Sequence[Figures]], title: str, file: Path) -> None:
    """Draw the results of `robomarl.lab.evaluate.sensitivity`, as .png or .svg.

    Raises:
        UserError: another ending, or the file can't be written.
    """
    check_file(file)
    figure = sensitivity_figure(points, title)
    try:
        file.write_bytes(to_png(figure) if file.suffix == ".png" else to_svg(figure))
    except OSError as error:
        raise UserError(f"--sensitivity {file}: can't be written ({error.strerror}); name another file.") from None


def sensitivity_figure(points: Mapping[str, Sequence[Figures]], title: str) -> "Figure":
    """One chart a parameter: success rate with its 95 % interval; crosses mark points with collisions."""
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(points))
    rows = math.ceil(len(points) / columns)
    width, height = WIDTH_PX * columns, HEIGHT_PX * rows + HEAD_PX
    figure = Figure(figsize=(width / 72, height / 72), dpi=72, facecolor=PAPER)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axes in grid.flat[len(points) :]:
        axes.set_visible(False)
    for axes, (name, found) in zip(grid.flat, points.items(), strict=False):
        _draw(axes, name, found)
    for line in grid:
        line[0].set_ylabel("success [%]", fontsize=11, color=MUTED)
    figure.suptitle(title, fontsize=12, color=INK, x=0.012, ha="left")
    figure.tight_layout(rect=(0, 0, 1, 1), w_pad=1.2, h_pad=1.4)
    return figure


def _draw(axes: "Axes", name: str, found: Sequence[Figures]) -> None:
    style_axes(axes)
    colour = COLOURS["c0"][0]
    x = [point["value"] for point in found]
    y = [100 * point["success_rate"] for point in found]
    low, high = ([100 * point["success_ci95"][i] for point in found] for i in (0, 1))
    seen = [point["value"] for point in found if point["in_training"]]
    if seen:
        axes.axvspan(min(seen), max(seen), color=COLOURS["good"][0], alpha=0.12, linewidth=0)
    axes.vlines(x, low, high, color=colour, linewidth=5, alpha=0.3)
    axes.plot(x, y, "-o", color=colour, linewidth=1.6, markersize=4.5, clip_on=False, zorder=4)
    hit = [(point["value"], 100 * point["success_rate"]) for point in found if point["collision_episodes"]]
    if hit:
        axes.plot(*zip(*hit, strict=True), "x", color=COLOURS["bad"][0], markersize=9, clip_on=False, zorder=5)
    axes.set_ylim(0, 103)
    axes.set_title(name, fontsize=11, color=INK, loc="left")
    axes.locator_params(axis="x", nbins=4)
