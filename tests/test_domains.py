"""Generic modules know no kind of team: none of them imports a domain."""

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest

from robomarl.core.domain.onboard import LazyImport
from robomarl.core.domain.registry import commands, domains
from tests.test_imports import imports_of, modules

# What belongs to one kind of team only; a prefix stands for the module and for all that is below it.
DOMAINS = ("flight", "soccer", "ground", "volleyball")
PREFIXES = [f"robomarl.domains.{name}" for name in DOMAINS]


def of_domain(module: str) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in PREFIXES)


def module_of(target: str, known: Iterable[str]) -> str | None:
    """The module in which an imported name is: `robomarl.core.view` of `robomarl.core.view.LocalView`."""
    parts = target.split(".")
    prefixes = [".".join(parts[:size]) for size in range(len(parts), 0, -1)]
    return next((prefix for prefix in prefixes if prefix in known), None)


def generic_imports(known: dict[str, Path]) -> dict[str, set[str]]:
    """What each generic module imports of the known ones, in functions too."""
    found = {}
    for name, path in known.items():
        if not of_domain(name):
            others = {module_of(target.name, known) for target in imports_of(name, path)}
            found[name] = {other for other in others if other}
    return found


def domain_imports(generic: dict[str, set[str]]) -> set[str]:
    """`IMPORTER IMPORTED` of all generic modules that import one of a domain."""
    return {f"{name} {other}" for name, others in generic.items() for other in others if of_domain(other)}


@pytest.fixture(scope="module")
def generic(root: Path) -> dict[str, set[str]]:
    """What each generic module imports."""
    return generic_imports(modules(root))


@pytest.mark.parametrize(
    ("module", "is_domain"),
    [
        ("robomarl.domains.flight", True),
        ("robomarl.domains.flight.core.payload.scenario", True),
        ("robomarl.domains", False),
        ("robomarl.lab.sim.scenario", False),
        ("robomarl.ros.robot.startup", False),
        ("robomarl", False),
    ],
)
def test_modules_of_domains_are_known(module: str, is_domain: bool):
    assert of_domain(module) is is_domain


def test_imports_into_domains_are_found(tmp_path: Path):
    sources = {
        "robomarl.lab.sim.env": "def f():\n    from robomarl.domains.soccer.lab.game import SoccerWorld",
        "robomarl.core.domain.registry": "from ...domains.flight import scenario\nimport robomarl.lab.sim.env",
        "robomarl.domains.flight.scenario": "from robomarl.domains.soccer import game",
        "robomarl.domains.soccer.lab.game": "",
    }
    known = {name: tmp_path / f"{name}.py" for name in sources}
    for name, path in known.items():
        path.write_text(sources[name])
    wrong = {
        "robomarl.lab.sim.env robomarl.domains.soccer.lab.game",
        "robomarl.core.domain.registry robomarl.domains.flight.scenario",
    }
    assert domain_imports(generic_imports(known)) == wrong


def test_every_prefix_of_a_domain_is_there(root: Path):
    known = modules(root)
    assert [prefix for prefix in PREFIXES if prefix not in known] == []


def test_no_generic_module_imports_a_domain(generic: dict[str, set[str]]):
    found = sorted(domain_imports(generic))
    assert not found, "\n".join(["generic modules ask the domain, and import none of its modules:", *found])


def words_of_domains() -> set[str]:
    """Domains, their tasks, and what only their commands have."""
    kinds = {name for domain in domains().values() for name in (domain.name, *domain.tasks)}
    return kinds | {name for command in commands() for name in command.further}


def compared_with(source: str) -> set[str]:
    """The words that a module compares something with: `==`, `in`, `match`."""
    asked = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare | ast.MatchValue)]
    parts = [part for node in asked for part in ast.walk(node)]
    return {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('if task == "soccer": pass', {"soccer"}),
        ('x = 1 if "kick" in names else 2', {"kick"}),
        ('ok = kind in ("swap", "lift")', {"swap", "lift"}),
        ('match domain:\n    case "flight":\n        pass', {"flight"}),
        ('figures = {"flight": 1}', set()),
    ],
)
def test_questions_for_a_kind_of_team_are_found(source: str, found: set[str]):
    assert compared_with(source) == found


def test_no_generic_module_asks_which_domain_it_is(root: Path):
    words, known = words_of_domains(), modules(root)
    assert {"soccer", "lift", "navigation", "kick"} <= words
    found = {name: compared_with(path.read_text()) & words for name, path in known.items() if not of_domain(name)}
    assert {name: asked for name, asked in found.items() if asked} == {}


def asks_a_scenario(source: str) -> list[str]:
    """Calls of `getattr` and `hasattr` on a scenario, which only one that does not know its keys needs."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and len(node.args) > 1]
    named = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("getattr", "hasattr")]
    fixed = [call for call in named if isinstance(call.args[1], ast.Constant)]
    return [ast.unparse(call) for call in fixed if ast.unparse(call.args[0]).endswith("scenario")]


def test_questions_for_a_key_of_a_scenario_are_found():
    assert asks_a_scenario('x = getattr(run.scenario, "sees", "eyes") == "all"')
    assert asks_a_scenario('if hasattr(scenario, "load"): pass')
    assert not asks_a_scenario('z = getattr(args, "scenario")')


def test_no_generic_module_looks_for_a_key_that_only_some_scenarios_have(root: Path):
    known = {name: path for name, path in modules(root).items() if not of_domain(name)}
    found = {name: asks_a_scenario(path.read_text()) for name, path in known.items()}
    assert {name: calls for name, calls in found.items() if calls} == {}


def test_no_generic_module_knows_commands_by_how_many_numbers_they_have(generic: dict[str, set[str]]):
    """What goes around the filter for other commands, the domain names; nobody imports it."""
    around = [command.around for command in commands()]
    adapters = {lazy.name.partition(":")[0] for lazy in around if isinstance(lazy, LazyImport)}
    assert adapters == {"robomarl.core.filter.body_rates", "robomarl.core.filter.policy_gain_filter"}
    assert [name for name, others in generic.items() if others & adapters] == []
