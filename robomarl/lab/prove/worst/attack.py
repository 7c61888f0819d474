"""`Attack`: everything that a team of robots and its surroundings do in an episode, as one table of numbers.

Structured attacks write the table, the search moves through it, the report prints it; an episode is flown again from
it alone, because nothing is drawn in flight.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.types import Array


class Column(NamedTuple):
    """One number of each robot."""

    name: str
    low: float
    high: float
    """Upper end of the search range."""
    rest: float = 0.0
    """Value that has no effect."""
    searched: bool = True


NEVER = -1.0
"""Gap that no robot reaches, for triggers that are off."""
NEAREST, ASIDE = -1.0, -2.0
"""Values of `target`: the nearest mate; the direction `way_*`. From 0 on it is the mate of that index."""


def _channel(name: str) -> tuple[Column, ...]:
    """An error along the line to the target and across it: `_a` before the flip, `_b` after."""
    return (
        Column(f"{name}_radial_a", -1, 1),
        Column(f"{name}_radial_b", -1, 1),
        Column(f"{name}_side_a", -1, 1),
        Column(f"{name}_side_b", -1, 1),
        Column(f"{name}_flip_m", -0.5, 3, NEVER),  # flips when the gap is smaller,
        Column(f"{name}_flip_s", 0, 8, 1e3),  # or later than this,
        Column(f"{name}_flip_brake", 0, 1),  # or, above 0.5, while the command brakes
        Column(f"{name}_wave_s", -0.5, 0.5, -1.0),  # period of a square wave on top; below 0: none
        Column(f"{name}_phase", 0, 1),
    )


COLUMNS: tuple[Column, ...] = (
    *(Column(f"start_{axis}_m", -8, 8) for axis in "xyz"),
    Column("heading_rad", -np.pi, np.pi),
    Column("target", NEAREST, NEAREST, NEAREST, searched=False),
    *(Column(f"way_{axis}", -1, 1) for axis in "xyz"),
    Column("metric", 0, 1, 1.0),  # the line to the target: 0 as the crow flies, 1 the gradient of the scaled distance
    Column("side_rad", -np.pi, np.pi),  # of `side`, about that line
    # The nominal command: speeds as shares of the limit; above 1.2 it is full acceleration.
    Column("go_s", 0, 4),
    Column("near_m", -0.5, 2, NEVER),
    Column("push_a", -2, 2),
    Column("push_b", -2, 2),
    Column("tangent_a", -2, 2),
    Column("tangent_b", -2, 2),
    Column("along_a", -2, 2),
    Column("along_b", -2, 2),
    Column("bang_s", -0.5, 1.0, -1.0),
    Column("bang_share", 0, 1, 0.5),
    Column("bang_phase", 0, 1),
    *_channel("pos"),
    *_channel("vel"),
    *_channel("gust"),
    *(Column(f"bias_{axis}", -1, 1) for axis in "xyz"),
    # Which of the commands that may be in force is: 0 the newest, 1 the oldest; picked: the one farthest towards the
    # target (above 0.5) or away from it (below -0.5).
    Column("late_a", 0, 1, 0.5),
    Column("late_b", 0, 1, 0.5),
    Column("picked_a", -1, 1),
    Column("picked_b", -1, 1),
    Column("pump", 0, 1),  # above 0.5: picked is the one farthest along the velocity, which feeds every oscillation
    Column("late_flip_m", -0.5, 3, NEVER),
    Column("late_flip_brake", 0, 1),
    Column("late_wave_s", -0.5, 0.5, -1.0),
    # Age of the newest messages over the largest that counts; with a wave they come in bursts that far apart.
    Column("age_a", 0, 1),
    Column("age_b", 0, 1.1),
    Column("age_flip_m", -0.5, 3, NEVER),
    Column("age_wave_s", -0.5, 1, -1.0),
    Column("restart_m", -0.5, 3, NEVER),
    Column("restart_s", 0, 12, 1e3),
    Column("restart_every_s", -0.5, 1, -1.0),
    Column("blind_m", -0.5, 2, NEVER),
    Column("blind_ticks", 0, 5),
)
INDEX = {column.name: i for i, column in enumerate(COLUMNS)}
REST = np.array([column.rest for column in COLUMNS])
LOW, HIGH = np.array([c.low for c in COLUMNS]), np.array([c.high for c in COLUMNS])
SEARCHED = np.array([c.searched for c in COLUMNS])


class Attack:
    """Attacks on E teams of N robots.

    Args:
        values: [E, N, columns].
    """

    def __init__(self, values: np.ndarray) -> None:
        """Take the table."""
        self.values = values

    @classmethod
    def blank(cls, episodes: int, count: int) -> "Attack":
        """Return attacks in which no robot does anything."""
        return cls(np.broadcast_to(REST, (episodes, count, len(COLUMNS))).copy())

    def __getitem__(self, name: str) -> np.ndarray:
        """[E, N] of one column, writable."""
        return self.values[..., INDEX[name]]

    def __setitem__(self, name: str, value: Array) -> None:
        self.values[..., INDEX[name]] = value

    def put(self, **columns: Array) -> None:
        """Set columns; values broadcast to [E, N]."""
        for name, value in columns.items():
            self[name] = value

    def vector(self, name: str, unit: str = "") -> np.ndarray:
        """[E, N, 3] of three columns."""
        return np.stack([self[f"{name}_{axis}{unit}"] for axis in "xyz"], -1)

    def put_vector(self, name: str, value: np.ndarray, unit: str = "") -> None:
        """Set three columns from [..., 3]."""
        for i, axis in enumerate("xyz"):
            self[f"{name}_{axis}{unit}"] = value[..., i]

    def plain(self, episode: int) -> dict[str, list[float]]:
        """Return one episode's numbers by name for the report, without those that have no effect."""
        rows = self.values[episode]
        return {c.name: [float(x) for x in rows[:, i]] for i, c in enumerate(COLUMNS) if (rows[:, i] != c.rest).any()}


def read_attack(plain: dict[str, list[float]], count: int) -> Attack:
    """The attack of N robots that `Attack.plain` has written."""
    attack = Attack.blank(1, count)
    for name, values in plain.items():
        attack[name] = np.array(values)
    return attack
