"""Policies by name: a bundle, a run folder, or the model-based `baseline`; all with one interface."""

from pathlib import Path
from typing import overload

from robomarl.core.bundle.bundle import is_bundle
from robomarl.core.config import UserError, suggest
from robomarl.core.paths import bundles_dir
from robomarl.lab.evaluate.evaluation import FlownPolicy
from robomarl.lab.evaluate.sealed_scenario import opened_from_bundle
from robomarl.lab.sim.scenario import S, Scenario, load_scenario, of_team_kind
from robomarl.lab.simulation import simulation_of, simulations
from robomarl.lab.train.policy_search.structured import LawRunPolicy, is_law, load_law
from robomarl.lab.train.stages.plan import is_staged

BASELINE = "baseline"
"""Name of the untrained controller, in every kind of team that has one."""


@overload
def resolve_policy(name: str, scenario: str | None = None) -> tuple[FlownPolicy, Scenario]: ...
@overload
def resolve_policy(name: str, scenario: str | None = None, *, kind: type[S]) -> tuple[FlownPolicy, S]: ...
def resolve_policy(
    name: str, scenario: str | None = None, *, kind: type[Scenario] = Scenario
) -> tuple[FlownPolicy, Scenario]:
    """Return the policy of that name, and the scenario to fly it in.

    Args:
        name: a shipped bundle, the folder of a bundle or run, or a controller of the scenario's domain
            as `baseline`.
        scenario: name or path of another scenario than the policy's own.
        kind: required class of the scenario, if not every kind of team is allowed.

    Raises:
        UserError: unknown name, a controller without a scenario, a scenario of a domain that lacks the
            controller, or one of another kind of team.
    """
    if is_controller(name):
        if scenario is None:
            raise UserError(f"The policy {name!r} belongs to no scenario; add --scenario NAME.")
        chosen = load_scenario(scenario, kind)
        return controller(name, chosen), chosen
    policy = _load(name)
    if scenario:
        return policy, load_scenario(scenario, kind)
    own = own_scenario(policy, name)
    return policy, of_team_kind(own, kind, f"{own.name}.toml")


def is_controller(name: str) -> bool:
    """Return True if some domain has an untrained controller of that name."""
    return any(name in simulation.controllers for simulation in simulations())


def controller(name: str, scenario: Scenario) -> FlownPolicy:
    """The policy of that name that the scenario's domain has; raises `UserError` where it has none."""
    controllers = simulation_of(scenario).controllers
    if name not in controllers:
        known, task = ", ".join(controllers) or "none", scenario.task
        raise UserError(f"--scenario {scenario.name}: task = {task!r} has no policy {name!r}; it has: {known}.")
    return controllers[name](scenario)


def own_scenario(policy: FlownPolicy, name: str) -> Scenario:
    """The scenario that the policy was trained for, whole: it is in the run folder and in the bundle."""
    if is_run(Path(name)):
        from robomarl.lab.train.run.run_folder import load_recipe_of

        return load_recipe_of(Path(name))[1]
    return opened_from_bundle(policy.bundle)  # type: ignore[attr-defined]


def is_run(folder: Path) -> bool:
    """Return True if `robomarl train --out` made the folder for one run."""
    return (folder / "config.json").is_file() and (folder / "scenario.json").is_file()


def _load(name: str) -> FlownPolicy:
    if is_law(name):
        return LawRunPolicy(load_law(name))
    if is_run(Path(name)) or is_staged(Path(name)):  # of the latter the error says which folder to name
        from robomarl.lab.train.run.run_folder import load_policy as load_run_policy

        return load_run_policy(name)
    if is_bundle(name):
        from robomarl.core.bundle.runtime import load_policy as load_bundle_policy

        return load_bundle_policy(name)
    known = sorted(p.parent.name for p in bundles_dir().glob("*/bundle.json"))
    meant = suggest(Path(name).name, [BASELINE, *known], "name a run's or bundle's folder, a ZIP file, or one of")
    raise UserError(f"Unknown policy {name!r}: no run folder or bundle there; {meant}")
