"""The page of a flight with a load: pose against goal, tensions, paths, distances, the filter."""

import math
from collections.abc import Mapping
from pathlib import Path

from robomarl.core.log import load_flight
from robomarl.domains.flight.front.payload.plots import Marks, load_paths, place_against_goal, pose_errors, tensions
from robomarl.domains.flight.ros.payload.outcome import MissionResult
from robomarl.front.report.page import Section, Tile, facts, grid, page, table, write_page
from robomarl.front.report.plots.flight import distances, interventions
from robomarl.front.report.sections import draw, robot_names
from robomarl.front.report.units import metres


def write_load_report(result: MissionResult, file: Path, about: Mapping[str, str]) -> None:
    """Write the page of one mission.

    Args:
        result: of `fly_mission`, with its log.
        file: the HTML file.
        about: further facts to show: fleet, bundle, seed, commit.
    """
    log = load_flight(Path(result.flight.log))
    names, marks = robot_names(log, list(result.states)), _marks(result)
    above = draw(load_paths(log, (0, 1), (440, 420)), "From above", "Bold: the load. Crosses: its goals.")
    beside = draw(load_paths(log, (0, 2), (440, 420)), "From the side", "Rings: starts. Squares: ends.")
    errors = [
        draw(pose_errors(log, 0, marks), "Distance", "Place of the load's own frame."),
        draw(pose_errors(log, 1, marks), "Attitude"),
    ]
    sections = [
        Section("Load", draw(place_against_goal(log, marks), "Place against goal", "Dashed: goals.") + grid(errors)),
        Section("Set-points", _set_points(result), "Means over the last 3 s of each."),
        Section("Cables", draw(tensions(log, names, marks), "Tensions", "0 is a slack cable.")),
        Section("Paths", grid([above, beside])),
        Section("Safety", grid([draw(distances(log, names), "Distances"),
                                draw(interventions(log, names), "Filter", "", "The filter changed nothing.")])),
        Section("Flight", facts({**about, "robots at the end": dict(result.states)})),
    ]  # fmt: skip
    file.parent.mkdir(parents=True, exist_ok=True)
    write_page(page("A load in flight", f"{len(names)} robots", _verdict(result), _tiles(result), sections), file)


def _marks(result: MissionResult) -> Marks:
    load = result.load
    found = [(point.from_s, "goal") for point in load.set_points[1:]]
    found += [] if load.lost_at_s is None else [(load.lost_at_s, f"{load.lost} lost")]
    return sorted([*found, (load.flown_s, "load down")])


def _set_points(result: MissionResult) -> str:
    rows = [
        (f"{p.from_s:.1f} to {p.to_s:.1f} s", metres(p.position_error_m), f"{math.degrees(p.attitude_error_rad):.1f}°")
        for p in result.load.set_points
    ]
    return table(("time", "position error", "attitude error"), rows)


def _tiles(result: MissionResult) -> list[Tile]:
    load, flight = result.load, result.flight
    worst = max((p.position_error_m for p in load.set_points), default=math.nan)
    tiles = [
        Tile("Flown", f"{load.flown_s:.1f} s", "from lift to set-down"),
        Tile("Set-points", metres(worst), f"worst settled position error of {len(load.set_points)}"),
        Tile("Largest tension", f"{load.tension_max_n:.1f} N"),
        Tile("Closest", metres(flight.min_distance_m), "between two centres"),
        Tile("Load", "set down" if load.set_down else "not set down", "", "good" if load.set_down else "bad"),
    ]
    if load.lost and load.after_loss_min_height_m is not None:
        tiles.append(Tile("After the loss", metres(load.after_loss_min_height_m), "lowest place of the load in flight"))
    return tiles


def _verdict(result: MissionResult) -> str:
    load = result.load
    if load.lost:
        return f"{load.lost} was ended at {load.lost_at_s or 0:.1f} s; the load was " + (
            "kept, and set down at the end." if result.ok else "not set down as it should."
        )
    return "The load was carried to its set-points and set down." if result.ok else f"Failed: {result.flight.reason}."
