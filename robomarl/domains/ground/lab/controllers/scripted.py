"""`ScriptedRobots`: every robot drives to the target of its task's script, and gives way to the
right.

Decentralized: it reads the robot's own view. It shows the effect of a safety filter and two
simple rules on a task.
"""

from typing import Any, NamedTuple

import numpy as np

from robomarl.core.geometry import norm
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.ground.lab.controllers.waypoint import acceleration, approach, driving
from robomarl.domains.ground.lab.model import action
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks import task_of

BESIDE_M = 0.25
"""Distance [m] beyond the separation within which teammates in front are passed on the right."""
PATIENCE_S, DETOUR_S = 1.5, 2.5
"""Time [s] at rest before a detour starts, and duration [s] of a detour."""
SLOW_SHARE = 0.2
"""Fraction of the speed limit below which a robot counts as at rest."""
FAR_M = 0.12
"""Distance to its target [m] within which a robot has arrived, and may rest."""
ANGLES_RAD = np.array([-1.3, 1.3, -2.4, 2.4], np.float32)
"""Angles [rad] of successive detours."""


class Whole:
    """An observation that is the view itself."""

    def init(self, view: LocalView) -> tuple:
        """No memory."""
        return ()

    def observe(self, memory: tuple, view: LocalView) -> tuple[tuple, LocalView]:
        """(memory, view) -> (memory, view)."""
        return memory, view


class Detours(NamedTuple):
    """Memory of a robot, [...] each."""

    stuck_s: Array
    detour_s: Array
    tries: Array


class ScriptLaw:
    """The script without its memory: targets and passing. Policies may imitate it."""

    observation = Whole()

    def __init__(self, scenario: GroundScenario) -> None:
        """Take the scenario's task and vehicle."""
        self._scenario, self._task = scenario, task_of(scenario)

    def target(self, view: LocalView) -> Array:
        """[..., 2] where every robot drives to now."""
        return self._task.target(self._scenario, view)

    def wanted(self, view: LocalView, target: Array) -> Array:
        """[..., 2] the velocity of its way there, past its mates."""
        straight = approach(self._scenario, target - view.own.pos_m[..., :2])
        return straight + self._aside(view, straight)

    def act(self, view: LocalView) -> np.ndarray:
        """[..., 4] the command."""
        return acceleration(self._scenario, driving(view), self.wanted(view, self.target(view))).astype(np.float32)

    def _aside(self, view: LocalView, wanted: Array) -> Array:
        """[..., 2] a velocity to the right of the way, as far as a mate is near and in front."""
        limit, safety = self._scenario.vehicle_config.limits.speed_m_s, self._scenario.vehicle_config.safety
        forward = wanted / (norm(wanted)[..., None] + 1e-6)
        gap = (view.heard.pos_m - view.own.pos_m[..., None, :])[..., :2]
        near = np.clip(1 - (norm(gap) - safety.separation_m) / BESIDE_M, 0.0, 1.0)
        front = (gap * forward[..., None, :]).sum(-1) > 0.3 * norm(gap)
        share = np.where(view.heard.mask & front, near, 0.0).max(-1, initial=0.0)
        moving = np.minimum(norm(wanted) / limit, 1.0)
        right = np.stack([forward[..., 1], -forward[..., 0]], -1)
        return (limit * share * moving)[..., None] * right


class ScriptedRobots:
    """The scripted baseline of a scenario: the law, and detours where it gets stuck. It has the interface of a trained
    policy."""

    observation = Whole()

    def __init__(self, scenario: GroundScenario) -> None:
        """Take the scenario's task and vehicle."""
        self.name, self.scenario_name, self.vehicle_name = "baseline", scenario.name, scenario.vehicle_config.name
        self.action, self._scenario, self._law = action(scenario), scenario, ScriptLaw(scenario)

    def init(self, batch: tuple[int, ...] = ()) -> Detours:
        """Return the memory in which no robot is stuck."""
        zero = np.zeros(batch, np.float32)
        return Detours(zero, zero, zero)

    def __call__(self, carry: tuple[Array, ...], obs: Any) -> tuple[Detours, np.ndarray]:
        """(memory, view) -> (memory, command [..., 4])."""
        view: LocalView = obs
        target = self._law.target(view)
        detours, wanted = self._detour(Detours(*carry), view, target, self._law.wanted(view, target))
        return detours, acceleration(self._scenario, driving(view), wanted).astype(np.float32)

    def _detour(self, carry: Detours, view: LocalView, target: Array, wanted: Array) -> tuple[Detours, Array]:
        period, limit = self._scenario.period_s, self._scenario.vehicle_config.limits.speed_m_s
        stands = norm(view.own.vel_m_s[..., :2]) < SLOW_SHARE * limit
        far = norm(target - view.own.pos_m[..., :2]) > FAR_M
        stuck = np.where(stands & far & (carry.detour_s <= 0), carry.stuck_s + period, 0.0)
        begins = stuck > PATIENCE_S
        detour = np.where(begins, DETOUR_S, np.maximum(carry.detour_s - period, 0.0))
        tries = carry.tries + begins
        angle = np.where(detour > 0, ANGLES_RAD[((tries - 1) % len(ANGLES_RAD)).astype(int)], 0.0)
        c, s = np.cos(angle), np.sin(angle)
        x, y = wanted[..., 0], wanted[..., 1]
        return Detours(np.where(begins, 0.0, stuck), detour, tries), np.stack([c * x - s * y, s * x + c * y], -1)
