"""Parallel coordinates: one vertical axis for each value of a trial, one line for each trial."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robomarl.front.report.plots.style import GRID, INK, MUTED, new_chart
from robomarl.front.report.units import si

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def parallel_coordinates(names: Sequence[str], rows: Sequence[Sequence[object]], metric: Sequence[float]) -> "Figure":
    """Draw the trials; the better the metric, the darker the line.

    Args:
        names: of the axes; the last one is the metric.
        rows: values of each trial, one for each axis.
        metric: rank of each trial from 0 (worst) to 1 (best).
    """
    figure, axes = new_chart(160 * max(3, len(names)), 300, margins=(60, 60, 40, 26))
    for place, name in enumerate(names):
        axes.axvline(place, color=GRID, linewidth=1)
        axes.text(place, 1.07, name, ha="center", fontsize=11, color=INK)
    columns = [_scaled([row[i] for row in rows]) for i in range(len(names))]
    for place, (_, ticks) in enumerate(columns):
        for at, label in ticks:
            axes.text(place + 0.02, at, label, fontsize=10, color=MUTED, va="center")
    for index in np.argsort(metric, kind="stable"):
        heights = [heights[index] for heights, _ in columns]
        axes.plot(range(len(names)), heights, color="#1f5fbf", alpha=0.12 + 0.8 * metric[index] ** 2, linewidth=1.8)
    axes.set_xlim(-0.05, len(names) - 0.75)
    axes.set_ylim(-0.05, 1.05)
    axes.set_axis_off()
    return figure


def _scaled(values: list[object]) -> tuple[list[float], list[tuple[float, str]]]:
    """Heights from 0 to 1 of one axis, and its labels; words and few numbers stand at equal distances."""
    numbers = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < len(values) or len(set(numbers)) <= 4:
        known = (
            sorted(set(map(str, values))) if len(numbers) < len(values) else [f"{v:.4g}" for v in sorted(set(numbers))]
        )
        places = {label: index / max(1, len(known) - 1) for index, label in enumerate(known)}
        told = [str(v) for v in values] if len(numbers) < len(values) else [f"{v:.4g}" for v in numbers]
        return [places[label] for label in told], [(at, label) for label, at in places.items()]
    is_log = min(numbers) > 0 and max(numbers) / min(numbers) > 20
    scale = np.log(numbers) if is_log else np.asarray(numbers)
    low, high = float(scale.min()), float(scale.max())
    heights = [(value - low) / (high - low) for value in scale.tolist()]
    marks = [low, (low + high) / 2, high]
    return heights, [((m - low) / (high - low), si(float(np.exp(m) if is_log else m))) for m in marks]
