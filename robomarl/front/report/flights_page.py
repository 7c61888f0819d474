"""The page of `robomarl import-flights`: errors of estimates on real flights beside the declared bounds."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robomarl.core.types import Figures
from robomarl.field.logs.compare import ComparedLogs
from robomarl.field.logs.errors import EstimatorErrors
from robomarl.front.report.page import Section, Tile, grid, page, table, write_page
from robomarl.front.report.plots.style import BAD, new_chart, robot_colour
from robomarl.front.report.sections import draw
from robomarl.front.report.units import duration, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST = 1e-3
"""Least error [m, m/s] and least share of samples that the plots show."""


def write_flights_page(found: ComparedLogs, figures: Figures, file: Path) -> None:
    """Write the page as one HTML file.

    Raises:
        UserError: it can't be written.
    """
    failed = [row for row in figures["errors"] if not row["holds"]]
    verdict = (
        f"Declared bounds of {figures['vehicle']} that do not hold on these flights: {len(failed)} of "
        f"{len(figures['errors'])}."
        if failed
        else f"All declared bounds of {figures['vehicle']} hold on these flights."
    )
    tiles = [
        Tile("Flights", str(figures["flights"]), f"{duration(figures['seconds'])} without take-off and landing"),
        *(
            Tile(f"{row['quantity']}, {row['estimator']}", percent(row["share_above"]), "of samples above the bound",
                 "good" if row["holds"] else "bad")
            for row in figures["errors"]
        ),
    ]  # fmt: skip
    sections = [_errors(found, figures), _logs(found, figures)]
    write_page(page("robomarl import-flights", figures["source"], verdict, tiles, sections), file)


def _errors(found: ComparedLogs, figures: Figures) -> Section:
    head = ("estimate", "error", "declared", "p50", "p99", "95 % interval of p99", "p99.9", "largest", "flights above")
    rows = [
        (
            row["estimator"],
            f"{row['quantity']} [{row['unit']}]",
            f"{row['declared']:g}",
            *(f"{row['quantiles'][name]:.3f}" for name in ("p50", "p99")),
            f"{row['interval'][0]:.3f} to {row['interval'][1]:.3f}",
            f"{row['quantiles']['p99.9']:.3f}",
            f"{row['largest']:.3f}",
            f"{row['flights_above']} of {figures['flights']}",
        )
        for row in figures["errors"]
    ]
    bounds = {row["quantity"]: row["declared"] for row in figures["errors"]}
    plots = [
        draw(_shares(found.errors, "position", bounds["position"], "m"), "Position", "Dashed: the declared bound."),
        draw(_shares(found.errors, "velocity", bounds["velocity"], "m/s"), "Velocity", "Dashed: the declared bound."),
    ]
    lead = (
        "Norms of the differences from motion capture. Intervals take whole flights as independent, because samples of "
        "one flight are not."
    )
    return Section("Errors", grid(plots) + table(head, rows), lead)


def _shares(errors: tuple[EstimatorErrors, ...], quantity: str, bound: float, unit: str) -> "Figure":
    figure, axes = new_chart(420, 260, "share of samples above", f"error [{unit}]")
    for index, each in enumerate(errors):
        samples = np.sort(np.concatenate(each.position_m if quantity == "position" else each.velocity_m_s))
        share = 1 - np.arange(len(samples)) / len(samples)
        kept = np.unique(np.linspace(0, len(samples) - 1, 400).astype(int))
        axes.plot(np.maximum(samples[kept], LEAST), share[kept], color=robot_colour(index), label=each.name)
    axes.axvline(bound, color=BAD, linestyle="--")
    axes.set(xscale="log", yscale="log", ylim=(LEAST, 1.2), xlim=(LEAST, None))
    axes.legend(frameon=False, fontsize=10)
    return figure


def _logs(found: ComparedLogs, figures: Figures) -> Section:
    theirs = found.errors[0]
    rows = [
        (log.file.name, f"{np.ptp(log.time_s):.1f} s", f"{p.max():.3f} m", f"{v.max():.3f} m/s", f"{1e3 * late:.0f} ms")
        for (log, _), p, v, late in zip(found.flown, theirs.position_m, theirs.velocity_m_s, theirs.late_s, strict=True)
    ]
    head = ("log", "length", "largest position error", "largest velocity error", "estimate is late by")
    lead = f"The logged estimate ({theirs.name}), flight by flight."
    more = [f"Equal in every bit, counted once: {', '.join(names)}." for names in figures["copies"]]
    more += [f"No flight in {name}." for name in figures["grounded"]]
    return Section("Flights", table(head, rows), " ".join([lead, *more]))
