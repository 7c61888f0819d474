"""Commands of soccer robots through the certificate: opponents are strangers, boards are walls, kicks pass."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from robomarl.core.domain.onboard import CertifiedCommand, Content, W
from robomarl.core.filter.memory import Reason
from robomarl.core.filter.model.constants import LARGE_M
from robomarl.core.filter.model.strangers import Strangers
from robomarl.core.filter.params import Arena, SafetyParams, intersect
from robomarl.core.geometry import namespace
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.command_filter import of_player, of_vehicle
from robomarl.domains.soccer.core.opponent_memory import recall


class PlayerMemory(NamedTuple):
    """Memory of a certified player beside that of its courses."""

    seen: Strangers | tuple[()] = ()
    """The last sighting of every opponent, [..., S]; empty before the first decision."""

    def aged(self, by_s: float) -> "PlayerMemory":
        """Return the memory with older sightings, where that much more time than a period passed since the last
        decision; below 0: less."""
        return PlayerMemory(self.seen._replace(age_s=self.seen.age_s + by_s)) if self.seen else self


class CertifiedPlayer(CertifiedCommand):
    """Commands [..., 4] of a player: acceleration x and y, yaw rate, kick speed."""

    def __init__(self, params: SafetyParams, content: Content | None = None) -> None:
        """Take the player's parameters; the scenario's `content` adds none.

        A reference that leads into a board would leave its robot behind, so boards are walls here, though robots may
        touch them.
        """
        self._told, self.params = params, params
        if params.boards_m is not None:
            x, y = params.boards_m
            boards = Arena((-x, -y, -LARGE_M), (x, y, LARGE_M))
            self.params = replace(params, arena=intersect(params.arena, boards), boards_m=None)

    def __call__(
        self, decide: Callable[..., tuple[W, FilterResult]], memory: W, view: LocalView, command: Array, /
    ) -> tuple[W, FilterResult]:
        """Decide once by a certificate, (memory, view, nominal [..., 4]) -> (memory, result). A kick moves no robot,
        and passes while the robot knows where it is and its policy says numbers."""
        before = memory.worn if isinstance(memory.worn, PlayerMemory) else PlayerMemory()
        view, seen = recall(self._told, before.seen, view)
        after, result = decide(memory, view, of_vehicle(command))
        sound = (result.reason == int(Reason.OK)) & namespace(command).isfinite(command).all(-1)
        kicks = of_player(result._replace(solved=sound), command, command)
        return after._replace(worn=PlayerMemory(seen)), kicks._replace(solved=result.solved)
