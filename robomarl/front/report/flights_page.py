"""The page of `robomarl import-flights`: errors of estimates on real flights beside the declared bounds."""

from pathlib import Path

import numpy as np

from robomarl.core.types import Figures
from robomarl.field.logs.compare import ComparedLogs
from robomarl.field.real.identified import Identified
from robomarl.front.report.identified_page import identified_sections, shares_plot
from robomarl.front.report.page import Section, Tile, grid, page, table, write_page
from robomarl.front.report.sections import draw
from robomarl.front.report.units import duration, percent


def write_flights_page(found: ComparedLogs, figures: Figures, file: Path, identified: Identified | None = None) -> None:
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
    fitted = identified_sections(identified, figures["identified"]) if identified else []
    sections = [_errors(found, figures), *fitted, _logs(found, figures)]
    write_page(page("robomarl import-flights", figures["source"], verdict, tiles, sections), file)


def _errors(found: ComparedLogs, figures: Figures) -> Section:
    head = ("estimate", "error", "declared", "p50", "p99", "95 % interval of p99", "p99.9", "largest", "flights above")
    rows = [
        (
            row["estimator"],
            f"{row['quantity']} [{row['unit']}]",
            f"{row['declared']:g}",
            *(f"{row['quantiles'][name]:.2g}" for name in ("p50", "p99")),
            f"{row['interval'][0]:.2g} to {row['interval'][1]:.2g}",
            f"{row['quantiles']['p99.9']:.2g}",
            f"{row['largest']:.2g}",
            f"{row['flights_above']} of {figures['flights']}",
        )
        for row in figures["errors"]
    ]
    bounds = {
        what: {row["estimator"]: row["declared"] for row in figures["errors"] if row["quantity"] == what}
        for what in ("position", "velocity")
    }
    places = {each.name: each.position_m for each in found.errors}
    speeds = {each.name: each.velocity_m_s for each in found.errors}
    plots = [
        draw(shares_plot(places, bounds["position"], "m"), "Position", "Dashed: the declared bounds."),
        draw(shares_plot(speeds, bounds["velocity"], "m/s"), "Velocity", "Dashed: the declared bounds."),
    ]
    lead = (
        "Norms of the differences from motion capture. Intervals take whole flights as independent, because samples of "
        "one flight are not."
    )
    return Section("Errors", grid(plots) + table(head, rows), lead)


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
