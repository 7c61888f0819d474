"""`eval` of games: whole matches and set pieces on any engine, with every figure counted from the referee."""

import dataclasses
import math
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np

from robomarl.core.bundle.bundle import PERCEPTION_FILE
from robomarl.core.bundle.runtime import Policy
from robomarl.core.config import UserError
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import Figures
from robomarl.domains.soccer.lab.batch import SoccerSim, make_soccer
from robomarl.domains.soccer.lab.controllers import SCRIPTS
from robomarl.domains.soccer.lab.controllers.scripted_teams import ScriptedTeam
from robomarl.domains.soccer.lab.evaluation.match import (
    MatchTally,
    Track,
    count,
    play_set_pieces,
    row,
    track,
)
from robomarl.domains.soccer.lab.evaluation.picture import film_match
from robomarl.domains.soccer.lab.scenario import SoccerScenario, check_roles
from robomarl.domains.soccer.lab.sections import Sees
from robomarl.lab.evaluate.episodes import EpisodeScore, Step
from robomarl.lab.evaluate.evaluation import EvalRow, FlownPolicy
from robomarl.lab.evaluate.intervals import wilson
from robomarl.lab.evaluate.resolve import is_controller, resolve_policy
from robomarl.lab.evaluate.shared.parts import EpisodeJob, Made, fly
from robomarl.lab.evaluate.shared.portable import Portable, opened
from robomarl.lab.evaluate.variations import perturbed
from robomarl.lab.league.two_sides import BothSides, PilotedTeam, Player
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import RowOptions

SET_PIECE_S = 8.0
"""Time for a set piece, or the length of a match where that is shorter."""


@dataclass(frozen=True)
class GameConfig:
    """How games are evaluated."""

    sim: str = "mujoco"
    """Engine."""
    episodes: int = 200
    """Matches, and as many set pieces."""
    seed: int = 0
    against: str = ""
    """Opponent team; by default the scenario's opponent."""
    perturb: tuple[str, ...] = ()
    """`NAME=VALUE` pins a randomized parameter."""
    video: Path | None = None
    """Picture of the first match, .gif or .png."""
    filter: str = "full"
    """Safety filter of trained teams: full, qp or certificate; off; scripts have none."""
    set_pieces: bool = True
    """Evaluate set pieces too."""

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            UserError: no episodes.
        """
        if self.episodes < 1:
            raise UserError(f"--episodes {self.episodes} must be at least 1.")


def evaluate_game(name: str, scenario_name: str | None, config: GameConfig) -> Figures:
    """Play matches and set pieces.

    Args:
        name: our team: a script, or a bundle or run folder.
        scenario_name: the game; by default the one that our team was trained for.
        config: how.

    Returns:
        The JSON fields of a game.

    Raises:
        UserError: unknown team, engine or parameter, or a team without a role that its script needs.
    """
    scenario = perturbed(game_of(name, scenario_name), config.perturb)
    against = config.against or scenario.opponent.script
    players = opened(partial(_players, name, against, scenario, config.filter))
    ours, theirs = players()
    scenario = as_trained(scenario, ours, theirs)
    started_s = time.perf_counter()
    tally, first = _matches(scenario, players, config)
    took_s = time.perf_counter() - started_s
    about = {"policy": name, "against": against, "scenario": scenario.name, "sim": config.sim, "seed": config.seed}
    about |= {"sees": _sight(ours, scenario.sees), "against_sees": scenario.opponent.sees}
    about["filter"] = "off" if name in SCRIPTS else config.filter
    found = {**about, **figures(tally), "realtime_factor": config.episodes * scenario.time_limit_s / took_s}
    if config.set_pieces:
        found |= _set_pieces(scenario, ours, config)
    if config.video and first:
        film_match(first, scenario, config.video)
        print(f"film: {config.video}")
    return found


def play_row(name: str, options: RowOptions, is_first: bool) -> EvalRow:
    """Play the matches and set pieces of the team of that name; the first one's first match is filmed.

    Raises:
        UserError: no such team, scenario, engine or parameter.
    """
    video, perturb = options.video if is_first else None, tuple(options.perturb)
    config = GameConfig(options.sim, options.episodes, options.seed, options.against, perturb, video, options.filter)
    return EvalRow(evaluate_game(name, options.scenario, config))


def game_of(name: str, scenario_name: str | None) -> SoccerScenario:
    """The game of that name, or the one that the team was trained for.

    Raises:
        UserError: no such game or team, a script without a game, or a policy that plays none.
    """
    if scenario_name:
        return load_scenario(scenario_name, SoccerScenario)
    if name in SCRIPTS:
        raise UserError(f"The script {name!r} belongs to no scenario; add --scenario NAME.")
    scenario = resolve_policy(name)[1]
    if not isinstance(scenario, SoccerScenario):
        raise UserError(f"{name} was trained for {scenario.name}, which is no game; leave out --against.")
    return scenario


def make_player(name: str, scenario: SoccerScenario, roles: tuple[str, ...], mode: str = "full") -> Player:
    """The team of that name: a script, or all robots with a bundle or run, each with a memory of its own.

    Raises:
        UserError: there is none, a role that a script needs is missing, or the policy plays no soccer.
    """
    if is_controller(name):
        raise UserError(f"{name} plays no soccer; name a bundle, a run folder, or a script, chaser or keeper.")
    if name not in SCRIPTS:
        policy, own = resolve_policy(name)
        return TrainedTeam(policy, scenario, mode, getattr(own, "sees", "eyes"))
    check_roles(name, roles, f"{scenario.name}.toml")
    return ScriptedTeam(scenario, name)


def as_trained(scenario: SoccerScenario, ours: Player, theirs: Player) -> SoccerScenario:
    """Return the scenario in which each team sees as in its training, and a script as the scenario says."""
    opponent = scenario.opponent
    first, second = (
        player.sees if isinstance(player, TrainedTeam) else sees
        for player, sees in ((ours, scenario.sees), (theirs, opponent.sees))
    )
    return dataclasses.replace(scenario, sees=first, opponent=dataclasses.replace(opponent, sees=second))


class TrainedTeam(PilotedTeam):
    """A trained team, with the vision that it was trained with."""

    def __init__(self, policy: FlownPolicy, scenario: SoccerScenario, mode: str, sees: Sees = "eyes") -> None:
        """Combine the policy with its filter; raises as `PilotedTeam`.

        The filter of a bundle that reads pictures reckons with the error of the own place that its contract states.
        """
        sealed = policy if isinstance(policy, Policy) and policy.contract.image else None
        params = unsure_of_place(scenario, sealed.contract.safety.safety.position_error_m) if sealed else None
        super().__init__(policy, scenario, mode, params)
        self.sees: Sees = sees
        self.network: bytes | None = sealed.bundle.files[PERCEPTION_FILE] if sealed else None
        """Perception network of a bundle that reads pictures."""


def unsure_of_place(scenario: SoccerScenario, error_m: float) -> SafetyParams:
    """Return the filter's parameters of robots that know their places to within this error."""
    params = safety_params(scenario)
    return dataclasses.replace(params, safety=dataclasses.replace(params.safety, position_error_m=error_m))


class MatchScore(EpisodeScore[MatchTally]):
    """Matches, which all last as long; every figure counted from the referee."""

    side_by_side = 100

    def __init__(self, scenario: SoccerScenario) -> None:
        """Take the scenario."""
        self._scenario = scenario

    def start(self, num: int) -> MatchTally:
        """Nothing has happened."""
        return MatchTally(*(np.zeros(num) for _ in MatchTally._fields))

    def running(self, counts: MatchTally) -> np.ndarray:
        """Return True [E] for every match: all run to the end."""
        return np.ones(len(counts.kicks), bool)

    def count(self, counts: MatchTally, step: Step) -> MatchTally:
        """Add one decision."""
        return count(self._scenario, counts, step.after)

    def row(self, step: Step, index: int) -> tuple[np.ndarray, ...]:
        """Return the row of the match's `Track`."""
        return row(step.after, index)


def _sight(player: Player, sees: Sees) -> str:
    """Return the name of the eyes with which a team sees: pixels, or what the scenario says."""
    return "pixels" if isinstance(player, TrainedTeam) and player.network else sees


def _players(name: str, against: str, scenario: SoccerScenario, mode: str) -> tuple[Player, Player]:
    """Both teams."""
    ours = make_player(name, scenario, scenario.roles, mode)
    return ours, make_player(against, scenario, scenario.opponent.roles, mode)


def _matches(
    scenario: SoccerScenario, players: Portable[tuple[Player, Player]], config: GameConfig
) -> tuple[MatchTally, Track | None]:
    make, record = partial(_made, players, scenario, config), 0 if config.video else None
    flown = fly(EpisodeJob(make, config.episodes, "matches", record, side_by_side=MatchScore.side_by_side))
    rows = cast("list[tuple[np.ndarray, ...]]", flown.rows)  # of `MatchScore.row`
    return flown.counts, track(scenario, rows) if rows else None


def _made(
    players: Portable[tuple[Player, Player]], scenario: SoccerScenario, config: GameConfig, num: int
) -> Made[MatchTally]:
    """All that plays `num` matches side by side."""
    ours, theirs = players()
    return BothSides(scenario, ours, theirs), _sim(scenario, ours, config, num), MatchScore(scenario)


def _sim(scenario: SoccerScenario, ours: Player, config: GameConfig, num: int) -> SoccerSim:
    """The games; a team that reads pictures gets drawn ones, of cameras that are mounted as their file says."""
    plain = make_soccer(scenario, config.sim, num, config.seed)
    if not isinstance(ours, TrainedTeam) or ours.network is None:
        return plain
    from robomarl.domains.soccer.lab.sight.eyes_sim import drawn_soccer

    return drawn_soccer(plain, ours.network, config.seed)


def _set_pieces(scenario: SoccerScenario, ours: Player, config: GameConfig) -> Figures:
    size = min(config.episodes, 2 * MatchScore.side_by_side)
    sim = _sim(scenario, ours, config, size)
    scored, kicked = play_set_pieces(sim, ours, config.seed, min(SET_PIECE_S, scenario.time_limit_s))
    median = float(np.median(kicked))
    return {
        "set_pieces": size,
        "set_piece_rate": float(scored.mean()),
        "set_piece_ci95": wilson(int(scored.sum()), size),
        "set_piece_kick_s": median if math.isfinite(median) else None,
    }


def figures(tally: MatchTally) -> Figures:
    """The JSON fields of E matches; a draw is half a win; without goals the share is null."""
    ours, theirs = tally.goals_for, tally.goals_against
    total = float((ours + theirs).sum())
    return {
        "episodes": len(ours),
        "goals_for": float(ours.mean()),
        "goals_against": float(theirs.mean()),
        "goals_for_share": float(ours.sum() / total) if total else None,
        "goals_for_share_ci95": share_interval(ours, theirs) if total else None,
        "win_rate": float(((ours > theirs) + 0.5 * (ours == theirs)).mean()),
        "impacts": int(tally.impacts.sum()),
        "impacts_against": int(tally.impacts_against.sum()),
        "kicks": float(tally.kicks.mean()),
    }


def share_interval(ours: np.ndarray, theirs: np.ndarray, resamples: int = 4000) -> list[float]:
    """95 % bootstrap interval of our share of all goals, over matches."""
    picks = np.random.default_rng(0).integers(0, len(ours), (resamples, len(ours)))
    scored, total = ours[picks].sum(-1), (ours + theirs)[picks].sum(-1)
    low, high = np.percentile(scored[total > 0] / total[total > 0], [2.5, 97.5])
    return [float(low), float(high)]
