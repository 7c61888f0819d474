"""`LogLayout`: which column of a flight log is which quantity, and in which unit, from a small TOML file."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from robomarl.core import paths
from robomarl.core.config import UserError, build, suggest
from robomarl.core.tables import read_toml

Three = tuple[str, str, str]
Four = tuple[str, str, str, str]
LENGTHS = {"m": 1.0, "mm": 1e-3}
ACCELERATIONS = {"m/s^2": 1.0, "g": 9.81}
RATES = {"rad/s": 1.0, "deg/s": math.pi / 180}
ANGLES = {"rad": 1.0, "deg": math.pi / 180}


@dataclass(frozen=True)
class TruthColumns:
    """Pose by motion capture, which the estimate is compared with."""

    position: Three
    """Columns of x, y, z, world."""
    quaternion: Four
    """Columns of w, x, y, z, body to world."""
    time: str = ""
    """Of poses in a file of their own, CSV or MCAP: column of the time, in s, or topic whose messages are the poses.
    Empty: the poses are in the log. The clocks may differ by any constant; gyroscope or accelerometer tell it."""
    file: str = ""
    """Name or path of that file, from the log's folder; `{log}` is the log's name without its endings. Empty: `--truth`
    names it."""
    frame: Literal["", "flu", "frd"] = ""
    """Frame of the poses; by default that of the log."""
    length_unit: Literal["", "m", "mm"] = ""
    """Unit of the poses; by default that of the log."""


class ReadColumns(NamedTuple):
    """Columns that are read from one file."""

    format: str
    """Format of the file, one of a layout's."""
    time: str
    """Column or topic of the time."""
    columns: tuple[str, ...]
    """All columns of numbers."""
    quaternions: tuple[tuple[str, ...], ...] = ()
    """Columns of each quaternion; its sign may jump."""


@dataclass(frozen=True)
class EstimateColumns:
    """State estimate of the vehicle itself."""

    name: str
    """Name of the estimator, such as `firmware`."""
    position: Three
    """Columns of x, y, z, world."""
    velocity: Three
    """Columns of x, y, z, world, in m/s."""
    quaternion: tuple[str, ...] = ()
    """Columns of w, x, y, z, body to world; none: not logged."""


@dataclass(frozen=True)
class SetpointColumns:
    """Orders that the vehicle's own controllers follow."""

    tilt: tuple[str, ...] = ()
    """Columns of roll and pitch that the attitude controller is told; none: not logged."""
    tilt_unit: Literal["rad", "deg"] = "rad"
    """Unit of the tilt."""
    tilt_sign: tuple[float, float] = (1.0, 1.0)
    """-1 where a column counts against the turn about x (roll) or y (pitch) of a body frame with x forward, y left."""
    position: tuple[str, ...] = ()
    """Columns of x, y, z, world, that the position controller is told; none: not logged."""


@dataclass(frozen=True)
class LogLayout:
    """Content of the file of `--layout`: the columns of a log of one vehicle."""

    vehicle: str
    """Name or file of the vehicle that flew."""
    time: str
    """Column of the time, in s. Of logs with topics: the topic whose messages are the rows, between which the values of
    the others are taken."""
    truth: TruthColumns
    estimate: EstimateColumns
    setpoint: SetpointColumns = SetpointColumns()
    version: Literal[1] = 1
    """Version of the file's layout."""
    format: Literal["csv", "ulog", "crazyflie", "mcap"] = "csv"
    """CSV, PX4's ULog, a Crazyflie's micro SD card, or ROS 2 messages in MCAP. In the last three a column is
    `TOPIC:FIELD`."""
    frame: Literal["flu", "frd"] = "flu"
    """Body x forward, y left, z up, and a world with z up; or body x forward, y right, z down, and a world with z
    down, as PX4 has them."""
    source: str = ""
    """Origin of the logs, with their licence."""
    length_unit: Literal["m", "mm"] = "m"
    """Unit of all positions."""
    motors: tuple[str, ...] = ()
    """Columns of the motors' commands; 0 is off."""
    motors_full: float = 0.0
    """Command of a motor that has the whole voltage of the battery; 0: unknown."""
    battery: str = ""
    """Column of the battery's voltage, in V."""
    acceleration: tuple[str, ...] = ()
    """Columns of the accelerometer's x, y, z, body; none: not logged."""
    acceleration_unit: Literal["m/s^2", "g"] = "m/s^2"
    """Unit of the accelerometer."""
    gyro: tuple[str, ...] = ()
    """Columns of the gyroscope's x, y, z, body; none: not logged."""
    gyro_unit: Literal["rad/s", "deg/s"] = "rad/s"
    """Unit of the gyroscope."""
    trajectory: str = ""
    """Regular expression that matches, in a file's name, the name of its trajectory; flights of one are kept back
    together. Without it each flight is kept back alone."""
    ignored: tuple[str, ...] = field(default_factory=tuple)
    """Columns that are known and not used, for readers of the file."""

    def __post_init__(self) -> None:
        """Check the keys against each other."""
        if self.format != "csv" and (plain := [name for name in self.columns if ":" not in name]):
            raise ValueError(f"column {plain[0]!r} must be TOPIC:FIELD, as format is {self.format}.")
        for key, columns in (
            ("acceleration", self.acceleration),
            ("gyro", self.gyro),
            ("setpoint.position", self.setpoint.position),
        ):
            if columns and len(columns) != 3:
                raise ValueError(f"{key} must name the columns of x, y and z, not {len(columns)}.")
        if len(self.setpoint.tilt) not in (0, 2):
            raise ValueError(f"setpoint.tilt must name the columns of roll and pitch, not {len(self.setpoint.tilt)}.")
        if len(self.estimate.quaternion) not in (0, 4):
            raise ValueError(
                f"estimate.quaternion must name the columns of w, x, y and z, not {len(self.estimate.quaternion)}."
            )
        try:
            re.compile(self.trajectory)
        except re.error as error:
            raise ValueError(f"trajectory must be a regular expression ({error}).") from None
        self._check_poses_apart()
        if twice := sorted({name for name in self.columns if self.columns.count(name) > 1}):
            raise ValueError(f"column {twice[0]!r} stands for two quantities; give each its own.")

    def _check_poses_apart(self) -> None:
        if self.truth.file and not self.truth.time:
            raise ValueError("truth.file needs truth.time, the column or topic of the time in that file.")
        if self.truth.time and not (self.gyro or self.acceleration):
            raise ValueError("truth.time needs gyro or acceleration, by which the clocks of the two files are aligned.")

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read from the log."""
        poses = () if self.truth.time else (*self.truth.position, *self.truth.quaternion)
        one = (*((self.time,) if self.format == "csv" else ()), *poses)
        more = (*self.estimate.position, *self.estimate.velocity, *self.motors, *self.acceleration, *self.gyro)
        orders = (*self.setpoint.tilt, *self.setpoint.position, *self.estimate.quaternion)
        return (*one, *more, *orders, *((self.battery,) if self.battery else ()))

    @property
    def of_log(self) -> ReadColumns:
        """Columns of a log."""
        poses = () if self.truth.time else (self.truth.quaternion,)
        return ReadColumns(self.format, self.time, self.columns, (*poses, self.estimate.quaternion))

    def truth_file(self, log: Path) -> Path:
        """Return the file with the poses of a log.

        Raises:
            UserError: neither the layout nor a command names it.
        """
        if not self.truth.file:
            raise UserError(f"{log}: its poses are in a file of their own; name it in --truth, or in truth.file.")
        return log.parent / self.truth.file.replace("{log}", log.name.split(".")[0])

    def of_truth(self, file: Path) -> ReadColumns:
        """Columns of a file of poses."""
        own = self.truth
        plain = (own.time,) if ".mcap" not in file.suffixes else ()
        kind = "csv" if plain else "mcap"
        return ReadColumns(kind, own.time, (*plain, *own.position, *own.quaternion), (own.quaternion,))


def load_log_layout(name: str) -> LogLayout:
    """Read the layout of this name in `hardware_configs/logs`, or a file.

    Raises:
        UserError: no such layout, bad TOML, or a wrong key or value.
    """
    folder = paths.share_dir() / "hardware_configs" / "logs"
    file = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    if not file.is_file():
        known = sorted(found.stem for found in folder.glob("*.toml"))
        raise UserError(f"--layout {name}: there is no such layout; {suggest(name, known)} docs/logs.md shows one.")
    return build(LogLayout, read_toml(file, lambda base: read_toml(file.parent / base, lambda _: {})), file.name)


def with_poses(layout: LogLayout, files: Sequence[Path], truth: Path | None) -> tuple[LogLayout, list[Path]]:
    """Return the layout that names the poses of logs, and the logs among files.

    Args:
        layout: as it was read.
        files: logs, and maybe files of their poses.
        truth: file with the poses of the one log; None: the layout says where poses are.

    Raises:
        UserError: `truth` is not there, is given for several logs, or the layout does not say how it is read.
    """
    if truth is None:
        poses = {layout.truth_file(file) for file in files} if layout.truth.file else set[Path]()
        return layout, [file for file in files if file not in poses]
    if not layout.truth.time:
        raise UserError(f"--truth {truth}: the layout lacks truth.time, the column or topic of the time in that file.")
    logs = [file for file in files if file.resolve() != truth.resolve()]
    if len(logs) != 1:
        raise UserError(
            f"--truth {truth}: has the poses of one log, and there are {len(logs)}; write truth.file into the layout, "
            'as "{log}_poses.csv".'
        )
    if not truth.is_file():
        raise UserError(f"--truth {truth}: there is no such file.")
    return replace(layout, truth=replace(layout.truth, file=str(truth.resolve()))), logs
