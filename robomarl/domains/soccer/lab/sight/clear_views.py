"""Game in which all robots see without errors: what a teacher of robots with slow errors decides on. Array-generic."""

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.soccer.lab.camera import CameraPicture, all_things, in_sight, true_pose, true_sight
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.radio import SoccerAir, SoccerMessage, report, things_to_mates, to_mates
from robomarl.domains.soccer.lab.scenario import SoccerScenario


def cleared(scenario: SoccerScenario, game: SoccerWorld) -> SoccerWorld:
    """Return the game with true poses, and with true pictures of all that is in sight, of both teams.

    Pictures and messages keep their ages. They say where things would have been then, had they not changed their
    velocities since: a view of the game that carries them forward shows where they are.
    """
    robots = game.robots
    x, y, *_ = all_things(scenario, robots, game.ball)
    seen = in_sight(scenario, robots, x - robots.x[..., None], y - robots.y[..., None])
    pose, whole = true_pose(scenario, robots), true_sight(scenario, robots, game.ball)
    sight = _earlier(whole._replace(seen=seen), scenario.eyes.latency_s)
    air = _air(scenario, game.air, report(pose, sight, False))
    return game._replace(pose=pose, sights=(*game.sights[:-1], sight), air=air)


def _earlier(sight: CameraPicture, age_s: Array | float) -> CameraPicture:
    """Return the picture as it was that long before, with zeros for things that are not in it."""
    seen, x, y, vx, vy = sight
    parts = (x - age_s * vx, y - age_s * vy, vx, vy)
    return CameraPicture(seen, *(namespace(x).where(seen, part, 0.0) for part in parts))


def _air(scenario: SoccerScenario, air: SoccerAir, message: SoccerMessage) -> SoccerAir:
    """Return messages of the same ages as those that were received, with the sender's true motion and pictures."""
    x, y, vx, vy = (to_mates(scenario.count, part) for part in message[:4])
    told = CameraPicture(*(things_to_mates(scenario.count, part) for part in message.sight))
    sight = _earlier(told, air.age_s[..., None])
    motion = (x - air.age_s * vx, y - air.age_s * vy, vx, vy)
    return air._replace(message=SoccerMessage(*motion, sight, air.message.plan))
