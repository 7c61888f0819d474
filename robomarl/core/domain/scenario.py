"""`ScenarioLike`: the properties of a scenario that the core uses, and `needed`, which rejects a missing member."""

from typing import Protocol, TypeVar

from robomarl.core.config import UserError

M = TypeVar("M")
"""An optional member of a domain's half."""


class ScenarioLike(Protocol):
    """A scenario of any kind of team."""

    @property
    def name(self) -> str:
        """The name that it was loaded by."""
        ...

    @property
    def task(self) -> str:
        """Reward and termination; leads to the domain."""
        ...


def needed(member: M | None, scenario: ScenarioLike, what: str, mend: str = "name another scenario") -> M:
    """Return the optional member of a domain's half.

    Args:
        member: None if the domain has none.
        scenario: the scenario that led to the domain.
        what: name of the missing member, as the error gives it.
        mend: advice to the user.

    Raises:
        UserError: the domain has none.
    """
    if member is None:
        raise UserError(f"{scenario.name}.toml: task = {scenario.task!r} has no {what}; {mend}.")
    return member
