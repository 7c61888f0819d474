"""`RealTimeGame`: MuJoCo's players and ball, one physics step at a time, so that commands act when they arrive. No ROS.

The engine, the eyes and the errors are those of the simulation that policies are trained and judged in. Delay, radio
and referee are the real ones of the nodes and of DDS, and the scenario's own are left out.
"""

from collections import deque
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import rotate
from robomarl.domains.soccer.core.log import MatchLog
from robomarl.domains.soccer.lab.camera import Pose
from robomarl.domains.soccer.lab.engines.mujoco import MujocoPlay
from robomarl.domains.soccer.lab.evaluation.match import IMPACT_M_S, STANDING_M_S
from robomarl.domains.soccer.lab.game import SoccerWorld, num_step_draws, perceive
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots
from robomarl.domains.soccer.lab.placement import PLACE_DRAWS, kick_off, sides
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sections import GameRates
from robomarl.domains.soccer.lab.start import num_start_draws, start_game
from robomarl.domains.soccer.lab.views import flat, turned, upright
from robomarl.domains.soccer.ros.messages import acceleration_to
from robomarl.domains.soccer.ros.playing import BALL, OPPONENT, Sighting, Thing
from robomarl.ros.io.messages import Estimate

REMEMBERED_S = 0.2
"""A command may go on from an estimate that is so old; older ones go on from the true velocity."""
MAX_LOG_S = 600.0
"""Longer matches are not logged further."""


class PitchFigures(NamedTuple):
    """Counts of the simulator since the reset."""

    match: int
    seed: int
    time_s: float
    kicks_first: int
    kicks_second: int
    impacts_first: int
    """Impacts of robots above 0.3 m/s that the first team caused; a robot that stood did not."""
    impacts_second: int
    slipped_s: float


class RealTimeGame:
    """Both teams. Arrays have an axis [M] of robots, in the order of their indices."""

    def __init__(self, scenario: SoccerScenario) -> None:
        """Compile the model; call `reset` before the first step."""
        undelayed = replace(scenario.randomize, delay_s=(0.0, 0.0), packet_loss=(0.0, 0.0))
        self.scenario = replace(scenario, randomize=undelayed)
        rates = GameRates(scenario.rates.physics_hz, scenario.rates.physics_hz, scenario.rates.contact_hz)
        self._fine = replace(self.scenario, rates=rates)
        self.every, self.dt_s = scenario.substeps, self._fine.period_s
        self._play, self._matches, self._seed = MujocoPlay(self._fine, 1), -1, -1
        self._side = sides(scenario)
        self.stop_after_s = scenario.robot.on_command_loss.stop_after_s
        """Time [s] without a command after which a robot brakes."""

    def reset(self, seed: int) -> None:
        """New places and players, drawn from the seed."""
        self._random = np.random.default_rng(seed)
        players = self.scenario.players
        self.game: SoccerWorld = start_game(self.scenario, self._draw(num_start_draws(self.scenario)))
        self._matches, self._seed, self._steps = self._matches + 1, seed, 0
        self.command, self._kick = np.zeros((players, 3)), np.zeros(players)
        self._age_s, self._stopped = np.full(players, np.inf), False
        self.has_begun = False
        self._told: deque[tuple[float, Pose]] = deque(maxlen=round(REMEMBERED_S / self.scenario.period_s))
        self._poses = deque([self.game.pose] * len(self.game.sights), maxlen=len(self.game.sights))
        self._happened, self.counts = np.zeros((3, players)), np.zeros((2, 2), int)
        self._rows: list[tuple[np.ndarray, ...]] = []

    def kick_off(self, first: bool) -> None:
        """Everybody back to the own half, the ball in the middle; `first`: the first team begins."""
        draws = self._draw(PLACE_DRAWS)
        robots, ball = kick_off(self.scenario, draws, np.array([1 if first else -1]))
        self.game = self.game._replace(robots=robots, ball=ball)

    def stop(self) -> None:
        """Apply the E-stop: all robots brake, whichever command they get, until the next reset."""
        self._stopped = True

    def receive(self, index: int, velocity: np.ndarray, stamp_s: float) -> None:
        """A velocity [3], as in `omni.velocity_after`, arrived at a robot; it goes on from the estimate of a stamp."""
        told = next((pose for when_s, pose in self._told if abs(when_s - stamp_s) < 1e-6), None)
        own = self._true(index) if told is None else self._estimate(told, index)
        self.command[index], self._age_s[index] = acceleration_to(velocity, own, self.scenario.period_s), 0.0
        self.has_begun = True

    def receive_kick(self, index: int, speed_m_s: float) -> None:
        """A kick was asked for."""
        self._kick[index] = speed_m_s

    def step(self) -> None:
        """One physics step; then, when a decision is due, new pictures."""
        self._age_s += self.dt_s
        low, high = self.scenario.command_limits
        command = np.clip(self._commands(), low, high).astype(np.float32)
        game = self.game._replace(queue=(command[None],))
        robots, ball, contacts = self._play(game)
        self.game = game._replace(robots=robots, ball=ball, contacts=contacts, step=game.step + 1)
        self._happened = np.maximum(self._happened, np.concatenate([contacts.kicked, *contacts[:2]]))
        self._steps += 1
        if self._steps % self.every == 0:
            self.game = perceive(self.scenario, self.game, self._draw(num_step_draws(self.scenario) - PLACE_DRAWS))
            self._poses.appendleft(self.game.pose)

    def told(self, stamp_s: float) -> None:
        """The estimates of now were published with that stamp."""
        self._told.append((stamp_s, self.game.pose))

    def estimates(self) -> list[Estimate]:
        """Return [M] the present estimate of each robot's estimator, errors included, in its team's field frame."""
        return [self._estimate(self.game.pose, i) for i in range(self.scenario.players)]

    def sightings(self, now_s: float) -> list[Sighting]:
        """[M] the picture that each robot's camera has delivered by now."""
        sight, there = self.game.sights[-1], self._poses[-1]
        # The stamp that the pose was really told with: a busy machine's decisions are not evenly spaced.
        taken_s = next((s for s, pose in self._told if pose is there), now_s - self.scenario.eyes.latency_s)
        return [Sighting(taken_s, self._things(sight, there, i)) for i in range(self.scenario.players)]

    def charged_s(self, now_s: float) -> list[float]:
        """[M] when each kicker will be charged."""
        return [now_s + float(left_s) for left_s in self.game.robots.charge_s[0]]

    def truth(self) -> Estimate:
        """True states of all robots, [M, ...] each, world frame."""
        robots = self.game.robots
        pos, vel = flat(robots.x, robots.y)[0], flat(robots.vx, robots.vy)[0]
        return Estimate(pos, turned(robots.c, robots.s)[0], vel, upright(robots.turn)[0])

    @property
    def ball_m(self) -> np.ndarray:
        """[2] where the ball is."""
        return np.array([self.game.ball.x[0], self.game.ball.y[0]])

    def note(self, goals: tuple[int, int], playing: bool) -> None:
        """Count and log the events since the last decision, with the score and whether the game is on."""
        kicked, impact, own = self._happened
        blame = (impact > IMPACT_M_S) & (own > STANDING_M_S)
        for row, happened in enumerate((kicked > 0, blame)):
            self.counts[row] += happened.reshape(2, -1).sum(-1)
        self._happened = np.zeros_like(self._happened)
        time_s = self._steps * self.dt_s
        if time_s < MAX_LOG_S:
            robots = self.game.robots
            place = np.stack([robots.x, robots.y, np.arctan2(robots.s, robots.c)], -1)[0]
            self._rows.append(
                (np.array(time_s), np.array(playing), self.ball_m, place, kicked > 0, impact, own, np.array(goals))
            )

    def figures(self, slipped_s: float) -> PitchFigures:
        """Return the counts."""
        kicks, impacts = self.counts.tolist()
        counted = (kicks[0], kicks[1], impacts[0], impacts[1])
        return PitchFigures(self._matches, self._seed, self._steps * self.dt_s, *counted, slipped_s)

    def log(self) -> MatchLog | None:
        """Everything since the reset; None before the first decision."""
        if not self._rows:
            return None
        area, scenario = self.scenario.field, self.scenario
        columns = [np.stack(column) for column in zip(*self._rows, strict=True)]
        sizes = np.array([scenario.robot.body.radius_m, scenario.ball.radius_m])
        return MatchLog(*[*columns, np.array([area.length_m, area.width_m, area.goal_width_m]), sizes])

    def _commands(self) -> np.ndarray:
        """Return the commands [M, 4] in the teams' field frames: the requested ones, or braking if there is none."""
        wanted = np.concatenate([self.command, self._kick[:, None]], -1)
        lost = self._stopped | (self._age_s > self.stop_after_s)
        if not lost.any():
            return wanted
        robots = self.game.robots
        vel = self._side[:, None] * np.stack([robots.vx, robots.vy], -1)[0]
        speed = np.linalg.norm(vel, axis=-1, keepdims=True)
        rate = np.minimum(1 / self.scenario.period_s, self.scenario.robot.safety.brake_m_s2 / np.maximum(speed, 1e-6))
        braking = np.concatenate([-vel * rate, np.zeros((len(vel), 2))], -1)
        return np.where(lost[:, None], braking, wanted)

    def _estimate(self, pose: Pose, index: int) -> Estimate:
        x, y, vx, vy, c, s, turn = (part[0, index].astype(float) for part in pose)
        return Estimate(flat(x, y), turned(c, s), flat(vx, vy), upright(turn))

    def _true(self, index: int) -> Estimate:
        robots: OmniRobots = self.game.robots
        side = self._side
        flipped = (side * p for p in (robots.x, robots.y, robots.vx, robots.vy, robots.c, robots.s))
        return self._estimate(Pose(*[*flipped, robots.turn]), index)

    def _things(self, sight: NamedTuple, there: Pose, index: int) -> tuple[Thing, ...]:
        seen, *parts = (part[0, index] for part in sight)
        own = self._estimate(there, index)
        back = own.quat_wxyz * np.array([1.0, -1.0, -1.0, -1.0])
        found = []
        for row in np.flatnonzero(seen):
            x, y, vx, vy = (float(part[row]) for part in parts)
            place = rotate(back, flat(np.float64(x), np.float64(y)) - own.pos_m)
            motion = rotate(back, flat(np.float64(vx), np.float64(vy)))
            found.append(Thing(f"{OPPONENT}{row - 1}" if row else BALL, place, motion))
        return tuple(found)

    def _draw(self, size: int) -> np.ndarray:
        return self._random.random((1, self.scenario.players, size), np.float32)
