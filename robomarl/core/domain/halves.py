"""The halves of the domain that a scenario belongs to."""

from collections.abc import Mapping
from typing import Any

from robomarl.core.config import UserError
from robomarl.core.domain.field import FieldWork
from robomarl.core.domain.registry import DEFAULT, domain_named, domain_of, domain_of_task
from robomarl.core.domain.simulation import Simulation


def simulation_of(scenario: Any) -> Simulation:
    """The half that simulates of the domain that a scenario belongs to; raises `UserError` where there is none."""
    return domain_of_task(scenario.task).simulation


def field_of(scenario: Any) -> FieldWork:
    """The half that learns from flights of the domain that a scenario belongs to; raises `UserError` as above."""
    return domain_of_task(scenario.task).field


def simulation_for(content: Mapping[str, Any], file: str) -> Simulation:
    """Return the half that simulates, by the keys of a scenario's file.

    Raises:
        UserError: no domain has its task; names the file.
    """
    if not isinstance(content.get("task", None), str):  # the scenario's own check says what is missing
        return domain_named(DEFAULT).simulation
    try:
        return domain_of(content).simulation
    except UserError as error:
        raise UserError(f"{file}: {error}") from None


def needed(member: Any, scenario: Any, what: str, mend: str = "name another scenario") -> Any:
    """Return the optional member of a domain's simulation.

    Args:
        member: None if the domain has none.
        scenario: scenario of the domain.
        what: name of the missing member, as the error gives it.
        mend: advice to the user.

    Raises:
        UserError: the member is None.
    """
    if member is None:
        raise UserError(f"{scenario.name}.toml: task = {scenario.task!r} has no {what}; {mend}.")
    return member
