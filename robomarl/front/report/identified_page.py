"""Sections of the page of `robomarl import-flights --identify`: fits beside what was measured, on kept-back flights."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from robomarl.core.types import Figures
from robomarl.field.real.identified import Identified, stalls_told
from robomarl.field.real.law import JudgedLaw
from robomarl.field.real.laws import followed, force_of
from robomarl.field.real.samples import PERIOD_S, FlightSamples
from robomarl.front.report.page import Section, grid, table
from robomarl.front.report.plots.style import new_chart, robot_colour
from robomarl.front.report.sections import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST = 1e-3
"""Least error [m, m/s] and least share of samples that the plots show."""
TILTS = {"roll": 0, "pitch": 1}
"""Axes of the laws of attitude."""
SHOWN_S = 8.0
DEGREES = 180 / np.pi


def identified_sections(found: Identified, figures: Figures) -> list[Section]:
    """Return the sections of the figures that were fitted."""
    parts = [_laws(found, figures), _battery(figures["battery"])]
    if figures["predicted"]:
        parts.append(_predicted(figures["predicted"]))
    return [*parts, _corrected(found, figures["corrected"]), _clocks(found, figures["clocks"])]


def shares_plot(errors: Mapping[str, Sequence[np.ndarray]], bounds: Mapping[str, float], unit: str) -> "Figure":
    """Return the share of samples above each error, by name, on two logarithmic axes, and the bounds of some."""
    figure, axes = new_chart(420, 260, "share of samples above", f"error [{unit}]")
    for index, (name, flights) in enumerate(errors.items()):
        samples = np.sort(np.concatenate(flights))
        share = 1 - np.arange(len(samples)) / len(samples)
        kept = np.unique(np.linspace(0, len(samples) - 1, 400).astype(int))
        axes.plot(np.maximum(samples[kept], LEAST), share[kept], color=robot_colour(index), label=name)
        if name in bounds:
            axes.axvline(bounds[name], color=robot_colour(index), linestyle="--", linewidth=1)
    axes.set(xscale="log", yscale="log", ylim=(LEAST, 1.2), xlim=(LEAST, None))
    axes.legend(frameon=False, fontsize=10)
    return figure


def _laws(found: Identified, figures: Figures) -> Section:
    rows = [
        (
            law["law"],
            f"{value['name']} [{value['unit']}]",
            f"{value['value']:.3g}",
            f"{value['low']:.3g} to {value['high']:.3g}",
            f"{value['least']:.3g} to {value['most']:.3g}",
            "" if value["foretold"] is None else f"{value['foretold']:.0%}",
            "" if index else f"{law['rms']:.3g} {law['error_unit']}",
        )
        for law in figures["laws"]
        for index, value in enumerate(law["values"])
    ]
    head = ("law", "parameter", "value", "95 % interval", "by trajectory", "foretold", "error, kept back")
    shown = next((flight for flight in found.flights if flight.ordered), found.flights[0])
    plots = [_beside(law, shown) for law in found.laws if law.law != "drag"]
    lead = (
        "Intervals take whole flights as independent. Foretold: trajectories whose own value lies in the interval that "
        f"the others give for one more. Plots: {shown.name}, with parameters from the other trajectories. "
        f"Such logs can't tell: {'; '.join(figures['not_told'])}."
    )
    if figures["answer_s"] is not None:
        lead += f" The position follows its order after {figures['answer_s']:.2f} s."
    if stalls := stalls_told(figures):
        lead += f" {stalls[0].upper()}{stalls[1:]}."
    if figures["without_orders"]:
        lead += f" No orders in {', '.join(figures['without_orders'])}."
    return Section("Fitted", grid(plots) + table(head, rows), lead)


def _beside(law: JudgedLaw, flight: FlightSamples) -> str:
    """Plot of one law and what was measured, over some seconds."""
    rows = slice(flight.inner.start, min(flight.inner.stop, flight.inner.start + round(SHOWN_S / PERIOD_S)))
    theta = np.array(law.without[flight.trajectory])
    if (axis := TILTS.get(law.law)) is None:  # the force along the vehicle's z
        fitted, measured, unit = force_of(theta[0], theta[1], flight), flight.force_m_s2[:, 2], "m/s^2"
    else:
        fitted = DEGREES * followed(theta, flight.tilt_order_rad[:, axis])
        measured, unit = DEGREES * flight.believed_tilt_rad[:, axis], "degrees"
    figure, axes = new_chart(420, 240, f"{law.law} [{unit}]", "time [s]")
    time_s = PERIOD_S * np.arange(rows.stop - rows.start)
    axes.plot(time_s, measured[rows], color=robot_colour(0), label="measured")
    axes.plot(time_s, fitted[rows], color=robot_colour(1), linestyle="--", label="fitted to other trajectories")
    axes.legend(frameon=False, fontsize=10)
    return draw(figure, law.law.capitalize())


def _battery(battery: Figures) -> Section:
    rows = [
        (
            f"{force['battery_v']:.1f} V",
            "above 4.35 V" if force["hover_v"] is None else f"{force['hover_v']:.2f} V",
            f"{force['force_m_s2']:.1f} ({force['low']:.1f} to {force['high']:.1f}) m/s²",
            f"{force['box_share']:.0%}",
            "" if force["limited_share"] is None else f"{force['limited_share']:.1%}",
        )
        for force in battery["forces"]
    ]
    head = (
        "under full load",
        "shown in hover",
        "specific force, all motors full",
        "of the file's box",
        "motor at limit",
    )
    box = battery["file_box_v"]
    ready = "unknown" if battery["ready_v"] is None else f"from {battery['ready_v']:.2f} V at rest"
    lead = (
        f"Full motors pull it down by {battery['sag_v']:.2f} V. READY {ready}; "
        f"in hover return at {battery['return_v']:.2f} V, where {battery['return_box_share']:.0%} of the file's box "
        f"holds, and land at {battery['land_v']:.2f} V. The whole box holds "
        + ("at no voltage of one cell. " if box is None else f"above {box:.2f} V in hover. ")
        + "The last column: share of logged samples near this voltage with a motor at its limit."
    )
    return Section("Battery", table(head, rows), lead)


def _predicted(predicted: Sequence[Figures]) -> Section:
    rows = [
        (
            row["model"],
            f"{row['after_s']:g} s",
            f"{100 * row['position_rms_m']:.2f} cm",
            f"{100 * row['position_p50_m']:.2f} cm",
            f"{row['velocity_rms_m_s']:.3f} m/s",
            f"{row['velocity_p50_m_s']:.3f} m/s",
        )
        for row in predicted
    ]
    head = ("model", "after", "position, rms", "position, p50", "velocity, rms", "velocity, p50")
    lead = (
        "Errors on trajectories that were kept back. Command models know the orders of the time ahead, which in these "
        "logs come from a controller that saw the flight."
    )
    return Section("Prediction", table(head, rows), lead)


def _corrected(found: Identified, rows: Sequence[Figures]) -> Section:
    plots = []
    for first in range(0, len(rows), 2):  # before and after
        names = [row["estimator"] for row in rows[first : first + 2]]
        errors = dict(zip(names, found.corrected.errors[first : first + 2], strict=True))
        shares = shares_plot(errors, {names[0]: rows[first]["declared"]}, rows[first]["unit"])
        plots.append(draw(shares, f"{rows[first]['quantity'].capitalize()} of the estimate", "Dashed: its bound."))
    cells = [
        (
            f"{row['estimator']}, {row['quantity']} [{row['unit']}]",
            *(f"{value:.3f}" for value in row["quantiles"].values()),
            f"{row['interval'][0]:.3f} to {row['interval'][1]:.3f}",
            f"{row['largest']:.3f}",
        )
        for row in rows
    ]
    head = ("error", "p50", "p99", "p99.9", "95 % interval of p99", "largest")
    lead = (
        "A ridge regression on half a second of the estimate, its attitude, accelerometer and gyroscope, fitted to the "
        "other trajectories."
    )
    return Section("A corrected estimate", grid(plots) + table(head, cells), lead)


def _clocks(found: Identified, clocks: Figures) -> Section:
    figure, axes = new_chart(420, 260, "vehicle's clock late by [ms]", "time [s]")
    for index, flight in enumerate(found.flights):
        late = 1e3 * flight.shift_s[flight.inner]
        axes.plot(PERIOD_S * np.arange(len(late)), late, color=robot_colour(index), linewidth=1)
    lead = (
        "Shift between the vehicle's clock and that of motion capture, by gyroscope and accelerometer, a line a "
        f"flight. The accelerometer is {1e3 * clocks['accelerometer_late_s']:.0f} ms later than the gyroscope. The "
        "vehicle's own estimate takes no part in it."
    )
    return Section("Clocks", grid([draw(figure, "Shift of clocks")]), lead)
