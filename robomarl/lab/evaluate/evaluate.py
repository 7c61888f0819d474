"""`evaluate`: episodes with a policy behind a filter on any engine, counted by the scenario's domain."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.domain.halves import needed, simulation_of
from robomarl.lab.evaluate.episodes import EpisodeRunner, batch_size
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.resolve import FlownPolicy
from robomarl.lab.evaluate.score import TeamScore, settled_errors_m, successes
from robomarl.lab.sim.batch import BatchSim

FILTERS = ("full", "qp", "textbook", "upright", "off")
HOVER_S = 10.0
"""How long a team is watched from its success on."""
HOVER_FIGURES = ("hover_accel_std_m_s2", "hover_tilt_rad", "hover_error_m")


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
    """Index of the episode whose flight is kept."""
    progress: bool = True
    """Show a progress bar on a terminal."""
    hover_s: float = 0.0
    """Teams that have succeeded are watched for so long from then on, if need be beyond the time limit, which changes
    no other figure; see `robomarl.domains.flight.lab.evaluation.hover`."""

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
    """What came out."""

    figures: dict[str, Any]
    """The JSON fields."""
    success: np.ndarray
    """[episodes] bool."""
    error_m: np.ndarray
    """[episodes] mean distance to the goal over the settled part; NaN where an episode ended before."""
    log: Any
    """Of the recorded episode, as its domain writes it; None without one."""


class EvalRow(NamedTuple):
    """What `robomarl eval` says of one policy."""

    figures: dict[str, Any]
    """The JSON fields."""
    flown: Evaluation | None = None
    """The episodes, where each is a success or none; of matches nothing is kept."""
    policy: Any = None
    scenario: Any = None
    config: EvalConfig | None = None
    """How those were flown."""


def conditions_of(policy: FlownPolicy, scenario: Any, config: EvalConfig) -> dict[str, Any]:
    """The JSON fields that say what was flown, and how."""
    return {
        "policy": policy.name,
        "scenario": scenario.name,
        "sim": config.sim,
        "episodes": config.episodes,
        "seed": config.seed,
        "filter": config.filter,
        "robots": scenario.count,
    }


def evaluate(policy: FlownPolicy, scenario: Any, config: EvalConfig) -> Evaluation:
    """Run `config.episodes` episodes and count.

    Raises:
        UserError: unknown engine, the policy does not fit the scenario's vehicle, or a game, which has matches.
    """
    size = batch_size(config.episodes)
    return evaluate_on(simulation_of(scenario).batch(scenario, config.sim, size, config.seed), policy, config)


def evaluate_on(sim: BatchSim, policy: FlownPolicy, config: EvalConfig) -> Evaluation:
    """`evaluate` in a simulation that has been made, on whatever plant; `config.sim` is no more than its name."""
    scenario = sim.scenario
    evaluated = simulation_of(scenario).evaluation
    score: TeamScore = needed(evaluated.score, scenario, "episodes of one policy, only matches")(scenario, config)
    pilot = make_pilot(evaluated.mixed_team(policy, scenario), scenario, config.filter)
    runner = EpisodeRunner(pilot, sim, score, config.record)
    done = runner.run(config.episodes, f"{policy.name} on {config.sim}", config.progress)
    speed = {"realtime_factor": runner.realtime_factor}
    values = {**conditions_of(policy, scenario, config), **score.figures(done), **speed}
    return Evaluation(values, successes(done), settled_errors_m(done), score.log(runner.rows))
