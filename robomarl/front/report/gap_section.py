"""The part of a replay's page that compares the recording with the simulator."""

from typing import TYPE_CHECKING

import numpy as np

from robomarl.core.types import Figures
from robomarl.field.identify.gap import Gap
from robomarl.field.identify.legs import ELEMENTS, UNITS
from robomarl.front.report.page import Section, grid, table
from robomarl.front.report.plots.style import MUTED, label_ends, new_chart, robot_colour
from robomarl.front.report.sections import draw
from robomarl.front.report.units import metres, percent, si

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_WHERE = 12
"""Places that are listed."""


def gap_section(gap: Gap, figures: Figures, robots: tuple[str, ...]) -> Section:
    """Return the section with trajectories over each other, error growth, and the element that diverges
    first and where.

    Args:
        gap: result of `measure_gap`.
        figures: result of `gap_figures`.
        robots: names in the order of their colours.
    """
    lead = (
        f"{figures['legs']} legs of {figures['horizon_s']:g} s are flown again from their recorded states with the "
        f"commands that were sent: by the vehicle as its file has it, and by {figures['draws']} as training drew them. "
        + verdict(figures)
    )
    drawn = grid([
        draw(_paths(gap, robots), "Recorded and flown again", "Bold: recorded. Thin: the file's vehicle in MuJoCo."),
        draw(_growth(gap), "Error growth", "Distance from the recording; median and 90 % of the legs."),
    ])  # fmt: skip
    return Section("Gap to the simulator", drawn + _elements(figures) + _where(figures), lead)


def verdict(figures: Figures) -> str:
    """Return a sentence on whether the recording diverges from all vehicles that training drew."""
    if not figures["parts_first"]:
        return "No leg parts from what all of these do."
    return (
        f"{percent(figures['parted_share'])} of the legs part from all of these, {figures['parts_first']} mostly "
        f"first, after {figures['parted_after_s']:.2f} s (median)."
    )


def _paths(gap: Gap, robots: tuple[str, ...]) -> "Figure":
    figure, axes = new_chart(420, 380, "y [m]", "x [m]")
    for i, name in enumerate(gap.robots):
        colour = robot_colour(robots.index(name) if name in robots else 0)
        axes.plot(*gap.recorded[i, :, :2].T, color=colour, linewidth=2.2, alpha=0.55)
        axes.plot(*gap.flown[i, :, :2].T, color=colour, linewidth=0.8)
    axes.set_aspect("equal", adjustable="datalim")
    return figure


def _growth(gap: Gap) -> "Figure":
    figure, axes = new_chart(420, 380, "distance [m]", "time since the start of a leg [s]", (46, 60, 30, 42))
    away = np.linalg.norm(gap.recorded[..., :3] - gap.flown[..., :3], axis=-1)
    axes.plot(gap.time_s, away.T, color=MUTED, linewidth=0.4, alpha=0.4)
    ends = []
    for share, colour in ((0.5, robot_colour(0)), (0.9, robot_colour(1))):
        line = np.quantile(away, share, axis=0)
        axes.plot(gap.time_s, line, color=colour, linewidth=2)
        ends.append((float(line[-1]), f"{100 * share:.0f} %", colour))
    axes.set_xlim(0, gap.time_s[-1])
    axes.set_ylim(0, max(1.2 * ends[-1][0], 1e-3))
    label_ends(axes, ends)
    return figure


def _elements(figures: Figures) -> str:
    head = ("element", "unit", *(f"error at {t} s" for t in figures["position_error_m"]), "parted", "first")
    rows = []
    for name, unit in zip(ELEMENTS, UNITS, strict=True):
        found = figures["elements"][name]
        errors = [f"{si(found['error_p50'][t])} ({si(found['error_p90'][t])})" for t in figures["position_error_m"]]
        rows.append((name, unit, *errors, percent(found["parted_share"]), percent(found["first_share"])))
    return "<p class=lead>Errors: median, in brackets 90 % of the legs.</p>" + table(head, rows)


def _where(figures: Figures) -> str:
    rows = [
        (w["robot"], w["element"], f"{w['stamp_s']:.2f}", f"{w['after_s']:.2f} s", ", ".join(map(metres, w["pos_m"])))
        for w in figures["where"][:MOST_WHERE]
    ]
    return table(("robot", "parts in", "stamp [s]", "after", "leg from"), rows) if rows else ""
