"""`RealTimeCourt`: drones and their ball on MuJoCo, a decision at a time, and the referee that serves. No ROS.

Nothing moves before the first command. Then the drones go to their posts, and the ball rests above the server. It is
served as soon as all drones have been commanded, and near their posts, for a while. After the rally it is taken away.
In a task without a ball the first way-point is named in place of the serve.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from robomarl.core.view import Goal
from robomarl.domains.volleyball.core.log import RallyLog
from robomarl.domains.volleyball.lab.match.model import both_ways
from robomarl.domains.volleyball.lab.match.scenario import MatchScenario
from robomarl.domains.volleyball.lab.match.world import possession_of
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.field.simulated.model_node import RealTimeModel
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.model.batch import ModelSim
from robomarl.lab.sim.model.model import Model
from robomarl.lab.simulation import simulation_of
from robomarl.ros.flight_score import Score

SERVE_S = 1.0
"""Time [s] for which all drones have to be ready for the serve."""
POST_M, SLOW_M_S = 0.3, 0.3
"""Distance [m] from its post and speed [m/s] below which a drone is ready."""
AWAY_M = 2.0
"""Distance [m] beside the court of a ball that was taken away."""
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0], np.float32)


class RallyPhase(IntEnum):
    """Phases of a rally, each named by what happens until the next one begins."""

    STANDING = 0
    """For a command to any drone."""
    GATHERING = 1
    """For all drones at their posts."""
    PLAYING = 2
    OVER = 3


class RallyFigures(NamedTuple):
    """`Score`, and what the referee counted."""

    flight: int
    seed: int
    flight_s: float
    succeeded_s: float
    failed: float
    collisions: int
    min_distance_m: float
    time_limit_s: float
    slipped_s: float
    phase: int
    rally_s: float
    """Time [s] since the serve, until the rally was over."""
    hits: int
    """Hits that counted."""
    score: float
    """The task's metric; of a match the first team's points."""
    fault: int
    """Number of the fault that ended a match in `rules.FAULTS`, of the second team plus 100; -1: none, or no match."""


class RealTimeCourt(RealTimeModel):
    """All drones of one team or of two, and the ball."""

    _scenario: VolleyScenario

    def __init__(self, model: Model, scenario: VolleyScenario) -> None:
        """Take them; call `reset` before the first step."""
        super().__init__(model, scenario)
        self._is_match = isinstance(scenario, MatchScenario)

    def simulated(self, seed: int) -> ModelSim:
        """One rally on MuJoCo; in matches the sides serve in turn, seed by seed."""
        made = simulation_of(self._scenario).batch(self._scenario, "mujoco", 1, seed)
        assert isinstance(made, ModelSim), "volleyball on MuJoCo is a batch of a model"
        made.take(seed % 2, 2)
        return made

    def reset(self, seed: int) -> None:
        """New places, a new ball; everybody is still and level."""
        self.phase = RallyPhase.STANDING
        super().reset(seed)
        world = self.world
        self._begin = world._replace(quat_wxyz=np.broadcast_to(UPRIGHT, world.quat_wxyz.shape).copy())
        self._sim.set_world(self._begin)
        self._ready_s, self._rally_s = 0.0, 0.0
        self._commanded = np.zeros(self._command.shape[1], bool)
        self._rows: list[tuple[np.ndarray, ...]] = []

    @property
    def posts_m(self) -> np.ndarray:
        """[N, 3] places at which the drones wait for the serve."""
        return np.array(self._scenario.start.anchors_m) if self._scenario.waypoints_m else self.world.goal_m[0]

    @property
    def goals(self) -> list[Goal]:
        """Place that each drone is told: its post, or in play the way-point that the referee names next."""
        places = self.world.goal_m[0] if self.in_play else self.posts_m
        return [Goal(place, UPRIGHT) for place in places.astype(float)]

    def command(self, index: int, command: np.ndarray) -> None:
        """A command [A] arrived at a drone, in the map."""
        super().command(index, command)
        self._commanded[index] = True

    def step(self) -> None:
        """One decision, and the referee."""
        if self.phase is RallyPhase.STANDING and not self._has_begun:
            self._steps += 1
            return
        command = self._command
        if isinstance(self._scenario, MatchScenario):
            command = both_ways(self._scenario, command)  # the model takes those of the second team in its own frame
        self._sim.step(command)
        self._steps += 1
        self._judge()
        self._note()
        self._referee()

    @property
    def in_play(self) -> bool:
        """The ball has been served, and the rally is not over."""
        return self.phase is RallyPhase.PLAYING

    def _judge(self) -> None:
        self._flown += 1
        touching = bool(self.model.touching(self._scenario, self.world).any())
        self._collisions += touching and not self._touching
        self._touching = touching
        self._closest_m = min(self._closest_m, float(self.world.closest_m.min()))

    def _referee(self) -> None:
        if self.phase is RallyPhase.PLAYING:
            self._rally_s += self.dt_s
            self._failed = bool(self.model.ended(self._scenario, self.world)[0])
            if self._failed or self._rally_s >= self._scenario.time_limit_s - 1e-9:
                self._ended, self.phase = self.world, RallyPhase.OVER
                self._take_away()
            return
        if self.phase is RallyPhase.OVER:
            self._take_away()
            return
        self.phase = RallyPhase.GATHERING
        self._ready_s = self._ready_s + self.dt_s if self._is_ready() else 0.0
        self._hold()
        if self._ready_s >= SERVE_S:
            self.phase = RallyPhase.PLAYING
            self._closest_m = np.inf

    def _is_ready(self) -> bool:
        world = self.world
        away = np.linalg.norm(world.pos_m[0] - self.posts_m, axis=-1)
        speed = np.linalg.norm(world.vel_m_s[0], axis=-1)
        return bool(self._commanded.all() and (away < POST_M).all() and (speed < SLOW_M_S).all())

    def _hold(self) -> None:
        """Keep the ball above the server's post, and the referee's record as it was at the start."""
        began = self._begin
        ball = began.own.ball_pos_m.copy()
        server = np.argmin(np.linalg.norm(began.pos_m[0, :, :2] - ball[0, :2], axis=-1))
        ball[0] = began.goal_m[0, server] + [0.0, 0.0, self._scenario.start.ball_above_m]
        own = self.world.own._replace(ball_pos_m=ball, ball_vel_m_s=ball * 0, rally=began.own.rally)
        self._sim.set_world(self.world._replace(own=own, step=began.step))

    def _take_away(self) -> None:
        if self._scenario.ball is None:
            return
        court, own = self._scenario.court, self.world.own
        radius_m = self._scenario.ball.radius_m
        ball = np.array([[0.0, court.width_m / 2 + AWAY_M, radius_m]], np.float32)
        self._sim.set_world(self.world._replace(own=own._replace(ball_pos_m=ball, ball_vel_m_s=ball * 0)))

    def _note(self) -> None:
        """Keep this decision for the log."""
        world, rally = self.world, self.world.own.rally
        kept = (self._flown * self.dt_s, self.in_play, world.own.ball_pos_m[0], world.pos_m[0], rally.hit[0])
        self._rows.append((*(np.array(part) for part in kept), np.array(rally.score[0])))

    def log(self) -> RallyLog | None:
        """The true log since the reset; None before the first command."""
        if not self._rows:
            return None
        court = self._scenario.court
        time_s, in_play, ball, robots, hit, score = (np.stack(part) for part in zip(*self._rows, strict=True))
        size = np.array([court.length_m, court.width_m, court.net_m])
        return RallyLog(time_s, in_play, ball, robots, hit, score, size, np.array(1 + self._is_match))

    def figures(self, slipped_s: float) -> RallyFigures:
        """The referee's counts now."""
        world = self._ended if self.phase is RallyPhase.OVER else self.world
        rally, score = world.own.rally, self.score(slipped_s)
        counts = int(self.phase), self._rally_s, int(rally.hits[0]), float(rally.score[0]), self._fault(world)
        return RallyFigures(*score, *counts)

    def _fault(self, world: TeamWorld) -> int:
        if not self._is_match or self.phase is not RallyPhase.OVER:
            return -1
        found = np.argwhere(possession_of(world.own.rally.marks).found[0] > 0.5)
        return int(found[0, 1] + 100 * found[0, 0]) if len(found) else -1

    def score(self, slipped_s: float = 0.0) -> Score:
        """The judge's figures now; the rally has succeeded if it lasted for its whole time."""
        lasted = self.phase is RallyPhase.OVER and not self._failed
        return super().score(slipped_s)._replace(succeeded_s=self._rally_s if lasted else np.nan)
