"""Two teams of a game as one pilot of all robots: `BothSides`, of scripts and of trained teams behind their filters."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from robomarl.core.bundle.pilot import PilotCarry
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import Array
from robomarl.core.view import LocalView, Plan
from robomarl.lab.evaluate.evaluation import FlownPolicy
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.sim.sides import team_view
from robomarl.lab.simulation import Games, ScriptedPlayers
from robomarl.lab.trees import Tree

Carry = Any
"""Memory of a player: of a script, or of a policy and its filter."""


class Player(Protocol):
    """Controller of a team: a script, or a policy behind its observation and its filter."""

    name: str

    def plan(self, carry: Carry) -> Plan | None:
        """Return the plans [..., 3] each that its filters committed to at the decision that left this memory; None:
        it has none.
        """
        ...

    def init(self, view: LocalView) -> Carry:
        """Memory before the first decision, for the leading axes of the view."""
        ...

    def __call__(self, carry: Carry, view: LocalView) -> tuple[Carry, Array]:
        """(carry, view [...]) -> (carry, command [..., A])."""
        ...


class PilotedTeam:
    """A policy behind its filter, with the interface of a player."""

    def __init__(self, policy: FlownPolicy, scenario: Scenario, mode: str, params: SafetyParams | None = None) -> None:
        """Combine the policy with its filter in this mode; its parameters are those of the scenario, or `params`.

        Raises:
            UserError: the policy commands another kind of vehicle, or at another rate.
        """
        self.name = policy.name
        self._pilot = make_pilot(policy, scenario, mode, params)

    def init(self, view: LocalView) -> PilotCarry:
        """Memory before the first decision."""
        return self._pilot.init(view)

    def __call__(self, carry: PilotCarry, view: LocalView) -> tuple[PilotCarry, np.ndarray]:
        """(carry, view [...]) -> (carry, command [..., A])."""
        carry, result = self._pilot.step(carry, view)
        return carry, np.asarray(result.command, np.float32)

    def plan(self, carry: PilotCarry) -> Plan | None:
        """Return the plans that its filters committed to at the last decision; None without filters."""
        return self._pilot.plan(carry)


class ScriptTeam:
    """A script of a domain, with the interface of a player; it has no filter."""

    def __init__(self, games: Games, scenario: Scenario, name: str) -> None:
        """Take the script of that name; raises `UserError` where there is none."""
        self.name, self._games = name, games
        self._script: ScriptedPlayers = games.player(scenario, name)

    def init(self, view: LocalView) -> Carry:
        """Memory before the first decision."""
        return self._games.no_memory(np.asarray(view.own.pos_m)[..., 0] * 0)

    def __call__(self, carry: Carry, view: LocalView) -> tuple[Carry, Array]:
        """(carry, view [...]) -> (carry, command [..., A])."""
        return self._script(carry, view)

    def plan(self, carry: Carry) -> None:
        """Scripts commit to nothing."""


class Commands(NamedTuple):
    """Commands of both teams."""

    command: np.ndarray
    """[E, M, A]"""


class BothSides:
    """Two players as one controller of all robots of a game, [E, M, ...]."""

    def __init__(self, scenario: Scenario, first: Player, second: Player, exchanged: int = 0) -> None:
        """Take both players; the first one has our side, but in the last `exchanged` games the opponents'."""
        self._scenario, self._players, self._exchanged = scenario, (first, second), exchanged

    def init(self, view: LocalView) -> tuple[list[Carry], None]:
        """Memories of both, and no plan yet."""
        return [player.init(side) for player, side in zip(self._players, self._sides(view), strict=True)], None

    def step(
        self, carry: tuple[list[Carry], Plan | None], view: LocalView
    ) -> tuple[tuple[list[Carry], Plan], Commands]:
        """One decision of both."""
        memories, commands, plans = [], [], []
        for player, memory, seen in zip(self._players, carry[0], self._sides(view), strict=True):
            memory, command = player(memory, seen)
            memories.append(memory)
            commands.append(command)
            plans.append(player.plan(memory) or Plan(seen.own.pos_m, seen.own.vel_m_s, seen.own.pos_m))
        plan = Plan(*(self._together(*parts) for parts in zip(*plans, strict=True)))
        return (memories, plan), Commands(self._together(*commands))

    def plan(self, carry: tuple[list[Carry], Plan | None]) -> Plan | None:
        """Return the plans that the filters of both teams committed to; the state alone of robots without a filter."""
        return carry[1]

    def _sides(self, view: LocalView) -> list[LocalView]:
        """Return the views of the first player and of the second."""
        ours, theirs = (team_view(self._scenario, view, side) for side in range(2))
        if not self._exchanged:
            return [ours, theirs]
        return [_crossed(ours, theirs, self._exchanged), _crossed(theirs, ours, self._exchanged)]

    def _together(self, first: Array, second: Array) -> np.ndarray:
        """Values of both players, [E, N, ...] each, as those of all robots, [E, M, ...]."""
        if not self._exchanged:
            return np.concatenate([first, second], 1)
        pair = _crossed(first, second, self._exchanged), _crossed(second, first, self._exchanged)
        return np.concatenate(pair, 1)


def _crossed(first: Tree, second: Tree, last: int) -> Tree:
    """Return the games of the first batch, with its last ones replaced by those of the second batch."""
    if isinstance(first, tuple):
        return type(first)(*(_crossed(a, b, last) for a, b in zip(first, second, strict=True)))
    return np.concatenate([first[:-last], second[-last:]])
