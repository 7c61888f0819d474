"""The registry of domains: those that ship and those of other packages come through the same entry points.

A package that can't be imported takes nothing else with it: `domains` leaves it out, and what asks for it by name, or
for a task or feature that might be its own, gets the sentence of `broken`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from robomarl.core.config import UserError
from robomarl.core.domain.base import Domain
from robomarl.core.domain.onboard import Command, Onboard
from robomarl.core.features import FEATURES

GROUP = "robomarl.domains"
"""Entry points: `NAME = "module:DOMAIN"`."""
TASKS = "robomarl.tasks"
"""Entry points of rewards for flying teams: `NAME_IN_SCENARIO_FILES = "module:TASK"`."""
FEATURES_GROUP = "robomarl.features"
"""Entry points of features that are not a domain's: `NAME_OF_THE_FEATURE = "module"`, which registers it."""
DEFAULT = "flight"
"""The domain of tasks that came through the entry points `robomarl.tasks`."""


class Installed(dict[str, Domain]):
    """The domains that can be imported, by name."""

    broken: Mapping[str, str] = {}
    """A sentence for each that can't be, by name."""


@cache
def domains() -> Mapping[str, Domain]:
    """All that are installed and can be imported, by name; see `broken`."""
    found = {point.name: _domain(point) for point in sorted(entry_points(group=GROUP), key=lambda p: p.name)}
    installed = Installed({name: domain for name, domain in found.items() if isinstance(domain, Domain)})
    installed.broken = {name: domain for name, domain in found.items() if isinstance(domain, str)}
    return installed


def broken() -> Mapping[str, str]:
    """A sentence for each domain that is installed and can't be imported, by name."""
    return getattr(domains(), "broken", {})


def _domain(point: EntryPoint) -> Domain | str:
    """What an entry point names, or a sentence that says why that is no domain."""
    try:
        domain = point.load()
    except Exception as error:  # whatever another package's module raises
        return f"Domain {point.name!r}: {unusable(point, error)}"
    if isinstance(domain, Domain):
        return domain
    return f"Domain {point.name!r}: {point.value} is no Domain; see docs/new_domain.md."


def unusable(point: EntryPoint, error: Exception) -> str:
    """Why an entry point can't be loaded and what mends it, as the end of a sentence."""
    package = point.dist.name if point.dist else point.module
    told = (str(error).splitlines() or [type(error).__name__])[0]
    return f"{point.value} can't be imported ({told}); repair or uninstall the package {package}."


def domain_of(content: Mapping[str, Any]) -> Domain:
    """The domain of a scenario, by the keys of its file: `domain` where it is said, else by `task`.

    Raises:
        UserError: there is none of that name, or none with that task.
    """
    if "domain" in content:
        return domain_named(content["domain"])
    return domain_of_task(content.get("task", ""))


def domain_of_task(task: str) -> Domain:
    """The domain with that task; raises `UserError` where there is none, or where two claim it."""
    owners = [name for name, domain in domains().items() if task in domain.tasks]
    if len(owners) > 1:
        raise UserError(f"task = {task!r} belongs to two domains, {owners[0]} and {owners[1]}; uninstall one.")
    if owners:
        return domains()[owners[0]]
    if entry_points(group=TASKS, name=task):
        return domain_named(DEFAULT)
    known = ", ".join(sorted(task for domain in domains().values() for task in domain.tasks))
    said = f"task = {task!r} is not known; allowed: {known}, or one that an installed package adds."
    raise UserError(" ".join([said, *broken().values()]))


def domain_named(name: str) -> Domain:
    """The domain of that name; raises `UserError` where there is none."""
    if name in broken():
        raise UserError(broken()[name])
    if name not in domains():
        raise UserError(f"domain = {name!r} is not installed; allowed: {', '.join(sorted(domains()))}.")
    return domains()[name]


def onboard_of(content: Mapping[str, Any]) -> Onboard:
    """What robots and their operator have to know of a scenario's domain.

    A task that no domain here has is one of another package, which only training needs: a flying team's.

    Raises:
        UserError: the content says a `domain` that is not installed; or no domain here has its task, and one that
            can't be imported may be the one.
    """
    tasks = {task for domain in domains().values() for task in domain.tasks}
    if "domain" in content or content.get("task") in tasks:
        return domain_of(content).onboard
    if content.get("task") and broken() and not entry_points(group=TASKS, name=content["task"]):
        raise UserError(" ".join([f"task = {content['task']!r} may be of what is broken here.", *broken().values()]))
    return domain_named(DEFAULT).onboard


def halves(half: str) -> Iterator[Any]:
    """The halves of that name, `onboard` or `simulation`, of every domain that has all that it needs."""
    for domain in domains().values():
        try:
            yield getattr(domain, half)
        except UserError:
            continue  # what needs this domain asks it by name, and is told


def commands() -> list[Command]:
    """Every kind of command; domains may share one."""
    return [command for onboard in halves("onboard") for command in onboard.commands]


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
    """Let every domain that can be imported register its features."""
    for domain in domains().values():
        _import_features(domain)


def find_features(names: Iterable[str], content: Mapping[str, Any] | None = None) -> str:
    """Import what registers these features, and no more than that; nothing where all are registered.

    Looked at are, until nothing is missing: the entry points `robomarl.features` of these names, the domain of the
    scenario, the module of its task if that is one of `robomarl.tasks`, and last of all every other domain.

    Args:
        names: of features.
        content: the keys of the scenario that they were trained for, where it is known.

    Returns:
        Why some are still missing, where a reason is known: sentences.
    """
    wanted, content = set(names), content or {}
    task = [point for point in entry_points(group=TASKS, name=content.get("task", "")) if content.get("task")]
    named = [point for name in sorted(wanted) for point in entry_points(group=FEATURES_GROUP, name=name)]
    known = [domain for domain in domains().values() if content.get("task") in domain.tasks]
    steps: list[Callable[[], str]] = [partial(_import_point, point) for point in named if point.name not in FEATURES]
    steps += [partial(_import_features, domain) for domain in known]
    steps += [partial(_import_point, point) for point in task]
    steps += [partial(_import_features, domain) for domain in domains().values() if domain not in known]
    said = []
    for step in steps:
        if wanted <= set(FEATURES):
            return ""
        said.append(step())
    if wanted <= set(FEATURES):
        return ""
    if content.get("task") and not known and not task:
        said.append(f"No package that is installed here has task = {content['task']!r}; install the one it is of.")
    return " ".join(filter(None, [*said, *broken().values()]))


def _import_point(point: EntryPoint) -> str:
    try:
        import_module(point.module)
    except Exception as error:  # whatever another package's module raises
        return f"Entry point {point.name!r} of {point.group}: {unusable(point, error)}"
    return ""


def _import_features(domain: Domain) -> str:
    try:
        for module in domain.onboard.features:
            import_module(module)
    except UserError as error:
        return str(error)
    except Exception as error:  # whatever another package's module raises
        return f"Domain {domain.name!r}: its features can't be imported ({error}); repair or uninstall its package."
    return ""
