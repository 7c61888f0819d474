"""`robomarl eval` of matches: rallies of one team against another, counted by the referee's record."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from robomarl.core.tree import each
from robomarl.core.types import Figures
from robomarl.domains.volleyball.lab.match.players import make_players, match_of
from robomarl.domains.volleyball.lab.match.rules import FAULTS
from robomarl.domains.volleyball.lab.match.scenario import SCRIPT, MatchScenario
from robomarl.domains.volleyball.lab.match.sim import make_matches
from robomarl.domains.volleyball.lab.match.world import possession_of
from robomarl.lab.evaluate.episodes import EpisodeScore, Step
from robomarl.lab.evaluate.evaluation import EvalRow
from robomarl.lab.evaluate.intervals import wilson
from robomarl.lab.evaluate.resolve import BASELINE
from robomarl.lab.evaluate.shared.parts import EpisodeJob, Made, fly
from robomarl.lab.evaluate.shared.portable import Portable, opened
from robomarl.lab.evaluate.variations import perturbed
from robomarl.lab.league.two_sides import BothSides, Player
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.simulation import RowOptions


class RallyCounts(NamedTuple):
    """Counts of E rallies, [E, ...]."""

    running: np.ndarray
    """bool: not over yet."""
    steps: np.ndarray
    """Decisions played."""
    score: np.ndarray
    """Points of the first team: 1, 0.5 or 0."""
    hits: np.ndarray
    """Hits of both teams that counted."""
    found: np.ndarray
    """[E, 2, F] faults that ended the rally."""
    closest_m: np.ndarray
    """[E, 2] least distance of two robots of either team, and of any two robots."""


class RallyScore(EpisodeScore[RallyCounts]):
    """Rallies by the referee's record."""

    def __init__(self, scenario: MatchScenario) -> None:
        """Take the scenario."""
        self._scenario = scenario

    def start(self, num: int) -> RallyCounts:
        """Nothing has happened."""
        zero, far = np.zeros(num), np.full((num, 2), np.inf)
        return RallyCounts(zero == 0, zero, zero + 0.5, zero, np.zeros((num, 2, len(FAULTS))), far)

    def running(self, counts: RallyCounts) -> np.ndarray:
        """Return [E] bool."""
        return counts.running

    def count(self, counts: RallyCounts, step: Step) -> RallyCounts:
        """Add one decision."""
        rally, on = step.after.own.rally, counts.running
        found = possession_of(rally.marks).found
        near = np.stack([self._mates_m(step.after.pos_m), step.after.closest_m.min(-1)], -1)
        now = (counts.steps + 1, rally.score, rally.hits, found, np.minimum(counts.closest_m, near))
        kept = (np.where(on.reshape(-1, *(1,) * (np.ndim(a) - 1)), a, b) for a, b in zip(now, counts[1:], strict=True))
        return RallyCounts(on & ~rally.is_over, *kept)

    def row(self, step: Step, index: int) -> TeamWorld:
        """The world of one match after a decision, for films."""
        return each(step.after, lambda leaf: np.array(leaf[index : index + 1]))

    def _mates_m(self, pos_m: np.ndarray) -> np.ndarray:
        """[E] least distance of two mates at places [E, M, 3]."""
        sides = pos_m.reshape(len(pos_m), 2, self._scenario.count, 3)
        away = np.linalg.norm(sides[:, :, :, None] - sides[:, :, None], axis=-1)
        return (away + np.where(np.eye(self._scenario.count), np.inf, 0.0)).min((1, 2, 3))


@dataclass(frozen=True)
class RallyConfig:
    """How rallies are evaluated."""

    sim: str
    episodes: int
    seed: int
    filter: str


def play_row(name: str, options: RowOptions, is_first: bool) -> EvalRow:
    """Play rallies of the team of that name against `options.against`, or against the script.

    Raises:
        UserError: no such team, scenario, engine or parameter.
    """
    scenario = perturbed(match_of(name, options.scenario), options.perturb)
    against = options.against or scenario.opponent.script
    config = RallyConfig(options.sim, options.episodes, options.seed, options.filter)
    players = opened(partial(make_players, name, against, scenario, config.filter))
    make = partial(_made, players, scenario, config)
    record = 0 if options.video and is_first else None
    job = EpisodeJob(make, config.episodes, f"{name} against {against} on {config.sim}", record)
    flown = fly(job)
    if options.video and flown.rows:
        film(scenario, cast("list[TeamWorld]", flown.rows), options.video)
    about = {"policy": name, "against": against, "scenario": scenario.name, "sim": config.sim, "seed": config.seed}
    about |= {"filter": config.filter, "perturb": list(options.perturb)}
    found = figures(scenario, flown.counts)
    return EvalRow({**about, **found, "realtime_factor": flown.realtime_factor})


def film(scenario: MatchScenario, worlds: list[TeamWorld], file: Path) -> None:
    """Film a rally, as `robomarl view` shows it."""
    from robomarl.domains.volleyball.lab.match.staging import moment, scene
    from robomarl.lab.scene.film import write_film  # needs MuJoCo, which a match on `fast` does not

    write_film(scene(scenario), [moment(scenario, world, 0) for world in worlds], file, scenario.name)
    print(f"film: {file}")


def _made(
    players: Portable[tuple[Player, Player]], scenario: MatchScenario, config: RallyConfig, num: int
) -> Made[RallyCounts]:
    """All that plays `num` rallies side by side."""
    sim = make_matches(scenario, config.sim, num, config.seed)
    return BothSides(scenario, *players()), sim, RallyScore(scenario)


def figures(scenario: MatchScenario, counts: RallyCounts) -> Figures:
    """Return the figures of E rallies; a draw is half a win."""
    size, score = len(counts.score), counts.score
    closest = counts.closest_m.min(0)
    touching = counts.closest_m[:, 1] < 2 * scenario.vehicle_config.body.radius_m
    found = {
        "episodes": size,
        "win_rate": float(score.mean()),
        "win_rate_ci95": wilson(float(score.sum()), size),
        "wins": int((score > 0.75).sum()),
        "draws": int((score == 0.5).sum()),
        "hits_median": float(np.median(counts.hits)),
        "hits_mean": float(counts.hits.mean()),
        "rally_s": float(counts.steps.mean() * scenario.period_s),
        "collisions": int(touching.sum()),
        "min_distance_m": float(closest[1]),
        "min_mates_m": float(closest[0]) if scenario.count > 1 else None,
    }
    for number, side in enumerate(("faults", "faults_against")):
        each = counts.found[:, number].sum(0)
        found[side] = {name: int(value) for name, value in zip(FAULTS, each, strict=True) if value}
    return {**found, "metric": "win_rate", "metric_mean": found["win_rate"], "metric_ci95": found["win_rate_ci95"]}


NOBODY = f"Name at least one team: a bundle, a run folder, {BASELINE!r} or {SCRIPT!r}."
