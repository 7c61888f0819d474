"""Matches of soccer_2v2's policy on pixels alone, beside the same policy on its geometric eyes, in one set.

    python -m benchmarks.eyes.matches /tmp/eyes/perception.onnx --matches 20 --against keeper --sim fast

Both teams of a set start from equal draws. Our robots' own poses come from pixels and odometry too. `--pictures mujoco`
renders by MuJoCo instead of the renderer for training, which takes about a hundred times as long; `plain` about ten.
"""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import tyro

from benchmarks.eyes.looks import Film, Look, camera_with, draw_film, filmed
from robomarl.core.types import Figures
from robomarl.domains.soccer.core.sight.own_pose import turned, wrapped
from robomarl.domains.soccer.lab.batch import SoccerSim, make_soccer
from robomarl.domains.soccer.lab.controllers import SCRIPTS
from robomarl.domains.soccer.lab.evaluation.evaluate import figures, make_player, unsure_of_place
from robomarl.domains.soccer.lab.evaluation.match import MatchTally, count
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.lessons.pixel_policy import is_pixel_policy, student_team
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.eyes_sim import Cameras, DrawnCameras, EyesSim, RenderedCameras, seeing_soccer
from robomarl.domains.soccer.lab.sight.pitch import camera_of
from robomarl.lab.camera.network_strip import strip_of
from robomarl.lab.league.two_sides import BothSides, Player
from robomarl.lab.sim.scenario import load_scenario

SETTLED = 25
"""Decisions of a match before the errors of the beliefs are counted."""


@dataclass(frozen=True)
class MatchesConfig:
    """Which matches."""

    network: tyro.conf.Positional[Path]
    """ONNX file of the perception network."""
    matches: int = 20
    """Matches of each kind of eyes."""
    seconds: float = 60.0
    """Length of a match."""
    against: str = "keeper"
    """Script of the opponents."""
    sim: str = "fast"
    """Engine: fast or mujoco."""
    pictures: Literal["drawn", "mujoco", "plain"] = "drawn"
    """drawn: the renderer for training; mujoco: MuJoCo's renderer; plain: MuJoCo's without shadows, at half the detail,
    as `camera_node` draws."""
    look: Look = "mounted"
    """Ranges of the drawn pictures; each robot of each match keeps one look."""
    eyes: Literal["both", "pixels", "geometric"] = "both"
    """Which teams play."""
    policy: str = "soccer_2v2"
    """Bundle or run of our team, or the folder of `robomarl.domains.soccer.lab.lessons.pixel_policy`."""
    pose_error_m: float | None = None
    """Error of the own place that our filter reckons with; by default that of a bundle that reads pictures, else the
    scenario's, which is that of geometric eyes. Scripts have no filter."""
    scenario: str = "soccer_2v2"
    """Game."""
    seed: int = 0
    """Seed of the matches."""


def play(config: MatchesConfig, pixels: bool) -> Figures:
    """Return the counts of a set, and with pixels the errors of what our robots believed."""
    scenario = load_scenario(config.scenario, SoccerScenario)
    sim = games_of(config, scenario, pixels)
    ours = our_team(config, sim)
    theirs = make_player(config.against, scenario, scenario.opponent.roles)
    both = BothSides(scenario, ours, theirs)
    sim.reset()
    carry = both.init(sim.views())
    tally, rows = MatchTally(*(np.zeros(config.matches) for _ in MatchTally._fields)), []
    apart: list[np.ndarray] = []
    for step in range(round(config.seconds * scenario.rates.policy_hz)):
        carry, commands = both.step(carry, sim.views())
        game = sim.step(commands.command, both.plan(carry))
        tally = count(scenario, tally, game)
        apart.append(mates_apart(scenario, game))
        if isinstance(sim, EyesSim) and step >= SETTLED:
            rows += errors(sim, game)
    eyes = "pixels" if pixels else "geometric"
    about = {"eyes": eyes, "against": config.against, "sim": config.sim, "policy": config.policy}
    about |= {"pictures": config.pictures, "look": config.look} if pixels else {}
    about |= {} if config.pose_error_m is None else {"pose_error_m": config.pose_error_m}
    between = np.percentile(np.stack(apart), [0, 1, 50]).round(3).tolist()
    about |= {"mates_apart_m": between} if scenario.count > 1 else {}
    return {**about, **figures(tally), **(summary(np.array(rows)) if rows else {})}


def games_of(config: MatchesConfig, scenario: SoccerScenario, pixels: bool) -> SoccerSim:
    """Return the games of a set; with pixels they are an `EyesSim`."""
    plain = make_soccer(scenario, config.sim, config.matches, config.seed)
    if not pixels:
        return plain
    kinds = {"drawn": DrawnCameras, "mujoco": RenderedCameras, "plain": partial(RenderedCameras, shadows=False)}
    network = config.network.read_bytes()
    cameras: Cameras = kinds[config.pictures](
        scenario, config.seed + 100, camera_with(camera_of(scenario), config.look), strip_of(network)
    )
    if config.look == "filmed":
        cameras = FilmedCameras(cameras, scenario.count, config.seed + 200)
    return seeing_soccer(plain, network, cameras, config.seed)


def our_team(config: MatchesConfig, sim: SoccerSim) -> Player:
    """Return our team; raises `UserError` where there is none of that name, or no pixels for one that needs them."""
    name, scenario, error_m = config.policy, sim.scenario, config.pose_error_m
    if name in SCRIPTS or error_m is None and not is_pixel_policy(Path(name)):
        return make_player(name, scenario, scenario.roles)
    return student_team(name, sim, None if error_m is None else unsure_of_place(scenario, error_m))


class FilmedCameras:
    """Cameras whose pictures have what no training draws; each robot of each match keeps its film."""

    def __init__(self, cameras: Cameras, count: int, seed: int) -> None:
        """Take the cameras of `count` robots a match."""
        self._cameras, self._count, self._random = cameras, count, np.random.default_rng(seed)
        self._film = draw_film(self._random, 0)

    def begin(self, rows: np.ndarray, whole: int, batch: int) -> None:
        """Draw a film for each robot."""
        self._cameras.begin(rows, whole, batch)
        every = draw_film(self._random, whole * self._count)
        own = (rows[:, None] * self._count + np.arange(self._count)).ravel()
        self._film = Film(*(part[own] for part in every))

    def __call__(self, game: SoccerWorld) -> np.ndarray:
        """Return strips [E, N, R, C, 3]."""
        strips = self._cameras(game)
        flat = strips.reshape(-1, *strips.shape[2:])
        return filmed(flat, self._film, self._random).reshape(strips.shape)


def mates_apart(scenario: SoccerScenario, game: SoccerWorld) -> np.ndarray:
    """Return the distance [E] between the nearest two robots of our team [m]; +inf for a robot alone."""
    x, y = (np.asarray(part)[:, : scenario.count] for part in (game.robots.x, game.robots.y))
    away = np.hypot(x[:, :, None] - x[:, None], y[:, :, None] - y[:, None])
    return np.where(np.eye(scenario.count, dtype=bool), np.inf, away).min((1, 2))


def errors(sim: EyesSim, game: SoccerWorld) -> list[tuple[float, ...]]:
    """Return the errors of each belief: own place [m], heading [rad], what it says of its place [m], whether it knows
    the ball, the ball's place from the robot [m] and velocity [m/s], and its true distance [m]."""
    found, robots, ball = [], game.robots, game.ball
    for env, row in enumerate(sim.eyes.believed):
        at, speed = np.array([ball.x[env], ball.y[env]]), np.array([ball.vx[env], ball.vy[env]])
        for i, belief in enumerate(row):
            true = np.array([robots.x[env, i], robots.y[env, i]])
            yaw = float(np.arctan2(robots.s[env, i], robots.c[env, i]))
            picture = belief.picture
            place = picture.pos_m[0, :2] + picture.vel_m_s[0, :2] * picture.age_s[0]
            seen = turned(float(belief.pose[2])).T @ (place - belief.pose[:2])
            off = float(np.hypot(*(seen - turned(yaw).T @ (at - true))))
            own = float(np.hypot(*(belief.pose[:2] - true))), abs(wrapped(float(belief.pose[2]) - yaw))
            motion = float(np.hypot(*(picture.vel_m_s[0, :2] - speed)))
            known = float(picture.mask[0])
            found.append((*own, belief.position_error_m, known, off, motion, float(np.hypot(*(at - true)))))
    return found


def summary(rows: np.ndarray) -> Figures:
    """Return medians and 90th percentiles of `errors`."""
    known = rows[:, 3] > 0
    near = known & (rows[:, 6] < 1)

    def middle(values: np.ndarray) -> list[float]:
        return [round(float(part), 3) for part in np.percentile(values, [50, 90])] if len(values) else []

    return {
        "own_place_m": middle(rows[:, 0]),
        "own_heading_deg": middle(np.degrees(rows[:, 1])),
        "said_place_error_m": middle(rows[:, 2]),
        "ball_known": round(float(known.mean()), 3),
        "ball_off_m": middle(rows[known, 4]),
        "ball_velocity_m_s": middle(rows[known, 5]),
        "ball_off_within_1_m": middle(rows[near, 4]),
        "ball_velocity_within_1_m": middle(rows[near, 5]),
    }


def main() -> None:
    """Play as the command line says; one line of JSON for each team."""
    config = tyro.cli(MatchesConfig)
    for pixels in {"both": (False, True), "pixels": (True,), "geometric": (False,)}[config.eyes]:
        print(json.dumps(play(config, pixels)), flush=True)


if __name__ == "__main__":
    main()
