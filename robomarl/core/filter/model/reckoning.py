"""Position of a robot that has lost its own estimate: its last plan, with a growing uncertainty."""

from types import ModuleType

from robomarl.core.filter.memory import FilterCarry
from robomarl.core.filter.model import stacked
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.motion import Motion, Predicted, Vec3
from robomarl.core.types import Array


def reckoned(c: Constants, carry: FilterCarry, since_s: Array, xp: ModuleType) -> Predicted:
    """Return the state when the next decision takes effect, according to the last plan.

    The velocity was wrong from the beginning, the rest of the acceleration error and the bias add to
    that all the while, and so does the effect of the delay on the commands: at most the longest delay
    less the shortest, times the widest change of the last commands. The uncertainty grows for as long
    as the delay at most: a robot without an estimate comes to rest, and must not flee from mere
    possibilities.

    Args:
        c: constants of the vehicle.
        carry: memory of the last decision.
        since_s: [...] age of the last estimate.
        xp: numpy or jax.numpy.
    """
    since_s = xp.minimum(since_s, c.horizon_s)
    pos, vel, _ = (_components(part, xp) for part in carry.plan)
    acting, known = carry.commands[..., carry.commands.shape[-2] - c.num_acting :, :3], carry.bias
    still = Motion(tuple(x * 0.0 for x in pos), tuple(x * 0.0 for x in vel))
    own, t, late_s = stacked.predict(c, still, acting, known, xp), c.horizon_s, xp.minimum(since_s, c.spread_s)
    turned = acting.max(-2) - acting.min(-2) if c.num_acting else known.doubt_m_s2 * 0.0
    grown_m_s = known.doubt_m_s2 + c.accel_error_m_s2
    late_m_s = turned * late_s[..., None]
    unsure_m_s = grown_m_s * since_s[..., None] + late_m_s
    unsure_m = grown_m_s * (since_s * (since_s / 2 + t))[..., None] + late_m_s * (since_s + t)[..., None]
    unsure_m = unsure_m + c.velocity_error_m_s * since_s[..., None]
    far, fast = _components(unsure_m, xp), _components(unsure_m_s, xp)
    return own._replace(
        motion=Motion(pos, vel), unsure_m=_sum(own.unsure_m, far), unsure_m_s=_sum(own.unsure_m_s, fast)
    )


def _sum(a: Vec3, b: Vec3) -> Vec3:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _components(vector: Array, xp: ModuleType) -> Vec3:
    return tuple(xp.moveaxis(vector, -1, 0))
