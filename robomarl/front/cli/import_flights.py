"""Read flight logs of others, and compare the vehicle's estimates with the bounds that its file declares.

With --identify also fit thrust, drag, attitude loop, battery and a corrector of the vehicle's own estimate, judged on
trajectories that were kept back.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from robomarl.core.config import UsageError, UserError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFile, OutFolder, check_file

if TYPE_CHECKING:
    from robomarl.core.hardware.vehicle import AnyVehicle
    from robomarl.field.identify.patch import Provenance
    from robomarl.field.logs.compare import ComparedLogs
    from robomarl.field.real.identified import Identified


@dataclass(frozen=True)
class Args:
    """Options of `robomarl import-flights`."""

    logs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="LOG")]
    """Logs and folders with logs: CSV, plain or compressed (.gz, .xz, .bz2), PX4's ULog, a Crazyflie's micro SD card,
    or MCAP, as the layout says."""
    layout: str
    """Name of a layout in hardware_configs/logs, or a TOML file: which column is which quantity, in which unit."""
    truth: Path | None = None
    """File with the poses of one log, CSV or MCAP, where they are not in it; the layout has truth.time then."""
    vehicle: str = ""
    """Name or file of the vehicle with the declared bounds; by default the layout's vehicle."""
    out: OutFile | None = None
    """The page; by default flights.html in runs/flights."""
    identify: bool = False
    """Fit thrust, drag, attitude loop, battery and a model that predicts, and correct the estimate."""
    patch: OutFolder | None = None
    """Folder for the vehicle's file with the figures that were found; needs --identify."""
    corrector: OutFile | None = None
    """File (.json) for the corrector of the vehicle's own estimate, which crazyflie_node applies; needs --identify."""


def run(args: Args) -> Figures:
    """Read, compare, print one line for each estimator and quantity, write the page; `passed` says that all declared
    bounds hold.
    """
    from tqdm import tqdm

    from robomarl.core.hardware.vehicle import load_any_vehicle
    from robomarl.field.logs.compare import compare_logs, figures_of, files_of, read_logs
    from robomarl.field.logs.layout import load_log_layout, with_poses
    from robomarl.field.real.identified import identified_figures, identify_logs, write_corrector
    from robomarl.front.report.flights_page import write_flights_page

    page = args.out or Path("runs/flights/flights.html")
    check_file("--out", page)
    for option, value in (("--patch", args.patch), ("--corrector", args.corrector)):
        if value and not args.identify:
            raise UsageError(f"{option} writes what --identify finds; add --identify, or leave {option} out.")
    if args.corrector:
        check_file("--corrector", args.corrector)
    if not args.logs:
        raise UserError("LOG: name at least one flight log or a folder with some.")
    layout = load_log_layout(args.layout)
    vehicle = load_any_vehicle(args.vehicle or layout.vehicle)
    files = files_of(args.logs, layout.format)
    layout, files = with_poses(layout, files, args.truth)
    found = compare_logs(read_logs(tqdm(files, unit=" logs", leave=False, disable=None), layout), layout, vehicle)
    figures = figures_of(found, layout)
    print(told(figures))
    identified = identify_logs(found, layout, vehicle) if args.identify else None
    if identified:
        figures["identified"] = identified_figures(identified)
        print(told_identified(figures["identified"]))
        if args.patch:
            print(f"vehicle: {_patched(args.patch, args.vehicle or layout.vehicle, vehicle, found, identified)}")
        if args.corrector:
            write_corrector(args.corrector, identified, layout, vehicle, _origin(found))
            print(f"corrector: {args.corrector}")
    write_flights_page(found, figures, page, identified)
    print(f"page: {page}")
    return {**figures, "report": str(page)}


def _patched(folder: Path, name: str, vehicle: "AnyVehicle", found: "ComparedLogs", identified: "Identified") -> Path:
    """Write the vehicle's file with its new figures."""
    from robomarl.field.real.identified import write_vehicle

    return write_vehicle(folder, name, identified, vehicle, _origin(found))


def _origin(found: "ComparedLogs") -> "Provenance":
    """Return where the figures come from: flights, commit, date."""
    import datetime
    import hashlib

    from robomarl.field.identify.patch import Provenance
    from robomarl.lab.train.run.source import commit_of_checkout

    sha256 = hashlib.sha256("".join(log.sha256 for log, _ in found.flown).encode()).hexdigest()
    logs = (f"{len(found.flown)} flights with the sha256 {sha256[:16]}",)
    today = datetime.date.today().isoformat()
    return Provenance(logs, "", commit_of_checkout(), today, "", "import-flights --identify")


def told_identified(figures: Figures) -> str:
    """Return the lines that the terminal shows of `--identify`."""
    from robomarl.field.real.identified import stalls_told

    lines = ["fitted, with 95 % intervals; errors are of trajectories that were kept back:"]
    for law in figures["laws"]:
        values = ", ".join(f"{v['name']} {v['value']:.3g} [{v['low']:.3g}, {v['high']:.3g}]" for v in law["values"])
        lines.append(f"  {law['law']:<8}{law['rms']:.3g} {law['error_unit']} rms; {values}")
    lines += [f"  {said}" for said in [stalls_told(figures)] if said]
    battery = figures["battery"]
    lines += [
        f"  {force['battery_v']:.1f} V under full load: {force['force_m_s2']:.1f} m/s^2, "
        f"{force['box_share']:.0%} of the file's box"
        for force in battery["forces"]
    ]
    ready = "unknown" if battery["ready_v"] is None else f"from {battery['ready_v']:.2f} V at rest"
    lines.append(
        f"  battery: READY {ready}; in hover return at {battery['return_v']:.2f} V, land at {battery['land_v']:.2f} V"
    )
    lines += [
        f"  {row['after_s']:g} s ahead, {row['model']}: {100 * row['position_rms_m']:.1f} cm, "
        f"{row['velocity_rms_m_s']:.3f} m/s rms"
        for row in figures["predicted"]
    ]
    lines += [
        f"  {row['quantity']} of {row['estimator']}: p99 {row['quantiles']['p99']:.3f} {row['unit']}, "
        f"p99.9 {row['quantiles']['p99.9']:.3f} {row['unit']}"
        for row in figures["corrected"]
    ]
    return "\n".join(lines + [f"  these logs can't tell {sentence}" for sentence in figures["not_told"]])


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
