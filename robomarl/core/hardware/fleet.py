"""`Fleet`: the named robots of one team, read from `hardware_configs/fleets/NAME.yaml`."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from robomarl.core.config import Positive, Range, UserError, build
from robomarl.core.hardware.field import DeploymentConfig
from robomarl.core.hardware.host import parse_host
from robomarl.core.hardware.sections import ASSUMED
from robomarl.core.hardware.strangers import unquoted_host, whose_file
from robomarl.core.hardware.vehicle import AnyVehicle, load_any_vehicle
from robomarl.core.paths import fleets_dir
from robomarl.core.tables import read_text, read_yaml

_NAME = re.compile(r"[a-z][a-z0-9_]*")
"""Names that ROS accepts as a namespace."""
_FLEET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
FOLDER = re.compile(r"(~/|/)?[A-Za-z0-9_.][A-Za-z0-9_.@+-]*(/[A-Za-z0-9_.@+-]+)*/?|/|~")
"""A folder on a robot: it reaches shells and systemd, and has nothing in it that either reads as more."""


@dataclass(frozen=True)
class FleetRadioConfig:
    """Messages between the robots."""

    rate_hz: Positive = 50.0
    """State-and-plan messages of each robot per second."""
    reliable: bool = False
    """Send lost messages again; they come late then."""
    depth: Annotated[int, Range(1, 100)] = 5
    """Messages that may wait for a slow reader."""
    range_m: Annotated[float, Range(0)] = 0.0
    """Two robots that are nearer than this hear each other within `within_s`. With `filter: certificate` robots then
    move without teammates that are farther away. 0: every robot of the team hears all others."""
    within_s: Annotated[float, Range(0.05, 10.0)] = 0.5
    """Time within which robots hear each other, see `range_m`; three messages have to fit into it."""

    def __post_init__(self) -> None:
        """Check the keys against each other; what else a message takes, the rate of decisions tells."""
        if self.range_m and self.within_s * self.rate_hz < 3:
            need_s = 3 / self.rate_hz
            raise ValueError(
                f"within_s = {self.within_s:g} must be {need_s:g} or more: 3 messages have to fit into it."
            )


@dataclass(frozen=True)
class RobotConfig:
    """One robot."""

    name: str
    """Namespace of its nodes; lower case, digits and _."""
    index: Annotated[int, Range(0)]
    """Place of the robot in the team, from 0; the simulator and the bundle identify it by this."""
    folder: str = ""
    """Folder of its bundles. A relative path is below the home folder there if the robot has a `host`,
    else below the working directory, or below `--root`."""
    host: str = ""
    """Address of the robot: a name of the user's ssh settings, or [user@]address[:port], an IPv6 address
    with a port in brackets and quotes. Empty: this machine."""
    uri: str = ""
    """Address of its autopilot, as its adapter takes it: radio://0/80/2M/E7E7E7E701."""
    python: str = ""
    """Interpreter there that has robomarl; by default the one that `robomarl fleet setup` makes, in `FOLDER/venv`."""
    vehicle: str = ""
    """Its vehicle file, by name or path; empty: that of the fleet. Robots of unlike vehicles fly `filter: certificate`
    together, each vehicle with a bundle of its own."""
    foreign: bool = False
    """True for a robot of another operator in a game: it is seen, and no node, folder or bundle of ours is its."""

    def __post_init__(self) -> None:
        """Check the name."""
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name = {self.name!r} must be lower-case letters, digits and _, a letter first.")
        if not (self.folder or self.foreign):
            raise ValueError("folder must not be empty; name the folder that holds the robot's bundles.")
        if not (FOLDER.fullmatch(self.folder) if self.host else self.folder.isprintable()):
            allowed = "letters, digits and . _ / @ + -" if self.host else "no line breaks or control characters"
            raise ValueError(f"folder = {self.folder!r} must be a path: {allowed}.")
        if not self.python.isprintable():
            raise ValueError(f"python = {self.python!r} must be a path, without line breaks or control characters.")
        if self.host:
            parse_host(self.host)

    @property
    def remote_folder(self) -> str:
        """The folder as the robot's own shell finds it, which starts at home."""
        return self.folder.removeprefix("~/")


@dataclass(frozen=True)
class Fleet:
    """The robots of one team, or of two that play each other. Made by `load_fleet`."""

    version: Literal[1]
    """Version of the file's layout."""
    name: str
    """Letters, digits, ".", "_" and "-"."""
    vehicle: str
    """Type of all robots that name no other one: name or path of the vehicle file."""
    scenario: str
    """Scenario that the robots fly: starts, goals and arena."""
    robots: tuple[RobotConfig, ...]
    radio: FleetRadioConfig = FleetRadioConfig()
    field: DeploymentConfig = DeploymentConfig()
    """Deployment settings; they take precedence over those of the scenario and vehicle files."""
    teams: Literal[1, 2] = 1
    """2 for a game: the first half of the robots, by index, plays the second."""
    estimator: str = ""
    """The robots' state estimator, by its name in the vehicle file, whose bounds the filter assumes: firmware, mocap;
    "assumed" for the bounds of `safety`. Empty: the vehicle file's choice."""
    filter: Literal["full", "qp", "certificate"] = "full"
    """Safety filter of the robots: `full` and `qp` keep pairs apart by constraints on each, `certificate` flies
    committed courses (docs/certificate.md)."""
    ssh_config: str = ""
    """An ssh settings file to use instead of the user's own (`ssh -F`)."""
    max_clock_error_s: Positive = 1.0
    """Largest difference between the clocks of a robot and the operator. Robots beyond it are not flashed,
    because their messages would look stale."""

    def __post_init__(self) -> None:
        """Check the keys against each other."""
        if not _FLEET.fullmatch(self.name):
            raise ValueError(f"name = {self.name!r} must be letters, digits, '.', '_' and '-', at most 64.")
        if not self.own:
            raise ValueError("robots must name at least one robot that is not foreign.")
        places = {"name": [r.name for r in self.robots], "folder": [f"{r.host}:{r.folder}" for r in self.own]}
        for key, values in places.items():
            value, count = Counter(values).most_common(1)[0]
            if count > 1:
                raise ValueError(f"robots: {count} robots have {key} = {value.lstrip(':')!r}; give each its own.")
        if len(self.robots) % self.teams:
            raise ValueError(f"robots: {len(self.robots)} robots can't be {self.teams} teams of one size; name others.")
        self._check_indices()
        self._check_vehicles()
        if self.radio.range_m and (self.filter, self.field.on_robot_lost) != ("certificate", "continue"):
            raise ValueError("radio.range_m needs filter: certificate, and field: {on_robot_lost: continue}; add both.")
        if len({(r.index // self.team_size, r.foreign) for r in self.robots}) != self.teams:
            raise ValueError("robots: foreign must be true for all robots of one of two teams, or for none.")

    def _check_vehicles(self) -> None:
        if self.is_unlike and (self.filter != "certificate" or self.teams > 1):
            named = ", ".join(dict.fromkeys(map(self.vehicle_of, self.own)))
            raise ValueError(f"robots: vehicle = {named} in one team needs filter: certificate and teams: 1.")
        if self.is_unlike and self.estimator not in ("", ASSUMED):
            raise ValueError(
                f"estimator = {self.estimator!r} is of one vehicle; robots of unlike vehicles fly the bounds of their "
                f"files' safety, so write {ASSUMED}."
            )
        if self.vehicle not in map(self.vehicle_of, self.own):
            raise ValueError(f"vehicle = {self.vehicle!r} is of no robot; write there what most of them are.")

    def _check_indices(self) -> None:
        by_index = {robot.index: robot for robot in reversed(self.robots)}
        for robot in self.robots:
            if by_index[robot.index] is not robot:
                both = f"{by_index[robot.index].name} and {robot.name}"
                raise ValueError(f"robots: {both} have index = {robot.index}; give each its own.")
        missing = sorted(set(range(len(self.robots))) - set(by_index))
        if missing:
            raise ValueError(f"robots: no robot has index = {missing[0]}; {len(self.robots)} robots count from 0 on.")

    @property
    def team_size(self) -> int:
        """Robots in each team."""
        return len(self.robots) // self.teams

    @cached_property
    def own(self) -> tuple[RobotConfig, ...]:
        """The robots that are not foreign, in the order of their indices."""
        return tuple(sorted((robot for robot in self.robots if not robot.foreign), key=lambda robot: robot.index))

    @cached_property
    def vehicle_config(self) -> AnyVehicle:
        """The vehicle file."""
        return load_any_vehicle(self.vehicle, self.estimator)

    @property
    def is_unlike(self) -> bool:
        """True if robots of several vehicle files are in the team."""
        return len({self.vehicle_of(robot) for robot in self.own}) > 1

    def vehicle_of(self, robot: RobotConfig) -> str:
        """Return the name or path of a robot's vehicle file."""
        return robot.vehicle or self.vehicle

    @cached_property
    def vehicles(self) -> dict[str, AnyVehicle]:
        """The vehicle files of our robots by their names."""
        files = dict.fromkeys(map(self.vehicle_of, self.own))
        found = [load_any_vehicle(file, self.estimator) for file in files]
        return {vehicle.name: vehicle for vehicle in found}

    def flown_as(self, vehicle: str) -> tuple[RobotConfig, ...]:
        """Return our robots whose vehicle has this name."""
        names = {file: load_any_vehicle(file).name for file in dict.fromkeys(map(self.vehicle_of, self.own))}
        return tuple(robot for robot in self.own if names[self.vehicle_of(robot)] == vehicle)


def load_fleet(name: str) -> Fleet:
    """Read a fleet by name (of `hardware_configs/fleets/`) or by the path of a YAML file.

    Raises:
        UserError: unknown name, bad YAML, a wrong key or value, or an unknown vehicle.
    """
    data, file = _read(name)
    if known := whose_file(data):
        raise UserError(f"{file}: {known}")
    fleet = build(Fleet, data, file)
    load_any_vehicle(fleet.vehicle, fleet.estimator, file)
    files = {one: load_any_vehicle(one, fleet.estimator, file).name for one in map(fleet.vehicle_of, fleet.own)}
    for name, count in Counter(files.values()).items():
        if count > 1:
            both = " and ".join(one for one in files if files[one] == name)
            raise UserError(f"{file}: robots: {both} are both called {name}; give each vehicle file a name of its own.")
    return fleet


def _read(name: str) -> tuple[object, str]:
    """Content and name of a fleet file; a host in brackets that has no quotes is told before YAML is blamed."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml") and path.is_file() and (said := unquoted_host(read_text(path))):
        raise UserError(f"{path.name}: {said}")
    return read_yaml(name, "fleet", fleets_dir())
