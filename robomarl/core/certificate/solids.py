"""The rule for obstacles that never move: a course stays away from them until it rests. Array-generic."""

from types import ModuleType

from robomarl.core.filter.checks import split
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.motion import Motion
from robomarl.core.filter.model.pairs import Body, facing
from robomarl.core.types import Array


def room_left(c: Constants, path: Array, xp: ModuleType) -> Array:
    """[..., C] least distance [m] of paths from what obstacles keep free; below 0: inside of that.

    An obstacle is convex. So its distance is convex along a chord, and above the tangents at both ends.

    Args:
        c: constants of the front; its obstacles keep the robot's clearance and its tube free.
        path: [..., C, M, 3] places of references, world frame.
    """
    step = path[..., 1:, :] - path[..., :-1, :]
    least = path[..., 0, 0] * 0.0 + xp.inf
    for solid in c.solids:
        offset = path - xp.asarray(solid.place_m, path.dtype)
        none = offset[..., 0] * 0.0
        body = Body(Motion((none, none, none), (none, none, none)), none, none, solid.shape)
        x, y, z = split(offset)
        distance, normal, _ = facing(solid.kind, body, None, (x, y, z * solid.kind.squash), xp)
        room, slope = distance - solid.kind.separation_m, xp.stack(normal, -1)
        leaves, meets = ((slope[..., part, :] * step).sum(-1) for part in (slice(None, -1), slice(1, None)))
        before, after, turn = room[..., :-1], room[..., 1:], xp.where(meets > leaves, meets - leaves, 1.0)
        cross = (meets * before - leaves * after + leaves * meets) / turn
        between = xp.where(leaves >= 0, before, xp.where(meets <= 0, after, cross))
        least = xp.minimum(least, between.min(-1))
    return least
