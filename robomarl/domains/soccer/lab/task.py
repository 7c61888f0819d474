"""The soccer task: score, and don't concede. Everything else in the reward is small and fades next to a goal."""

from robomarl.core.geometry import namespace
from robomarl.core.spec import ActionField, ActionSpec, ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.placement import sides
from robomarl.domains.soccer.lab.scenario import SoccerScenario

IMPACT_M_S = 0.3
"""Robot-robot impacts above this closing speed count."""
STANDING_M_S = 0.1
"""Speed [m/s] of a robot's own part of an impact below which it stood, and its opponent in the impact caused it."""

WEIGHTS = {"score": 100.0, "concede": -100.0, "ball": 2.0, "approach": 0.5, "impact": -1.0, "smooth": -0.002}
"""Weight of each term; rates are per second."""


def observation(scenario: SoccerScenario) -> ObservationSpec:
    """Own motion, the goal, the ball as seen and as told, the nearest opponents in sight and mates on the radio."""
    names = ("own_motion", "goal_ahead", "ball_seen", "ball_told", "kicker", "opponents", "mates")
    return ObservationSpec(tuple(ObservationField(name) for name in names), scenario.radio.rule)


def action(scenario: SoccerScenario) -> ActionSpec:
    """Acceleration in the team's field frame, yaw rate, and how hard to kick when the ball is at the face."""
    low, high = (limit.tolist() for limit in scenario.command_limits)
    kinds = (
        ("acceleration.x", "m/s^2", "field"),
        ("acceleration.y", "m/s^2", "field"),
        ("yaw_rate", "rad/s", "field"),
        ("kick", "m/s", "body"),
    )
    return ActionSpec(tuple(ActionField(*k, a, b) for k, a, b in zip(kinds, low, high, strict=True)))


def reward_terms(scenario: SoccerScenario, before: SoccerWorld, after: SoccerWorld, command: Array) -> dict[str, Array]:
    """Named terms, [..., M] each, before their weights; rates are per second, so that weights are too."""
    side, rate = sides(scenario), 1 / scenario.period_s
    scored = side * after.referee.scored[..., None] * rate
    going_on = (after.referee.restarts == before.referee.restarts)[..., None]
    jerk = (after.queue[0] - before.queue[0])[..., :2]
    blame = (after.contacts.impact_m_s > IMPACT_M_S) & (after.contacts.own_m_s > STANDING_M_S)
    xp = namespace(after.ball.x)
    return {
        "score": xp.maximum(scored, 0.0),
        "concede": xp.maximum(-scored, 0.0),
        "ball": going_on * side * (danger(scenario, after) - danger(scenario, before))[..., None] * rate,
        "approach": going_on * (nearest(scenario, before) - nearest(scenario, after)) * rate,
        "impact": blame * rate,
        "smooth": (jerk * jerk).sum(-1),
    }


def danger(scenario: SoccerScenario, game: SoccerWorld) -> Array:
    """[...] how much nearer the ball is to their goal than to ours [m]; its change pays for moving it there."""
    xp, half = namespace(game.ball.x), scenario.field.length_m / 2
    square = game.ball.y * game.ball.y
    ours, theirs = ((game.ball.x + end) ** 2 + square for end in (half, -half))
    return xp.sqrt(ours + 1e-6) - xp.sqrt(theirs + 1e-6)


def nearest(scenario: SoccerScenario, game: SoccerWorld) -> Array:
    """Return [..., M] distance from the ball to the team's nearest robot [m], equal for the whole team.

    Measured to a point behind the ball, from where it can be kicked towards the goal.
    """
    xp, side = namespace(game.ball.x), sides(scenario)
    behind = game.ball.x[..., None] - side * (scenario.kicker.face_m + scenario.ball.radius_m)
    dx, dy = game.robots.x - behind, game.robots.y - game.ball.y[..., None]
    away = xp.sqrt(dx * dx + dy * dy + 1e-6)
    teams = away.reshape(*away.shape[:-1], 2, scenario.count).min(-1)
    return xp.repeat(teams, scenario.count, axis=-1)


def finished(scenario: SoccerScenario, game: SoccerWorld) -> Array:
    """[...] bool: an episode of training ends here, with a goal."""
    return game.referee.scored != 0


def privileged(scenario: SoccerScenario, game: SoccerWorld) -> Array:
    """[..., M, P] for the critic: the true game from each robot's side: itself, mates, opponents, the ball."""
    xp, side, count = namespace(game.ball.x), sides(scenario), scenario.count
    robots, ball = game.robots, game.ball
    parts = [side * p for p in (robots.x, robots.y, robots.vx, robots.vy, robots.c, robots.s)]
    rows = xp.stack([*parts, robots.turn, robots.charge_s], -1)
    seen_ball = xp.stack([p[..., None] * side for p in ball], -1)
    to_ball = seen_ball[..., :2] - rows[..., :2]
    mates = [_turned(rows, count, k) for k in range(1, count)]
    swapped = xp.concatenate([rows[..., count:, :], rows[..., :count, :]], -2)
    others = [_turned(swapped, count, k) for k in range(count)]
    left = 1 - game.step[..., None, None] / scenario.rally_steps + 0 * rows[..., :1]
    return xp.concatenate([rows, to_ball, seen_ball, *mates, *others, left], -1)


def _turned(rows: Array, count: int, by: int) -> Array:
    """Return [..., M, F]: robot (i + by) mod N of the own team in place of robot i."""
    xp = namespace(rows)
    teams = rows.reshape(*rows.shape[:-2], 2, count, rows.shape[-1])
    return xp.roll(teams, -by, -2).reshape(rows.shape)
