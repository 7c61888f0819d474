"""Find a team's vehicles and weather from its recordings, with 95 % intervals, and write them down."""

import datetime
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import tyro

from robomarl.core.config import UsageError, UserError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder


@dataclass(frozen=True)
class Args:
    """Options of `robomarl identify`."""

    bags: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="BAG [BAG ...]")]
    """Folders of recordings of one team's vehicles."""
    scenario: str = ""
    """Name or file of the scenario that is fitted; by default the one that was flown."""
    out: OutFolder = Path("runs/identified")
    """Folder for the vehicle's file and the scenario."""
    bundle: str = ""
    """Name or folder of the bundle; by default the one that was flown."""
    layout: Path | None = None
    """File that names the robots and topics in recordings of other software (PX4, MAVROS, Crazyswarm2)."""


def run(args: Args) -> Figures:
    """Fit, print a table, write the files; `ok` says that every robot was identified."""
    from tqdm import tqdm

    from robomarl.field.identify.identify import figures_of, identify, text_of
    from robomarl.field.identify.patch import write_patch
    from robomarl.field.identify.safety_figures import safety_figures
    from robomarl.field.work import field_of
    from robomarl.lab.sim.engines.compiler import keep_compiled

    flown = read_flights(args.bags, args.scenario, args.bundle, args.layout)
    if find := field_of(flown.scenario).identify_payload:
        return show_carried(args, flown, find(flown.scenario, flown.tracks))
    keep_compiled()
    with tqdm(total=100, unit="%", disable=not sys.stderr.isatty(), leave=False) as bar:
        found, missing = identify(flown.scenario, flown.tracks, lambda share: bar.update(int(100 * share) - bar.n))
    print(text_of(found))
    figures = safety_figures(flown.scenario.vehicle_config, found)
    for row in figures:
        print(
            f"  safety.{row.name:<20}flights needed {row.measured:.3g}, file {row.file:g}, new {row.value:g} {row.unit}"
        )
    scenario_file, vehicle_file = write_patch(args.out, flown.scenario, found, figures, flown.provenance)
    for problem in (*flown.problems, *missing):
        print(f"problem: {problem}")
    print(f"scenario: {scenario_file}; vehicle: {vehicle_file}")
    return {
        **figures_of(found),
        "safety": [row._asdict() for row in figures],
        "provenance": flown.provenance._asdict(),
        "problems": [*flown.problems, *missing],
        "ok": not missing,
        "scenario": str(scenario_file),
        "vehicle": str(vehicle_file),
    }


def show_carried(args: Args, flown: "RecordedFlights", found: Any) -> Figures:
    """Print the identified payload of a team that carries, and write the scenario."""
    from robomarl.field.identify.carried import write_carried

    missing = [*flown.problems, *found.missing]
    print(found.text)
    file = write_carried(args.out, flown.scenario, found, flown.provenance)
    if file is None:
        raise UserError(f"{args.bags[0]}: nothing was found of a payload, and nothing written; {' '.join(missing)}")
    for problem in missing:
        print(f"problem: {problem}")
    print(f"scenario: {file}")
    return {
        "parameters": [row._asdict() for row in found.parameters],
        "provenance": flown.provenance._asdict(),
        "problems": missing,
        "ok": not found.missing,
        "scenario": str(file),
    }


class RecordedFlights(NamedTuple):
    """Content of recordings."""

    scenario: Any
    tracks: list[Any]
    provenance: Any
    problems: tuple[str, ...]


def read_flights(bags: tuple[Path, ...], scenario: str, bundle: str, layout: Path | None = None) -> RecordedFlights:
    """Return the tracks of all recordings.

    Args:
        bags: folders.
        scenario: name or file; "" for the one that was flown.
        bundle: name or folder; "" for the one that was flown.
        layout: file that names the robots and topics in recordings of other software; None: they are
            ours.

    Raises:
        UserError: no recording, one that can't be read or is named twice, different scenarios, or
            different teams.
    """
    from robomarl.field.identify.patch import Provenance
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.run.source import commit_of_checkout

    if not bags:
        raise UsageError("no recording is named; give the folder of at least one.")
    told = tuple(f"{bag.name} sha256 {digest[:16]}" for bag, digest in digests(bags).items())
    read = read_foreign_tracks(bags, layout) if layout else read_own_tracks(bags, scenario, bundle)
    name = scenario or read.scenario
    if not name:
        raise UserError(f"{bags[0]}: its metadata name no scenario; add --scenario NAME.")
    source = Provenance(told, read.flew, commit_of_checkout(), datetime.date.today().isoformat(), name)
    flown = load_scenario(name)
    arena = getattr(flown, "arena", None)  # not every kind of team has one
    inside = [track.within(arena.low_m, arena.high_m) for track in read.tracks] if arena else read.tracks
    return RecordedFlights(flown, inside, source, tuple(read.problems))


class ReadTracks(NamedTuple):
    """Tracks read from all recordings."""

    scenario: str
    flew: str
    """Bundle or software that moved the vehicles."""
    tracks: list[Any]
    problems: list[str]


def read_own_tracks(bags: tuple[Path, ...], scenario: str, bundle: str) -> ReadTracks:
    """Read our own recordings; raises `UserError` if they are of different teams or scenarios."""
    from robomarl.field.replay.replayed import read_tracks

    tracks, problems, seen, flew = [], [], set(), ""
    for number, bag in enumerate(bags):
        found, replay = read_tracks(bag, bundle)
        tracks += [track._replace(flight=track.flight + 1000 * number) for track in found]
        problems += replay.problems
        seen.add((scenario or replay.recording.scenario, replay.recording.team))
        flew = str(replay.bundle)
    if len(seen) > 1:
        told = "; ".join(f"{name} with {', '.join(team)}" for name, team in sorted(seen))
        raise UserError(f"{bags[0]} and the others are of different teams or scenarios ({told}); identify each alone.")
    ((name, _),) = seen
    return ReadTracks(name, flew, tracks, problems)


def read_foreign_tracks(bags: tuple[Path, ...], file: Path) -> ReadTracks:
    """Read recordings of other software; raises `UserError` if no robot was commanded."""
    from robomarl.field.foreign_bags.collect import read_foreign
    from robomarl.field.foreign_bags.layout import load_layout
    from robomarl.field.foreign_bags.ticks import foreign_tracks

    layout, tracks, problems = load_layout(file), [], []
    for number, bag in enumerate(bags):
        found = read_foreign(bag, layout)
        tracks += [track._replace(flight=track.flight + 1000 * number) for track in foreign_tracks(found)]
        problems += found.problems
    if not tracks:
        raise UserError(f"{bags[0]}: no robot was commanded while there were estimates of it; {' '.join(problems)}")
    return ReadTracks(layout.scenario, f"{layout.stack}, by {file.name}", tracks, problems)


def digests(bags: tuple[Path, ...]) -> dict[Path, str]:
    """Return the SHA-256 of each recording's content, independent of the form of its files.

    Raises:
        UserError: there is no recording, or two are equal: intervals would be too narrow, and rows be
            there twice.
    """
    from robomarl.field.replay.bag import open_bag

    found: dict[str, Path] = {}
    for bag in bags:
        if (digest := open_bag(bag).digest()) in found:
            raise UserError(f"{bag}: is the same recording as {found[digest]}; name each once.")
        found[digest] = bag
    return {bag: digest for digest, bag in found.items()}
