"""`ApexBumpLaw`: the strike of `volley_bump` for rackets of unknown restitution: it learns from each apex.

The blow assumes a restitution, so a livelier racket sends the ball higher. At each apex the law compares its height
with the wanted one, and asks more or less of the next blows (integral control, one step for each flight).
Array-generic.
"""

from dataclasses import replace

from robomarl.core.geometry import namespace
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.domains.volleyball.lab.controllers.strike import BumpLaw, CourtSeen, StrikeGains, seen_of

MOST_M = 2.0
"""Largest correction of the apex that the blow is computed for [m]."""


class ApexBumpLaw(BumpLaw):
    """(drone, anchor, ball) -> acceleration and yaw rate, with a memory of two numbers."""

    memory_size = 2
    """Vertical speed of the ball in the last decision [m/s]; correction of the apex [m]."""
    search_least = BumpLaw.search_least._replace(lift_effort=3e-4, learn=0.0, reach_m=3.0)

    def first(self) -> StrikeGains:
        """Gains at the start of a search."""
        return super().first()._replace(learn=0.4, reach_m=3.7)

    def decide(self, memory: Array, obs: Array) -> tuple[Array, Array]:
        """(memory [..., 2], observation [..., O]) -> (memory, command [..., 4])."""
        seen = seen_of(obs)
        xp, speed = namespace(memory, obs), seen.ball_vel[2]
        is_apex = (memory[..., 0] > 0) & (speed <= 0)
        missing = self.gains.reach_m - seen.ball[2] - speed * speed / (2 * GRAVITY_M_S2)
        added = xp.where(is_apex, self.gains.learn * missing, 0.0)
        after = xp.stack([speed, xp.clip(memory[..., 1] + added, -MOST_M, MOST_M)], -1)
        return after, self.flown(replace(seen, rest=after))

    def act(self, obs: Array) -> Array:
        """Observation [..., O] -> command [..., 4], before anything was learned."""
        return self.decide(obs[..., :2] * 0, obs)[1]

    def apex(self, seen: CourtSeen) -> Array:
        """Height [m] that the blow is computed for."""
        return super().apex(seen) + seen.rest[..., 1]
