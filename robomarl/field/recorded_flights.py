"""Recordings of one team as tracks, with the scenario that they are of and their provenance."""

import datetime
from pathlib import Path
from typing import NamedTuple

from robomarl.core.config import UsageError, UserError
from robomarl.field.foreign_bags.collect import read_foreign
from robomarl.field.foreign_bags.layout import load_layout
from robomarl.field.foreign_bags.ticks import foreign_tracks
from robomarl.field.identify.patch import Provenance
from robomarl.field.replay.bag import open_bag
from robomarl.field.replay.replayed import read_tracks
from robomarl.field.track import RobotTrack
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.train.run.source import commit_of_checkout


class RecordedFlights(NamedTuple):
    """Content of recordings."""

    scenario: Scenario
    tracks: list[RobotTrack]
    provenance: Provenance
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
    tracks: list[RobotTrack]
    problems: list[str]


def read_own_tracks(bags: tuple[Path, ...], scenario: str, bundle: str) -> ReadTracks:
    """Read our own recordings; raises `UserError` if they are of different teams or scenarios."""
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
    found: dict[str, Path] = {}
    for bag in bags:
        if (digest := open_bag(bag).digest()) in found:
            raise UserError(f"{bag}: is the same recording as {found[digest]}; name each once.")
        found[digest] = bag
    return {bag: digest for digest, bag in found.items()}
