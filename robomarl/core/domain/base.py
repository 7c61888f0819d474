"""`Domain`: a kind of robot team, by the names of its halves. Imports nothing of either."""

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from robomarl.core.config import UserError

if TYPE_CHECKING:
    from robomarl.core.domain.field import FieldWork
    from robomarl.core.domain.onboard import Onboard
    from robomarl.core.domain.simulation import Simulation


@dataclass(frozen=True)
class Domain:
    """What a scenario's `task` leads to. Registered by the entry point `robomarl.domains`."""

    name: str
    """Of the folder, and of the entry point."""
    tasks: tuple[str, ...]
    """Values of `task` in scenario files that belong to it."""
    onboard_half: str
    """`module:NAME` of an `Onboard`: what robots and their operator import, without JAX and MuJoCo."""
    simulation_half: str
    """`module:NAME` of a `Simulation`: what trains, evaluates and rehearses."""
    field_half: str = ""
    """`module:NAME` of a `FieldWork`: what learns from recorded flights; "" where nothing does."""

    @cached_property
    def onboard(self) -> "Onboard":
        """What robots import; raises `UserError` where it is not there."""
        return _resolved(self.name, self.onboard_half)

    @cached_property
    def simulation(self) -> "Simulation":
        """What simulates; raises `UserError` where it is not there."""
        return _resolved(self.name, self.simulation_half)

    @cached_property
    def field(self) -> "FieldWork":
        """What learns from flights; raises `UserError` where it is named and not there."""
        from robomarl.core.domain.field import FieldWork

        return _resolved(self.name, self.field_half) if self.field_half else FieldWork()


def _resolved(domain: str, where: str) -> Any:
    module, _, name = where.partition(":")
    try:
        return getattr(import_module(module), name)
    except UserError:
        raise
    except Exception as error:  # whatever another package's module raises
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"Domain {domain!r}: {where} can't be imported ({told}); install what it needs.") from error
