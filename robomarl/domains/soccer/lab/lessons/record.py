"""Recording of lessons: `python -m robomarl.domains.soccer.lab.lessons.record OUT.npz --student soccer_2v2_eyes`.

A student that sees pixels plays matches. At each decision a teacher that sees the same game without errors says what it
would do (dataset aggregation: Ross, Gordon and Bagnell, AISTATS 2011). Fits to the lessons are in
`state_policy` and `pixel_policy`.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from tqdm import tqdm

from robomarl.core.bundle.bundle import PERCEPTION_FILE, load_bundle
from robomarl.core.config import UserError
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.evaluation.evaluate import make_player
from robomarl.domains.soccer.lab.lessons.lesson import Lessons, write_lessons
from robomarl.domains.soccer.lab.lessons.pixel_policy import student_team
from robomarl.domains.soccer.lab.lessons.pixel_view import PixelObserver
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.clear_views import cleared
from robomarl.domains.soccer.lab.sight.eyes_sim import EyesSim, drawn_soccer
from robomarl.domains.soccer.lab.views import player_views
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.league.two_sides import BothSides
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sim.sides import team_view


@dataclass(frozen=True)
class RecordConfig:
    """Which matches."""

    out: tyro.conf.Positional[Path]
    """File of the lessons, .npz."""
    student: str = "soccer_2v2_eyes"
    """Bundle or run of our team, or the folder of `pixel_policy`."""
    teacher: str = "soccer_2v2"
    """Name of the bundle or run that teaches: it says at each decision what it would do."""
    eyes: str = "soccer_2v2_eyes"
    """Bundle with the perception network."""
    against: str = "keeper"
    """Script of the opponents."""
    scenario: str = "soccer_2v2"
    """Game."""
    matches: int = 20
    """Number of matches."""
    seconds: float = 60.0
    """Length of each."""
    seed: int = 1000
    """Seed of the matches; figures are of others."""


class ClearTeacher:
    """The team that sees without errors and moves nothing."""

    def __init__(self, name: str, scenario: SoccerScenario) -> None:
        """Take the policy of that name; raises `UserError` where there is none."""
        self.policy, _ = resolve_policy(name)
        self._scenario = scenario
        self._carry = self.policy.init()

    def begin(self, matches: int) -> None:
        """Begin that many matches."""
        self._carry = self.policy.init((matches, self._scenario.count))

    def __call__(self, sim: EyesSim) -> np.ndarray:
        """[E, N, A] its actions now, in [-1, 1]."""
        clear = player_views(self._scenario, cleared(self._scenario, sim.world))
        view = team_view(self._scenario, clear, 0)
        observation = self.policy.observation
        obs = np.asarray(observation.observe(observation.init(view), view)[1])
        self._carry, action = self.policy(self._carry, obs)
        return np.asarray(self.policy.action.to_unit(np.asarray(action)), np.float32)


def record(config: RecordConfig) -> Lessons:
    """Play the matches and return their lessons.

    Raises:
        UserError: a name that is unknown, a bundle without a perception network, or no matches.
    """
    scenario = load_scenario(config.scenario, SoccerScenario)
    if config.matches < 1 or config.seconds * scenario.rates.policy_hz < 1:
        raise UserError(f"--matches {config.matches} --seconds {config.seconds:g}: no match of a decision or more.")
    sim = _games(config, scenario)
    teacher, student = ClearTeacher(config.teacher, scenario), student_team(config.student, sim)
    both = BothSides(scenario, student, make_player(config.against, scenario, scenario.opponent.roles))
    sim.reset()
    teacher.begin(config.matches)
    observer, reader = PixelObserver(sim), resolve_policy(config.eyes)[0].observation
    views = sim.views()
    carry, memory = both.init(views), observer.init(team_view(scenario, views, 0))
    kept: list[Lessons] = []
    decisions = round(config.seconds * scenario.rates.policy_hz)
    for _ in tqdm(range(decisions), desc="lessons", disable=None, unit="decision"):
        views = sim.views()
        ours = team_view(scenario, views, 0)
        memory, pixels = observer.observe(memory, ours)
        obs = np.asarray(reader.observe(reader.init(ours), ours)[1], np.float32)
        kept.append(Lessons(obs, pixels, teacher(sim), _headings(sim)))
        carry, commands = both.step(carry, views)
        sim.step(commands.command, both.plan(carry))
    return Lessons(*(np.stack(column) for column in zip(*kept, strict=True)))


def _games(config: RecordConfig, scenario: SoccerScenario) -> EyesSim:
    network = load_bundle(config.eyes).files.get(PERCEPTION_FILE)
    if network is None:
        raise UserError(f"--eyes {config.eyes}: reads no pictures; name a bundle with {PERCEPTION_FILE}.")
    return drawn_soccer(make_soccer(scenario, "fast", config.matches, config.seed), network, config.seed)


def _headings(sim: EyesSim) -> np.ndarray:
    """[E, N] true headings of our robots [rad]."""
    robots, count = sim.world.robots, sim.scenario.count
    return np.arctan2(robots.s, robots.c)[:, :count].astype(np.float32)


def main() -> None:
    """Record as the command line says; a mistake of the user ends it with one sentence."""
    config = tyro.cli(RecordConfig)
    try:
        write_lessons(config.out, record(config))
    except UserError as error:
        raise SystemExit(str(error)) from None
    print(f"lessons: {config.out}")


if __name__ == "__main__":
    main()
