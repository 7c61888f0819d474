"""`subject_of`: the thing that a word of the command line names, as a source of moments."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from robomarl.core.bundle.bundle import is_bundle
from robomarl.core.config import UsageError, UserError, suggest
from robomarl.core.hardware.fleet import Fleet, load_fleet
from robomarl.core.paths import bundles_dir, fleets_dir, scenarios_dir
from robomarl.front.view.timeline import MomentSource
from robomarl.lab.scene.looks import look_of
from robomarl.lab.scene.palette import team_colours
from robomarl.lab.scene.scene import Scene

Kind = Literal["auto", "scenario", "policy", "recording", "fleet"]


@dataclass(frozen=True)
class Choice:
    """The options that say how a subject is shown."""

    what: str
    kind: Kind = "auto"
    scenario: str = ""
    """Another scenario than the policy's own, or that of a fleet or recording that names none; "" for its own."""
    sim: str = "mujoco"
    filter: str = "full"
    seed: int = 0
    base: str = ""
    """Namespace of a fleet that runs."""


@dataclass(frozen=True)
class Subject:
    """A source of moments, and how time goes on in it."""

    source: MomentSource
    title: str
    own_pace: bool = False
    """True if the source goes on by itself, as robots do."""
    ends: bool = False
    """True if the source has an end, as a recording."""


def kind_of(what: str) -> Kind:
    """Return the kind of thing that a word names: a path by its content, a name by the folder that has it.

    A bundle goes before the scenario of its name, and both before the fleet.

    Raises:
        UserError: nothing has that name.
    """
    path = Path(what)
    if is_run_folder(path) or is_bundle(what):
        return "policy"
    if (
        path.exists()
        and path.suffix != ".toml"
        and (path.is_dir() or ".mcap" in path.suffixes or path.suffix == ".db3")
    ):
        return "recording"
    if path.suffix == ".toml" or (scenarios_dir() / f"{what}.toml").is_file():
        return "scenario"
    if path.suffix in (".yaml", ".yml") or (fleets_dir() / f"{what}.yaml").is_file():
        return "fleet"
    known = {file.stem for file in [*scenarios_dir().glob("*.toml"), *fleets_dir().glob("*.yaml")]}
    known |= {file.parent.name for file in bundles_dir().glob("*/bundle.json")}
    raise UserError(
        f"{what}: is no bundle, run folder, recording, scenario or fleet; {suggest(what, sorted(known), 'names are')}"
    )


def is_run_folder(folder: Path) -> bool:
    """Return True if `robomarl train` wrote the folder."""
    return (folder / "config.json").is_file()


@contextmanager
def subject_of(choice: Choice) -> Iterator[Subject]:
    """Open the thing that is to be shown, and close it when the block ends.

    Raises:
        UserError: there is no such thing, or it can't be shown.
    """
    kind = kind_of(choice.what) if choice.kind == "auto" else choice.kind
    if kind == "fleet":
        with running(choice) as subject:
            yield subject
    else:
        yield MAKERS[kind](choice)


def filmed(subject: Subject, file: Path, seconds: float) -> float:
    """Write a film of a subject, from its first moment on.

    Args:
        subject: the thing to be shown.
        file: .gif, .mp4 or .png.
        seconds: length of the shown time [s]; 0: until the episode begins again, or the recording ends.

    Returns:
        The shown time [s].

    Raises:
        UserError: the subject is a fleet that runs, or the film can't be written.
    """
    from robomarl.lab.scene.film import check_film, write_film

    if subject.own_pace:
        raise UsageError("--film is not for a fleet that runs; film its recording.")
    check_film(file)
    moments = [subject.source.moment]
    while (moment := subject.source.advance()) is not None and moment.time_s > moments[-1].time_s:
        moments.append(moment)
        if seconds and moment.time_s - moments[0].time_s >= seconds:
            break
    write_film(subject.source.scene, moments, file, subject.title)
    return moments[-1].time_s - moments[0].time_s


def simulated(choice: Choice) -> Subject:
    """Return a policy that flies on an engine; each start of a run loads its newest checkpoint."""
    from robomarl.lab.scene.casting import live_stage

    stage = live_stage(choice.what, choice.scenario, choice.sim, choice.filter, choice.seed)
    return Subject(stage, f"{choice.what} on {choice.sim}")


def scripted(choice: Choice) -> Subject:
    """Return a scenario, flown by the controller of its domain if it has one; its robots stay if not."""
    from robomarl.lab.scene.casting import baseline_stage

    stage = baseline_stage(choice.what, choice.sim, choice.filter, choice.seed)
    return Subject(stage, f"{choice.what} on {choice.sim}")


def recorded(choice: Choice) -> Subject:
    """Return a recording."""
    from robomarl.field.scene.recorded import RecordedStage, opened_recording

    bag, recording = opened_recording(Path(choice.what))
    name = choice.scenario or recording.scenario
    if not name:
        raise UsageError(f"{choice.what}: the recording names no scenario; add --scenario NAME.")
    scene, task = scene_of(name, len(recording.team))
    return Subject(RecordedStage(bag, recording, scene, task), Path(choice.what).name, ends=True)


@contextmanager
def running(choice: Choice) -> Iterator[Subject]:
    """Open a fleet that runs now; closes its node at the end."""
    from robomarl.field.scene.running import RunningStage, view_node

    fleet = load_fleet(choice.what)
    team = tuple(robot.name for robot in fleet.own)
    scene, task = scene_of(choice.scenario or fleet.scenario, len(team))
    with view_node() as node:
        stage = RunningStage(node, team, choice.base, looking_like(fleet, scene), task)
        yield Subject(stage, f"fleet {fleet.name}", own_pace=True)


def scene_of(name: str, count: int) -> tuple[Scene, str]:
    """Return the scene of a scenario for a number of robots, and its task."""
    from robomarl.lab.scene.casting import staging_of
    from robomarl.lab.sim.scenario import load_scenario

    scenario = load_scenario(name)
    scene = staging_of(scenario).scene(scenario)
    if count != len(scene.names):
        scene = replace(
            scene,
            names=tuple(str(index) for index in range(count)),
            colours=team_colours(count),
            looks=(scene.looks[0],) * count,
        )
    return scene, scenario.task


def looking_like(fleet: Fleet, scene: Scene) -> Scene:
    """Return the scene with robots of the fleet's own vehicle."""
    return replace(scene, looks=(look_of(fleet.vehicle_config),) * len(scene.names))


MAKERS: dict[str, Callable[[Choice], Subject]] = {"policy": simulated, "scenario": scripted, "recording": recorded}
