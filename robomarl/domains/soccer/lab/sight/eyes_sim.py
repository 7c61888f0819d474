"""`EyesSim`: games in which our team sees pixels and nothing else; the opponents see as the scenario says."""

from collections import deque
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import GroundStrip, strip_table, to_strip
from robomarl.core.view import LocalView, Plan
from robomarl.domains.soccer.core.features import MatesSeen, Picture, sensed_of
from robomarl.domains.soccer.core.mates_in_sight import NOW_S
from robomarl.domains.soccer.core.sight.mates_in_picture import named
from robomarl.domains.soccer.core.sight.reports import in_own_order, opponents_of
from robomarl.domains.soccer.core.sight.rolling import shutter_of
from robomarl.domains.soccer.core.sight.tracker import SightTracker
from robomarl.domains.soccer.lab.batch import SoccerSim
from robomarl.domains.soccer.lab.engines.robot_cameras import Poses, RobotCameras
from robomarl.domains.soccer.lab.game import SoccerWorld, move, perceive
from robomarl.domains.soccer.lab.placement import PLACE_DRAWS
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.pitch import as_mounted, camera_of, pitch_of
from robomarl.domains.soccer.lab.sight.renderer import make_renderer
from robomarl.domains.soccer.lab.sight.scene import SightScene, draw_look, plain_look
from robomarl.domains.soccer.lab.sight.seeing import NOISE, Seeing
from robomarl.domains.soccer.lab.views import flat
from robomarl.lab.camera.network_strip import strip_of

HEARD_S = 0.4
"""Age [s] up to which messages tell that a robot is seen: those of the filter are younger."""


class Cameras(Protocol):
    """Interface of the cameras that draw our robots' pictures."""

    def begin(self, rows: np.ndarray, whole: int, batch: int) -> None:
        """Begin new games: these [E] of the batch of that number, which has `whole`."""
        ...

    def __call__(self, game: SoccerWorld) -> np.ndarray:
        """Return strips [E, N, R, C, 3] uint8 of our robots."""
        ...


class EyesSim(SoccerSim):
    """A batch of games on any engine; our robots' views come from `Seeing`."""

    def use(self, cameras: Cameras, eyes: Seeing) -> None:
        """Take the cameras and the robots' eyes, before `reset`."""
        self.cameras, self.eyes = cameras, eyes
        self._sight_batch = 0

    def take(self, first: int, whole: int, batch: int = 0) -> None:
        """Simulate games of a larger batch; see `BatchSim.take`."""
        super().take(first, whole, batch)
        self._sight_batch = batch

    def _started(self, world: SoccerWorld) -> None:
        super()._started(world)
        self._sight_random = np.random.default_rng([self._seed, 1, self._sight_batch])
        self.cameras.begin(self._rows, self.whole, self._sight_batch)
        self._sight_batch += 1
        self._mates: deque[list[list[Picture]]] = deque(maxlen=round(HEARD_S / self.scenario.period_s))
        self.eyes.start(world, self.cameras(world), self._noise())

    def _noise(self) -> np.ndarray:
        """[E, N, NOISE] standard normal, for each game that of its place in the whole batch."""
        return self._sight_random.normal(size=(self.whole, self.scenario.count, NOISE))[self._rows]

    def _advance(
        self, world: SoccerWorld, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None
    ) -> SoccerWorld:
        game = move(self.scenario, world, command, draws, self.play, plan)
        seen = self.eyes.step(game, self.cameras(game), self._noise())
        after = perceive(self.scenario, game, draws[..., PLACE_DRAWS:], seen)
        self._mates.appendleft(self._named(after))
        return after

    def _named(self, world: SoccerWorld) -> list[list[Picture]]:
        """Return the teammates [K] that each robot of each game sees."""
        heard = _heard(self.scenario, world)
        return [
            [
                named(one.mates, opponents_of(one.picture), Picture(*(part[env, i] for part in heard)))
                for i, one in enumerate(row)
            ]
            for env, row in enumerate(self.eyes.believed)
        ]

    def views(self) -> LocalView:
        """Return the views of all robots, [E, M, ...]; ours with the ages of their own tracks."""
        view = super().views()
        if not self.eyes.believed:
            return view
        sensed = [part.copy() for part in view.sensed]
        for env, row in enumerate(self.eyes.believed):
            for i, believed in enumerate(row):
                told = self._told(env, i)
                charge_s, mates = view.sensed.charge_s[env, i], self._mates_seen(env, i)  # type: ignore[attr-defined]
                mine = sensed_of(believed.picture, in_own_order(believed.picture, told), charge_s, mates)
                for part, new in zip(sensed, mine, strict=True):
                    part[env, i] = new
        return view._replace(sensed=type(view.sensed)(*sensed))

    def _mates_seen(self, env: int, i: int) -> MatesSeen:
        """Return the teammates that robot i sees, and where their messages said that it was."""
        count, age_s = self.scenario.count, self.world.air.age_s[env, i]
        by_mask, by_pos = np.zeros(count - 1, bool), np.zeros((count - 1, 3))
        for k in range(count - 1):
            if (back := round(float(age_s[k]) / self.scenario.period_s)) >= len(self._mates):
                continue
            mate, row = (i + 1 + k) % count, count - 2 - k
            mask, pos, vel, seen_s = (part[row] for part in self._mates[back][env][mate])
            by_mask[k] = mask and seen_s <= NOW_S
            by_pos[k] = by_mask[k] * (pos + vel * seen_s)
        return MatesSeen(self._mates[0][env][i], by_mask, by_pos)

    def _told(self, env: int, i: int) -> Picture:
        """[K, T] the teammates' pictures as robot i heard them."""
        air, scenario = self.world.air, self.scenario
        heard, age = air.message.sight, air.age_s[env, i]
        mask = heard.seen[env, i] & (age <= scenario.radio.max_age_s)[:, None]
        pos, vel = (
            np.where(mask[..., None], np.stack([x[env, i], y[env, i], 0 * x[env, i]], -1), 0.0)
            for x, y in ((heard.x, heard.y), (heard.vx, heard.vy))
        )
        return Picture(mask, pos, vel, np.where(mask, (age + scenario.eyes.latency_s)[:, None], 0.0))


def _heard(scenario: SoccerScenario, world: SoccerWorld) -> Picture:
    """Return where the teammates [E, M, K] of every robot are by their messages."""
    said, age_s = world.air.message, np.asarray(world.air.age_s)
    pos, vel = flat(said.x, said.y), flat(said.vx, said.vy)
    return Picture(age_s <= scenario.radio.max_age_s, pos, vel, age_s)


def seeing_soccer(plain: SoccerSim, network: bytes, cameras: Cameras, seed: int) -> EyesSim:
    """Return the games of another batch, played by a team that sees pixels.

    Args:
        plain: batch with engine and number of games.
        network: ONNX file of `SightLayout`.
        cameras: of our robots.
        seed: of the games and, apart from them, of the errors of odometry.
    """
    scenario = plain.scenario
    sim = EyesSim(scenario, plain.num_envs, seed, plain.play)
    camera = camera_of(scenario)
    tracker = SightTracker(scenario.count, camera.place_m[0], shutter_of(camera))
    sim.use(cameras, Seeing(scenario, network, tracker))
    return sim


def drawn_soccer(plain: SoccerSim, network: bytes, seed: int) -> EyesSim:
    """Return the games of another batch, played on drawn pictures of cameras that are mounted as their file says.

    Args:
        plain: as of `seeing_soccer`, like the other arguments.
        network: ONNX file.
        seed: of games, odometry and, apart from them, of the looks.
    """
    scenario = plain.scenario
    cameras = DrawnCameras(scenario, seed + 100, as_mounted(camera_of(scenario)), strip_of(network))
    return seeing_soccer(plain, network, cameras, seed)


class DrawnCameras:
    """Cameras of our robots by the renderer for training: one look for each robot and batch of games."""

    def __init__(self, scenario: SoccerScenario, seed: int, camera: PinholeCamera, strip: GroundStrip) -> None:
        """Compile at the first picture; looks are drawn from the ranges of the camera."""
        self.scenario, self._key, self._camera = scenario, jax.random.key(seed), camera
        render = make_renderer(pitch_of(scenario), self._camera, strip)
        self._render = jax.jit(lambda scene, look: render(scene, look).strip)
        self._look = plain_look(1)

    def begin(self, rows: np.ndarray, whole: int, batch: int) -> None:
        """Draw a look for each robot of each game of the batch."""
        count = self.scenario.count
        looks = draw_look(jax.random.fold_in(self._key, batch), self._camera, whole * count)
        self._look = jax.tree.map(lambda part: part[..., (rows[:, None] * count + np.arange(count)).ravel()], looks)

    def __call__(self, game: SoccerWorld) -> np.ndarray:
        """Return strips [E, N, R, C, 3]."""
        scene = scene_of(self.scenario, game, self._camera.place_m[0])
        look = self._look._replace(seed=self._look.seed + jnp.uint32(7919 * int(game.step[0]) + 1))
        strips = np.moveaxis(np.asarray(self._render(scene, look)), -1, 0)
        return strips.reshape(-1, self.scenario.count, *strips.shape[1:])


def scene_of(scenario: SoccerScenario, game: SoccerWorld, camera_x_m: float) -> SightScene:
    """Return what each of our robots has before it, [E * N] scenes: mates first, then the opponents."""
    count, robots = scenario.count, game.robots
    x, y, c, s = (np.asarray(part, np.float32) for part in (robots.x, robots.y, robots.c, robots.s))
    rows = [[(i + k) % count for k in range(1, count)] + list(range(count, 2 * count)) for i in range(count)]
    others = [np.stack([part[:, row] for row in rows], 1).reshape(-1, 2 * count - 1).T for part in (x, y)]
    own = [part[:, :count].ravel() for part in (x, y, c, s)]
    ball = [np.repeat(np.asarray(part, np.float32), count) for part in (game.ball.x, game.ball.y)]
    kind = np.repeat([[0.0]] * (count - 1) + [[1.0]] * count, len(own[0]), 1).astype(np.float32)
    return SightScene(
        place=(jnp.asarray(own[0] + camera_x_m * own[2]), jnp.asarray(own[1] + camera_x_m * own[3])),
        heading=(jnp.asarray(own[2]), jnp.asarray(own[3])),
        ball=(jnp.asarray(ball[0]), jnp.asarray(ball[1])),
        robots=(jnp.asarray(others[0]), jnp.asarray(others[1])),
        opponents=jnp.asarray(kind),
        turn=jnp.asarray(np.asarray(robots.turn, np.float32)[:, :count].ravel()),
    )


class RenderedCameras:
    """Cameras of our robots by MuJoCo's renderer, with shadows and smooth edges, or as the simulator of `up` draws."""

    def __init__(
        self, scenario: SoccerScenario, seed: int, camera: PinholeCamera, strip: GroundStrip, shadows: bool = True
    ) -> None:
        """Build the scene; `shadows` as of `RobotCameras`. Raises `UserError` if no GL library works here."""
        self.scenario, self._random = scenario, np.random.default_rng(seed)
        self._table = strip_table(camera, strip)
        self._cameras = RobotCameras(scenario, camera, shadows).__enter__()

    def begin(self, rows: np.ndarray, whole: int, batch: int) -> None:
        """All games look alike."""

    def __call__(self, game: SoccerWorld) -> np.ndarray:
        """Return strips [E, N, R, C, 3]."""
        robots, found = game.robots, []
        places = np.stack([robots.x, robots.y, np.arctan2(robots.s, robots.c)], -1)
        balls = np.stack([game.ball.x, game.ball.y], -1)
        for poses in zip(places, balls, np.asarray(robots.turn, np.float64), strict=True):
            self._cameras.place(Poses(*poses))
            rows = [self._cameras.picture(i, self._random) for i in range(self.scenario.count)]
            found.append(np.stack([to_strip(row, self._table) for row in rows]))
        return np.stack(found)
