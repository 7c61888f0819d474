"""Strangers in a safety campaign of certified robots: sightings of them, and contacts with robots in motion. Numpy."""

import numpy as np

from robomarl.core.certificate.course import state_at
from robomarl.core.filter.model.bodies import Strangers
from robomarl.core.view import LocalView
from robomarl.lab.certified import CertifiedTeam, CertifiedTeamCarry
from robomarl.lab.prove.campaign.conditions import START_ROOM_M, World
from robomarl.lab.prove.campaign.hunters import Hunters, HuntRules, length, unit
from robomarl.lab.prove.campaign.score import Reached

STANDS_M_S = 1e-3
"""A reference rests where it is slower."""
LURED_SHARE = 0.5
"""Share of the robots that drive at the nearest stranger, in place of at teammates."""


class Pursuit:
    """Strangers that hunt E teams of N robots.

    A robot counts as moving where the point that it tracks may move: where its reference does, within half of the
    time of smoothing before or after.
    """

    def __init__(self, told: Strangers, count: int, world: World, guard: CertifiedTeam) -> None:
        """Place `count` strangers around each team; `told`: bounds of strangers that robots were told of."""
        params, figures, self._random = world.params, guard.figures, world.random
        safety, shape = params.safety, world.team.pos.shape[:2]
        apart_m = safety.separation_m + 2 * params.look_ahead_m + START_ROOM_M
        still_m_s = 2 * safety.velocity_error_m_s + safety.accel_error_m_s2 * safety.delay_s
        rules = HuntRules(told, params.period_s, apart_m, still_m_s)
        self._told, self._hunters = told, Hunters(rules, world.team.pos, count, world.random)
        self._lured = world.random.random((*shape, 1)) < LURED_SHARE
        self._speeds: list[np.ndarray] = []
        spread = figures.settles_s / params.period_s
        lead = figures.lead_s / params.period_s
        self._ago = max(0, round(lead - spread)), round(lead + spread) + 1
        """Decisions ago at which the reference was moved that robots track in a period: the newest and the oldest."""
        self._moving, self._resting = np.zeros((2, shape[0]), bool)
        self._least_m, self._moves = np.inf, 0

    def sees(self, view: LocalView, world: World, step: int) -> LocalView:
        """Return the robots' views [E, N] with the strangers in them."""
        return view._replace(sensed=self._hunters.seen(world.team.pos, step))

    def lures(self, world: World, accel: np.ndarray) -> np.ndarray:
        """Return the robots' nominal accelerations [E, N, 3]; some robots go for the nearest stranger."""
        apart = length(self._hunters.pos[:, None] - world.team.pos[:, :, None])
        nearest = np.take_along_axis(self._hunters.pos, apart.argmin(-1)[..., None], 1)
        most = np.array(world.params.limits.accel_max_m_s2)
        return np.where(self._lured, unit(nearest - world.team.pos) * most, accel)

    def follow(self, carry: object, path: np.ndarray, world: World, step: int) -> Reached:
        """Hunt for the period in which the robots' centres took this way [S + 1, E, N, 3]; whom strangers reached so
        far. `carry`: memory of the certificate."""
        assert isinstance(carry, CertifiedTeamCarry), "strangers hunt certified robots"
        robots = carry.robots
        speed = length(state_at(robots.course, robots.until_s, np)[1])
        self._speeds = [speed, *self._speeds[: self._ago[1]]]
        moves = np.max(self._speeds[self._ago[0] :] or [0 * speed], axis=0) > STANDS_M_S
        touches = self._hunters.move(path[0], path[-1], world.team.vel, step)
        near = (touches.apart_m < self._told.separation_m).any(-1)
        self._moving |= (near & moves).any(-1)
        self._resting |= (near & ~moves).any(-1)
        self._least_m = min(self._least_m, float(touches.apart_m[moves].min(initial=np.inf)))
        self._moves += int(moves.sum())
        least_m = self._least_m if np.isfinite(self._least_m) else None
        return Reached(int(self._moving.sum()), int(self._resting.sum()), least_m, self._moves)
