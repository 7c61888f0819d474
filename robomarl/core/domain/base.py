"""`Domain`: a kind of robot team, by the names of its halves. Imports nothing of either."""

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from robomarl.core.config import UserError

if TYPE_CHECKING:
    from robomarl.core.domain.onboard import Onboard

K = TypeVar("K")
"""The class that a part of a domain has to be of."""


@dataclass(frozen=True)
class Domain:
    """Kind of team that a scenario's `task` belongs to. Registered by the entry point `robomarl.domains`."""

    name: str
    """Name of the folder and of the entry point."""
    tasks: tuple[str, ...]
    """Values of `task` in scenario files that belong to it."""
    onboard_half: str
    """`module:NAME` of an `Onboard`, which robots and their operator import, without JAX and MuJoCo."""
    simulation_half: str
    """`module:NAME` of a `Simulation`, which trains, evaluates and rehearses."""
    field_half: str = ""
    """`module:NAME` of a `FieldWork`, which learns from recorded flights; "" if the domain has none."""

    @cached_property
    def onboard(self) -> "Onboard":
        """The half that robots import; raises `UserError` if it can't be imported."""
        from robomarl.core.domain.onboard import Onboard

        return of_kind(_resolved(self.name, self.onboard_half), Onboard, f"Domain {self.name!r}: {self.onboard_half}")

    @cached_property
    def simulation(self) -> object:
        """The half that simulates; raises `UserError` if it can't be imported."""
        return _resolved(self.name, self.simulation_half)

    @cached_property
    def field(self) -> object:
        """The half that learns from flights; raises `UserError` if it is named and can't be imported."""
        return _resolved(self.name, self.field_half) if self.field_half else None


def of_kind(found: object, kind: type[K], where: str) -> K:
    """Return an object of a domain after a check that it is of the required class.

    Args:
        found: the object.
        kind: its class.
        where: the domain and its part, the subject of the error.

    Raises:
        UserError: it is of another class.
    """
    if not isinstance(found, kind):
        raise UserError(f"{where} is a {type(found).__name__}, not a {kind.__name__}; see docs/new_domain.md.")
    return found


def _resolved(domain: str, where: str) -> object:
    module, _, name = where.partition(":")
    try:
        return getattr(import_module(module), name)
    except UserError:
        raise
    except Exception as error:  # whatever another package's module raises
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"Domain {domain!r}: {where} can't be imported ({told}); install what it needs.") from error
