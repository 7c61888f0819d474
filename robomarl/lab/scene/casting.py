"""`live_stage`, `baseline_stage`: a policy or a scenario by name, with its engine and pilot, as a `LiveStage`."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.domain.scenario import needed
from robomarl.core.spec import ActionSpec
from robomarl.core.types import FilterResult
from robomarl.core.view import LocalView, Plan
from robomarl.lab.evaluate.episodes import Moves
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.resolve import BASELINE, is_run, resolve_policy
from robomarl.lab.scene.live import Cast, LiveStage
from robomarl.lab.scene.scene import Staging
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.simulation import simulation_of


def staging_of(scenario: Scenario) -> Staging:
    """Return how the kind of team of a scenario is shown; raises `UserError` if it is not shown."""
    return needed(simulation_of(scenario).staging, scenario, "view")


def live_stage(name: str, scenario_name: str, sim: str, mode: str, seed: int) -> LiveStage:
    """Return a policy at work: a bundle, a run folder.

    Args:
        name: name or folder of the policy.
        scenario_name: another scenario than the policy's own; "" for its own.
        sim: engine.
        mode: a name of `robomarl.lab.evaluate.evaluate.FILTERS`.
        seed: seed of the episodes.

    Raises:
        UserError: there is no such policy or scenario, or the two do not fit.
    """
    scenario, moves = _cast(name, scenario_name, mode)
    engine = simulation_of(scenario).batch(scenario, sim, 1, seed)
    return LiveStage(Cast(engine, staging_of(scenario), moves), _newest(name, scenario_name, mode))


def baseline_stage(name: str, sim: str, mode: str, seed: int) -> LiveStage:
    """Return a scenario whose robots the scripted controller of its domain moves; without one they stay."""
    scenario = load_scenario(name)
    simulation, staging = simulation_of(scenario), staging_of(scenario)
    engine = simulation.batch(scenario, sim, 1, seed)
    if staging.moves:
        scenario, moves = staging.moves("", scenario, mode)
    elif BASELINE in simulation.controllers:
        moves = make_pilot(simulation.controllers[BASELINE](scenario), scenario, mode)
    else:
        moves = Rest(simulation.action(scenario))
    return LiveStage(Cast(engine, staging, moves))


class Rest:
    """The pilot of robots that stay: every command is 0, or the nearest value that the action allows."""

    def __init__(self, action: ActionSpec) -> None:
        """Take the limits of the commands."""
        low, high = np.array(action.low), np.array(action.high)
        self._command = np.clip(0.0, low, high).astype(np.float32)

    def init(self, view: LocalView) -> tuple:
        """Return no memory."""
        return ()

    def step(self, carry: tuple, view: LocalView) -> tuple[tuple, FilterResult]:
        """Return (no memory, the same command for all robots)."""
        lead = view.own.pos_m.shape[:-1]
        command = np.broadcast_to(self._command, (*lead, len(self._command)))
        zero = np.zeros(lead, np.float32)
        idle = zero.astype(bool)
        return (), FilterResult(command, command, idle, zero, ~idle, zero.astype(np.int32), zero + np.inf)

    def plan(self, carry: tuple) -> Plan | None:
        """Return no plan."""
        return None


def _cast(name: str, scenario_name: str, mode: str) -> tuple[Scenario, Moves]:
    """Return the scenario and the pilot of a policy."""
    policy, scenario = resolve_policy(name, scenario_name or None)
    if (moves := staging_of(scenario).moves) is not None:
        return moves(name, scenario, mode)
    crew = simulation_of(scenario).evaluation.mixed_team(policy, scenario)
    return scenario, make_pilot(crew, scenario, mode)


def _newest(name: str, scenario_name: str, mode: str) -> Callable[[], Moves | None]:
    """Return a function that loads the policy of a run again if a file of its folder has changed."""
    folder = Path(name)
    seen = [_changed_s(folder)]

    def newest() -> Moves | None:
        if not is_run(folder) or (now := _changed_s(folder)) == seen[0]:
            return None
        seen[0] = now
        try:
            return _cast(name, scenario_name, mode)[1]
        except (UserError, OSError):  # a checkpoint that is just being written: the one before goes on
            return None

    return newest


def _changed_s(folder: Path) -> float:
    """Return when a checkpoint below a run folder was last written [s since the epoch]; 0 for none."""
    return max((file.stat().st_mtime for file in folder.glob("**/*checkpoint*")), default=0.0)
