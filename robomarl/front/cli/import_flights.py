"""Read flight logs of others, and compare the vehicle's estimates with the bounds that its file declares."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFile, check_file


@dataclass(frozen=True)
class Args:
    """Options of `robomarl import-flights`."""

    logs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="LOG")]
    """CSV files, plain or compressed (.gz, .xz, .bz2), and folders with such files."""
    layout: str
    """Name of a layout in hardware_configs/logs, or a TOML file: which column is which quantity, in which unit."""
    vehicle: str = ""
    """Name or file of the vehicle with the declared bounds; by default the layout's vehicle."""
    out: OutFile | None = None
    """The page; by default flights.html in runs/flights."""


def run(args: Args) -> Figures:
    """Read, compare, print one line for each estimator and quantity, write the page; `passed` says that all declared
    bounds hold.
    """
    from tqdm import tqdm

    from robomarl.core.config import UserError
    from robomarl.core.hardware.vehicle import load_any_vehicle
    from robomarl.field.logs.compare import compare_logs, figures_of, files_of, read_logs
    from robomarl.field.logs.layout import load_log_layout
    from robomarl.front.report.flights_page import write_flights_page

    page = args.out or Path("runs/flights/flights.html")
    check_file("--out", page)
    if not args.logs:
        raise UserError("LOG: name at least one flight log or a folder with some.")
    layout = load_log_layout(args.layout)
    vehicle = load_any_vehicle(args.vehicle or layout.vehicle)
    files = files_of(args.logs)
    found = compare_logs(read_logs(tqdm(files, unit=" logs", leave=False, disable=None), layout), layout, vehicle)
    figures = figures_of(found, layout)
    print(told(figures))
    write_flights_page(found, figures, page)
    print(f"page: {page}")
    return {**figures, "report": str(page)}


def told(figures: Figures) -> str:
    """Return the lines that the terminal shows."""
    lines = [f"{figures['flights']} flights, {figures['seconds']:.0f} s, {figures['vehicle']}; {figures['source']}"]
    lines += [f"equal in every bit, counted once: {', '.join(names)}" for names in figures["copies"]]
    if figures["grounded"]:
        lines.append(f"no flight in {', '.join(figures['grounded'])}")
    lines.append(f"  {'estimate':<30}{'error':<15}{'declared':>9}{'p50':>8}{'p99':>8}{'p99.9':>8}{'largest':>9}  above")
    for row in figures["errors"]:
        numbers = "".join(f"{value:>8.3f}" for value in row["quantiles"].values())
        quantity = f"{row['quantity']} [{row['unit']}]"
        lines.append(
            f"  {row['estimator']:<30}{quantity:<15}{row['declared']:>9.3f}{numbers}{row['largest']:>9.3f}"
            f"  {row['share_above']:.2%} {'(holds)' if row['holds'] else '(does NOT hold)'}"
        )
    return "\n".join(lines)
