"""The rule for obstacles that never move: a course stays away from them until it rests. Array-generic."""

from types import ModuleType

from robomarl.core.filter.checks import split
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.motion import Motion
from robomarl.core.filter.model.pairs import Body, facing
from robomarl.core.types import Array


def room_left(c: Constants, path: Array, xp: ModuleType) -> Array:
    """[..., C] least distance [m] of paths from what obstacles keep free; below 0: inside of that.

    A distance changes by no more than the way. So between two compared places it is at least half of
    the sum of both distances less the way.

    Args:
        c: constants of the front; its obstacles keep the robot's clearance and its tube free.
        path: [..., C, M, 3] places of references, world frame.
        xp: numpy or jax.numpy.
    """
    step = path[..., 1:, :] - path[..., :-1, :]
    way = xp.sqrt((step * step).sum(-1))
    least = path[..., 0, 0] * 0.0 + xp.inf
    for solid in c.solids:
        offset = path - xp.asarray(solid.place_m, path.dtype)
        none = offset[..., 0] * 0.0
        body = Body(Motion((none, none, none), (none, none, none)), none, none, solid.shape)
        x, y, z = split(offset)
        distance = facing(solid.kind, body, None, (x, y, z * solid.kind.squash), xp)[0] - solid.kind.separation_m
        between = (distance[..., 1:] + distance[..., :-1] - way) / 2
        least = xp.minimum(least, between.min(-1))
    return least
