"""Figures of measurements: success by simulator, and the time that a robot's tick takes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robomarl.front.report.plots.style import COLOURS, INK, MUTED, WARN, name_beside, new_chart, robot_line
from robomarl.front.report.units import microseconds, percent, wilson

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class TeamMeasurements(NamedTuple):
    """Results of a team in one simulator or on the robots. Parts that were not measured are None."""

    where: str
    """fast, mujoco, ROS 2, ..."""
    episodes: int
    successes: int
    collisions: int | None = None
    min_distance_m: float | None = None
    tick_p50_us: float | None = None
    tick_p99_us: float | None = None


def success_intervals(outcomes: Sequence[TeamMeasurements]) -> "Figure | None":
    """Success rates with their 95 % Wilson intervals, one row each; None where nothing was flown."""
    rows = [outcome for outcome in outcomes if outcome.episodes > 0]
    if not rows:
        return None
    figure, axes = new_chart(440, 62 + 38 * len(rows), "", "flights that succeed [%], 95 % interval", (112, 66, 10, 42))
    for y, row in enumerate(reversed(rows)):
        low, high = wilson(row.successes, row.episodes)
        rate = row.successes / row.episodes
        axes.plot([100 * low, 100 * high], [y, y], color=COLOURS["c0"][0], linewidth=14, alpha=0.3,
                  solid_capstyle="butt")  # fmt: skip
        axes.plot(100 * rate, y, "o", color=COLOURS["c0"][0], markersize=6, clip_on=False, zorder=4)
        sides = axes.get_yaxis_transform()
        axes.text(-0.03, y, row.where, transform=sides, fontsize=12, color=INK, ha="right", va="center")
        axes.text(1.045, y, percent(rate), transform=sides, fontsize=12, color=INK, va="center", fontweight="bold")
    axes.set_yticks([])
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.grid(axis="x", color=COLOURS["grid"][0], linewidth=1)
    return figure


def latency(ticks_us: Mapping[str, np.ndarray], budget_us: float | None = None) -> "Figure | None":
    """Histogram of the time a tick takes, all robots together, and below it each robot's median to 99 %.

    Args:
        ticks_us: robot -> times of its ticks [us].
        budget_us: the policy's period; drawn where it is within reach of the ticks.
    """
    from matplotlib.ticker import LogLocator

    times = {name: values[np.isfinite(values) & (values > 0)] for name, values in ticks_us.items()}
    every = np.concatenate([np.empty(0), *times.values()])
    if not len(every):
        return None
    low, high = float(every.min()) / 1.15, float(every.max()) * 1.25
    is_near = budget_us is not None and budget_us < 20 * high
    high = max(high, 1.2 * budget_us) if is_near and budget_us else high
    height = 190 + 20 * len(times)
    figure, axes = new_chart(440, height, "ticks [count]", "", margins=(76, 66, 30, 62 + 20 * len(times)))
    axes.hist(
        every,
        bins=np.geomspace(low, high, 60).tolist(),
        color=COLOURS["c0"][0],
        alpha=0.55,
        histtype="stepfilled",
    )
    rows = figure.add_axes((76 / 440, 42 / height, 298 / 440, 20 * len(times) / height), sharex=axes)
    _robot_rows(rows, times)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.tick_params(axis="x", which="both", labelbottom=False, color=MUTED)
    few = high / low > 50
    rows.xaxis.set_major_locator(LogLocator(subs=(1.0,) if few else (1.0, 2.0, 5.0)))
    rows.xaxis.set_major_formatter(lambda value, _: microseconds(value))
    rows.xaxis.set_minor_formatter(lambda value, _: "")
    rows.set_xlabel("time of a tick, log scale", fontsize=11, color=MUTED, labelpad=5)
    if is_near and budget_us:
        axes.axvline(budget_us, color=WARN, linewidth=1.4, linestyle=(0, (5, 3)))
        share = np.log(budget_us / low) / np.log(high / low)
        name_beside(axes, (float(share), 0.93), f"period {microseconds(budget_us)}", WARN, gap_px=-5)
    return figure


def _robot_rows(axes, times: Mapping[str, np.ndarray]) -> None:
    """One bar a robot, from the median (dot) to 99 % (end of the bar)."""
    axes.patch.set_visible(False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(MUTED)
    axes.tick_params(which="both", colors=MUTED, labelsize=11, pad=5)
    axes.set_yticks([])
    axes.set_ylim(-0.7, len(times) - 0.3)
    for y, (i, (name, values)) in enumerate(reversed(list(enumerate(times.items())))):
        colour, sides = robot_line(i)["color"], axes.get_yaxis_transform()
        axes.text(-0.03, y, name, transform=sides, fontsize=11, color=colour, ha="right", va="center")
        if not len(values):
            continue
        p50, p99 = np.percentile(values, [50, 99])
        axes.plot([p50, p99], [y, y], color=colour, linewidth=5, alpha=0.4, solid_capstyle="butt")
        axes.plot(p50, y, "o", color=colour, markersize=6)
        axes.text(1.02, y, microseconds(float(p99)), transform=sides, fontsize=11, color=MUTED, va="center")
