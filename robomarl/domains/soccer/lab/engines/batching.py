"""Tables of robots, taken apart and put together again, and the sub-step parts that all engines share.
Array-generic.
"""

from collections.abc import Sequence
from typing import TypeVar

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.physics.contact import Contacts
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots
from robomarl.domains.soccer.lab.placement import sides
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.sim.engines.delay import command_in_force

T = TypeVar("T", bound=tuple)
"""A table: a NamedTuple of arrays."""


def unstack(table: T) -> list[T]:
    """A NamedTuple of arrays [..., M] as M NamedTuples of arrays [...]."""
    return [type(table)(*(part[..., i] for part in table)) for i in range(table[0].shape[-1])]


def stack(rows: Sequence[T]) -> T:
    """The inverse of `unstack`."""
    return type(rows[0])(*(namespace(*parts).stack(parts, -1) for parts in zip(*rows, strict=True)))


def fired(scenario: SoccerScenario, robot: OmniRobots, contacts: Contacts, now: Array) -> tuple[OmniRobots, Contacts]:
    """A kicker that has fired has to be charged again."""
    charge_s = namespace(now).where(now, scenario.kicker.recharge_s, robot.charge_s)
    return robot._replace(charge_s=charge_s), contacts._replace(kicked=contacts.kicked | now)


def world_command(scenario: SoccerScenario, game: SoccerWorld, index: Array) -> tuple[Array, ...]:
    """The commands in force in a sub-step, [..., M] each, accelerations in the world frame, kicks scaled."""
    side = namespace(game.robots.x).asarray(sides(scenario))
    ax, ay, turn, speed = command_in_force(game, index, scenario.substeps)  # type: ignore[arg-type]
    return side * ax, side * ay, turn, speed * game.hidden.kick_scale


def cast(table: T, game: SoccerWorld) -> T:
    """Numbers in the precision of the game."""
    dtype = game.ball.x.dtype
    return type(table)(*(part if part.dtype == bool else part.astype(dtype) for part in table))
