"""`replay_bag` and `read_tracks`: the results of a recording once all its decisions were computed again."""

import time
from pathlib import Path
from typing import NamedTuple

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.log import FlightLog
from robomarl.field.replay.bag_replay import Cause, Progress
from robomarl.field.replay.parts import ReplayJob, ReplayPart, replay_parts
from robomarl.field.replay.recording import Recording
from robomarl.field.replay.tally import RobotTally
from robomarl.field.track import RobotTrack


class Replayed(NamedTuple):
    """Result of a replay."""

    recording: Recording
    bundle: str
    """Name and id of the bundle that decided."""
    is_recorded_bundle: bool
    """It is the one that flew."""
    tallies: dict[str, RobotTally]
    flights: list[FlightLog]
    tracks: list[RobotTrack]
    """Every flight of every robot; none where they were not wanted."""
    causes: list[Cause]
    recorded_s: float
    seconds: float
    """That the replay took."""
    problems: tuple[str, ...]
    """Sentences on missing data."""


def replay_bag(
    folder: Path, bundle: str = "", progress: Progress = lambda share: None, tracks: bool = False, team: str = ""
) -> Replayed:
    """Decide a recording again.

    Args:
        folder: of the bag.
        bundle: name or folder of the bundle; by default the one that was flown.
        progress: told the share that is done.
        tracks: keep the tracks, which are twenty numbers for each tick.
        team: a robot of the team that decides again, in a recording of a game.

    Raises:
        UserError: it is no recording of a team, or its bundle is not here.
    """
    started_s = time.perf_counter()
    found = replay_parts(ReplayJob(folder, bundle, tracks, team=team), progress)
    if not any(tally.ticks for tally in found.tallies.values()):
        raise UserError(
            f"{folder}: holds no tick that can be read, so nothing was decided in it; record with this release."
        )
    vehicle = load_any_vehicle(found.bundle.vehicle)
    separation_m = vehicle.safety.separation_m if vehicle.safety else 0.0
    return Replayed(
        recording=found.recording,
        bundle=str(found.bundle),
        is_recorded_bundle=not bundle or set(found.recording.bundles.values()) - {""} == {found.bundle.id},
        tallies=found.tallies,
        flights=found.rows.flights(vehicle.body.radius_m, separation_m),
        tracks=found.tracks.tracks(found.tallies),
        causes=found.causes,
        recorded_s=found.recorded_s,
        seconds=time.perf_counter() - started_s,
        problems=tuple(found.problems),
    )


def read_tracks(
    folder: Path, bundle: str = "", progress: Progress = lambda share: None
) -> tuple[list[RobotTrack], ReplayPart]:
    """The tracks of a recording, and all else that was found.

    Args:
        folder: of the bag.
        bundle: name or folder of the bundle; by default the one that was flown.
        progress: told the share that is done.

    Raises:
        UserError: it is no recording of a team, or no robot followed a policy in it.
    """
    found = replay_parts(ReplayJob(folder, bundle, tracks=True), progress)
    tracks = found.tracks.tracks(found.tallies)
    if not tracks:
        raise UserError(f"{folder}: no robot follows a policy in it; record a flight.")
    return tracks, found
