"""`Evaluation` of a `FlownPolicy`, how it was flown, and what `robomarl eval` prints of it."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from robomarl.core.bundle.pilot import Observer
from robomarl.core.config import UserError
from robomarl.core.spec import ActionSpec
from robomarl.core.types import Array, Figures
from robomarl.lab.sim.scenario import Scenario

FILTERS = ("full", "qp", "certificate", "textbook", "upright", "off")
HOVER_S = 10.0
"""How long a team is watched from its success on."""
HOVER_FIGURES = ("hover_accel_std_m_s2", "hover_tilt_rad", "hover_error_m")

Carry = tuple[Array, ...]
"""Memory of a policy."""
Log = Any
"""Log of an episode, in the format of its domain."""


class FlownPolicy(Protocol):
    """Interface of a flown policy: stateless code, explicit carry."""

    name: str
    scenario_name: str
    """The scenario that it was trained for."""
    vehicle_name: str
    action: ActionSpec

    @property
    def observation(self) -> Observer:
        """Observer that computes the policy's observation."""
        ...

    def init(self, batch: tuple[int, ...] = ()) -> Carry:
        """Carry before the first decision, for leading axes `batch`."""
        ...

    def __call__(self, carry: Carry, obs: np.ndarray) -> tuple[Carry, np.ndarray]:
        """(carry, obs [..., O]) -> (carry, action [..., A] in the units of the action spec)."""
        ...


@dataclass(frozen=True)
class EvalConfig:
    """How an evaluation is flown."""

    sim: str = "mujoco"
    """Engine."""
    episodes: int = 200
    seed: int = 0
    filter: str = "full"
    """Safety filter's mode; "upright": off until the vehicle is."""
    record: int | None = None
    """Index of the episode to record."""
    progress: bool = True
    """Show a progress bar on a terminal."""
    hover_s: float = 0.0
    """Time [s] for which teams are watched after their success, if necessary beyond the time limit. It changes no
    other figure; see `robomarl.domains.flight.lab.evaluation.hover`.
    """

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            UserError: no episodes, or an unknown filter.
        """
        if self.episodes < 1:
            raise UserError(f"--episodes {self.episodes} must be at least 1.")
        if self.filter not in FILTERS:
            raise UserError(f"--filter {self.filter} is not a mode; allowed: {', '.join(FILTERS)}.")


class Evaluation(NamedTuple):
    """Results of an evaluation."""

    figures: Figures
    """The JSON fields."""
    success: np.ndarray
    """[episodes] bool."""
    error_m: np.ndarray
    """[episodes] mean distance to the goal over the settled part; NaN where an episode ended before."""
    log: Log
    """Log of the recorded episode, in the format of its domain; None if no episode was recorded."""


class EvalRow(NamedTuple):
    """Result of `robomarl eval` for one policy."""

    figures: Figures
    """The JSON fields."""
    flown: Evaluation | None = None
    """The episodes, where each is a success or none; of matches nothing is kept."""
    policy: FlownPolicy | None = None
    scenario: Scenario | None = None
    config: EvalConfig | None = None
    """How those were flown."""
