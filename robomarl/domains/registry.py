"""The registry of domains: those that ship and those of other packages come through the same entry points."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from robomarl.config import UserError
from robomarl.domains.base import Domain
from robomarl.domains.onboard import Command, Onboard

GROUP = "robomarl.domains"
"""Entry points: `NAME = "module:DOMAIN"`."""
DEFAULT = "flight"
"""The domain of tasks that came through the entry points `robomarl.tasks`, which are rewards for flying teams."""


@cache
def domains() -> Mapping[str, Domain]:
    """All that are installed, by name.

    Raises:
        UserError: two claim the same task.
    """
    found = {point.name: point.load() for point in sorted(entry_points(group=GROUP), key=lambda p: p.name)}
    owner: dict[str, str] = {}
    for name, domain in found.items():
        for task in domain.tasks:
            if task in owner:
                raise UserError(f"task = {task!r} belongs to two domains, {owner[task]} and {name}; uninstall one.")
            owner[task] = name
    return found


def domain_of(content: Mapping[str, Any]) -> Domain:
    """The domain of a scenario, by the keys of its file: `domain` where it is said, else by `task`.

    Raises:
        UserError: there is none of that name, or none with that task.
    """
    if "domain" in content:
        return domain_named(content["domain"])
    return domain_of_task(content.get("task", ""))


def domain_of_task(task: str) -> Domain:
    """The domain with that task; raises `UserError` where there is none."""
    for domain in domains().values():
        if task in domain.tasks:
            return domain
    if entry_points(group="robomarl.tasks", name=task):
        return domain_named(DEFAULT)
    known = ", ".join(sorted(task for domain in domains().values() for task in domain.tasks))
    raise UserError(f"task = {task!r} is not known; allowed: {known}, or one that an installed package adds.")


def domain_named(name: str) -> Domain:
    """The domain of that name; raises `UserError` where there is none."""
    if name not in domains():
        raise UserError(f"domain = {name!r} is not installed; allowed: {', '.join(sorted(domains()))}.")
    return domains()[name]


def onboard_of(content: Mapping[str, Any]) -> Onboard:
    """What robots and their operator have to know of a scenario's domain.

    A task that no domain here has is one of another package, which only training needs: a flying team's.

    Raises:
        UserError: the content says a `domain` that is not installed.
    """
    tasks = {task for domain in domains().values() for task in domain.tasks}
    if "domain" in content or content.get("task") in tasks:
        return domain_of(content).onboard
    return domain_named(DEFAULT).onboard


def commands() -> list[Command]:
    """Every kind of command; domains may share one."""
    return [command for domain in domains().values() for command in domain.onboard.commands]


def command_of(action: Any) -> Command:
    """The kind of command of an `ActionSpec`; for one that no domain has, that of flying robots."""
    names = {field.name for field in action.fields}
    kind = next((kind for kind in commands() if set(kind.elements) == names), None)
    return kind or domain_named(DEFAULT).onboard.commands[0]


def filter_for(action: Any, params: Any, mode: str = "qp", **more: Any) -> Any:
    """The filter for commands of this kind; see `command_of`.

    Args:
        action: `ActionSpec`, what is commanded.
        params: `SafetyParams`.
        mode: as of `SafetyFilter`.
        more: what else that takes.
    """
    return command_of(action).filter(params, mode, **more)


@cache
def load_features() -> None:
    """Let every domain register its features."""
    for domain in domains().values():
        for module in domain.onboard.features:
            import_module(module)
