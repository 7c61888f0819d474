"""`replay_parts`: a recording, decided again by several processes, each for some of its robots.

Robots decide by themselves, on the recorded data, so nothing has to pass between the processes.
"""

import multiprocessing
import os
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from robomarl.core.config import UserError
from robomarl.field.replay.bag import Bag, open_bag
from robomarl.field.replay.bag_replay import BagReplay, Cause, Progress
from robomarl.field.replay.flights import FlightRows
from robomarl.field.replay.recording import Recording, recording_of
from robomarl.field.replay.tally import RobotTally
from robomarl.field.replay.tracks import TrackRows

LONG_BYTES = 20_000_000
"""A shorter recording (half a minute of six robots) is read before a second process has started."""


@dataclass(frozen=True)
class ReplayJob:
    """Job of a process that decides again."""

    folder: Path
    """Folder of the bag."""
    bundle: str = ""
    """Name or folder of the bundle; "" for the one that was flown."""
    tracks: bool = False
    """Keep the tracks as well."""
    robots: tuple[str, ...] = ()
    """Robots that decide again; empty: the whole team."""
    team: str = ""
    """A robot of the team that decides again; "" where there is one team only."""


class BundleName(NamedTuple):
    """The bundle that decided."""

    name: str
    id: str
    vehicle: str
    """Name or file of the first robot's."""

    def __str__(self) -> str:
        """Return the name as people read it."""
        return f"{self.name} {self.id[:12]}"


class ReplayPart(NamedTuple):
    """Result for some robots, or for all."""

    recording: Recording
    bundle: BundleName
    tallies: dict[str, RobotTally]
    rows: FlightRows
    tracks: TrackRows
    causes: list[Cause]
    recorded_s: float
    problems: list[str]


def replay_parts(job: ReplayJob, progress: Progress = lambda share: None, processes: int = 0) -> ReplayPart:
    """Decide a recording again.

    Args:
        job: the job.
        progress: called with the share that is done.
        processes: maximum number; 0: one for each core that may be used, and one for a short recording.

    Raises:
        UserError: it is no recording of a team, or its bundle is not here.
    """
    bag = open_bag(job.folder)
    team = recording_of(bag, job.team).team
    count = min(processes or usable(bag), len(team))
    if count < 2:
        return replay_part(bag, replace(job, robots=team), progress)
    return together([replace(job, robots=team[i::count]) for i in range(count)], progress)


def usable(bag: Bag) -> int:
    """Return the number of processes that are worth their start."""
    return len(os.sched_getaffinity(0)) if bag.data_bytes > LONG_BYTES else 1


def replay_part(bag: Bag, job: ReplayJob, progress: Progress) -> ReplayPart:
    """Decide again in this process; `bag` is the job's, and the rest as of `replay_parts`."""
    replay, tracks = BagReplay(bag, job.bundle, job.robots), TrackRows()
    if job.tracks:
        replay.watch = tracks.note
    recorded_s = replay.run(progress)
    found = replay.recording, _name(replay), replay.tallies, replay.rows, tracks, sorted(replay.causes)
    return ReplayPart(*found, recorded_s, bag.problems)


def together(jobs: list[ReplayJob], progress: Progress) -> ReplayPart:
    """Run each job in its own process, and merge the results."""
    context, shares = multiprocessing.get_context("spawn"), [0.0] * len(jobs)
    pipes, workers = [], []
    for job in jobs:
        ours, theirs = context.Pipe(duplex=False)
        workers.append(context.Process(target=work, args=(job, theirs), daemon=True))
        workers[-1].start()
        theirs.close()
        pipes.append(ours)
    found: dict[int, ReplayPart] = {}
    try:
        while len(found) < len(jobs):
            for pipe in wait([pipe for i, pipe in enumerate(pipes) if i not in found]):
                number = pipes.index(pipe)  # type: ignore[arg-type]
                said = _said(pipes[number], jobs[number])
                shares[number] = said if isinstance(said, float) else 1.0
                if isinstance(said, ReplayPart):
                    found[number] = said
                progress(sum(shares) / len(shares))
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()
    return merged([found[i] for i in range(len(jobs))])


def work(job: ReplayJob, told: Connection) -> None:
    """A process: tells the share that is done now and then, and at last the part or the error."""
    percent = -1

    def progress(share: float) -> None:
        nonlocal percent
        if int(100 * share) > percent:
            percent = int(100 * share)
            told.send(share)

    try:
        told.send(replay_part(open_bag(job.folder), job, progress))
    except UserError as error:
        told.send(error)


def merged(parts: list[ReplayPart]) -> ReplayPart:
    """One part of several robots each."""
    first = parts[0]
    for part in parts[1:]:
        first.rows.add(part.rows)
        first.tracks.add(part.tracks)
    tallies = {name: part.tallies[name] for name in first.recording.team for part in parts if name in part.tallies}
    causes = sorted(cause for part in parts for cause in part.causes)
    problems = list(dict.fromkeys(problem for part in parts for problem in part.problems))
    return first._replace(tallies=tallies, causes=causes, problems=problems)


def _said(pipe: Connection, job: ReplayJob) -> Any:
    try:
        said = pipe.recv()
    except EOFError:
        who = ", ".join(job.robots)
        raise UserError(
            f"{job.folder}: the process that decides again for {who} ended; is there memory left?"
        ) from None
    if isinstance(said, UserError):
        raise said
    return said


def _name(replay: BagReplay) -> BundleName:
    return BundleName(replay.loaded.name, replay.loaded.id, next(iter(replay.vehicles.values())))
