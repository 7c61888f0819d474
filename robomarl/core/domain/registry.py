"""Registry of domains. All domains, those of robomarl and those of other packages, come through entry points.

A package that can't be imported does not affect others: `domains` leaves it out, and a caller that
asks for it by name, or for a task or feature that might be its own, gets the sentence of `broken`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Protocol

from robomarl.core.config import UserError
from robomarl.core.domain.base import Domain
from robomarl.core.domain.onboard import Command, Content, Onboard
from robomarl.core.features import FEATURES

if TYPE_CHECKING:
    from robomarl.core.filter.filter import SafetyFilter
    from robomarl.core.filter.model.constants import Mode
    from robomarl.core.filter.params import SafetyParams

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
    """Return the domain that an entry point names, or a sentence with the reason why it is no domain."""
    try:
        domain = point.load()
    except Exception as error:  # whatever another package's module raises
        return f"Domain {point.name!r}: {unusable(point, error)}"
    if isinstance(domain, Domain):
        return domain
    return f"Domain {point.name!r}: {point.value} is no Domain; see docs/new_domain.md."


def unusable(point: EntryPoint, error: Exception) -> str:
    """Return the reason why an entry point can't be loaded, and the fix, as the end of a sentence."""
    package = point.dist.name if point.dist else point.module
    told = (str(error).splitlines() or [type(error).__name__])[0]
    return f"{point.value} can't be imported ({told}); repair or uninstall the package {package}."


def domain_of(content: Content) -> Domain:
    """The domain of a scenario, by the keys of its file: `domain` where it is said, else by `task`.

    Raises:
        UserError: there is none of that name, or none with that task.
    """
    if "domain" in content:
        return domain_named(content["domain"])
    return domain_of_task(content.get("task", ""))


def domain_of_task(task: object) -> Domain:
    """The domain with that task; raises `UserError` where there is none, or where two claim it."""
    owners = [name for name, domain in domains().items() if task in domain.tasks]
    if len(owners) > 1:
        raise UserError(f"task = {task!r} belongs to two domains, {owners[0]} and {owners[1]}; uninstall one.")
    if owners:
        return domains()[owners[0]]
    if _is_task(task):
        return domain_named(DEFAULT)
    known = ", ".join(sorted(task for domain in domains().values() for task in domain.tasks))
    said = f"task = {task!r} is not known; allowed: {known}, or one that an installed package adds."
    raise UserError(" ".join([said, *broken().values()]))


def _is_task(task: object) -> bool:
    """True if a package adds this task to the domain `DEFAULT`."""
    return bool(_task_points(task))


def _task_points(task: object) -> list[EntryPoint]:
    return list(entry_points(group=TASKS, name=task)) if isinstance(task, str) and task else []


def domain_named(name: object) -> Domain:
    """The domain of that name; raises `UserError` where there is none."""
    if isinstance(name, str) and name in broken():
        raise UserError(broken()[name])
    if not isinstance(name, str) or name not in domains():
        raise UserError(f"domain = {name!r} is not installed; allowed: {', '.join(sorted(domains()))}.")
    return domains()[name]


def onboard_of(content: Content) -> Onboard:
    """Return the half of a scenario's domain that robots and their operator import.

    A task of no installed domain belongs to a flying team of another package, which only training
    needs.

    Raises:
        UserError: the content says a `domain` that is not installed; or no domain here has its task,
            and one that can't be imported may be the one.
    """
    tasks = {task for domain in domains().values() for task in domain.tasks}
    if "domain" in content or content.get("task") in tasks:
        return domain_of(content).onboard
    task = content.get("task")
    if task and broken() and not _is_task(task):
        raise UserError(" ".join([f"task = {task!r} may be of what is broken here.", *broken().values()]))
    return domain_named(DEFAULT).onboard


def commands() -> list[Command]:
    """Every kind of command of domains that have all that they need; domains may share one."""
    return [command for onboard in _onboards() for command in onboard.commands]


def _onboards() -> Iterator[Onboard]:
    for domain in domains().values():
        try:
            yield domain.onboard
        except UserError:
            continue  # the error is for a caller that asks for this domain by its name


class HasName(Protocol):
    """An element of a command."""

    @property
    def name(self) -> str:
        """Its name, as in `Command.elements`."""
        ...


class HasFields(Protocol):
    """Structural type of an `ActionSpec`, because its module needs this one."""

    @property
    def fields(self) -> Sequence[HasName]:
        """The elements in order."""
        ...


def command_of(action: HasFields) -> Command:
    """The kind of command of an action; for one that no domain has, that of flying robots."""
    names = {field.name for field in action.fields}
    kind = next((kind for kind in commands() if set(kind.elements) == names), None)
    return kind or domain_named(DEFAULT).onboard.commands[0]


def filter_for(action: HasFields, params: "SafetyParams", mode: "Mode" = "qp") -> "SafetyFilter":
    """Return the filter for commands of this kind; see `command_of`.

    Args:
        action: `ActionSpec` of the commands.
        params: `SafetyParams`.
        mode: as in `SafetyFilter`.
    """
    return command_of(action).filter(params, mode)


def find_features(names: Iterable[str], content: Content | None = None) -> str:
    """Import the modules that register these features, and no more; nothing if all are registered.

    Looked at are, until nothing is missing: the entry points `robomarl.features` of these names, the
    domain of the scenario, the module of its task if that is one of `robomarl.tasks`, and last of all
    every other domain.

    Args:
        names: names of features.
        content: the keys of the scenario that they were trained for, if it is known.

    Returns:
        Sentences with the known reasons why features are still missing; empty if there are none.
    """
    wanted, content = set(names), content or {}
    if wanted <= set(FEATURES):
        return ""  # to look at entry points reads a file of each package
    task = _task_points(content.get("task"))
    named = [point for point in entry_points(group=FEATURES_GROUP) if point.name in wanted]
    known = [domain for domain in domains().values() if content.get("task") in domain.tasks]
    steps: list[Callable[[], str]] = [partial(_import_point, point) for point in named if point.name not in FEATURES]
    steps += [partial(_import_features, domain) for domain in known]
    steps += [partial(_import_point, point) for point in task]
    steps += [partial(_import_features, domain) for domain in domains().values() if domain not in known]
    said: list[str] = []
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
