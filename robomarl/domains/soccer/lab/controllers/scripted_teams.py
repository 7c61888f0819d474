"""The scripted soccer teams, `chaser` and `keeper`: every robot acts on its own view. Array-generic."""

from collections.abc import Callable

from robomarl.core.config import UserError
from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.features import SoccerSensed, heading
from robomarl.domains.soccer.lab.controllers.skills import (
    Belief,
    Move,
    Vec2,
    ahead,
    believe,
    carry_out,
    goal_place,
    is_nearest,
    is_pressed,
    length,
    minus,
    no_belief,
    own_place,
    shoot,
)
from robomarl.domains.soccer.lab.scenario import ROLES, SoccerScenario

Script = Callable[[SoccerScenario, LocalView, Belief], Move]
OUT = 0.62
"""How far out the keeper stands, as a share of the way from the goal to the ball."""
STRAIGHT_M = 0.25
"""Advantage of a line straight ahead over one across, in metres of clearance."""
BOARD_M = 0.4
"""Disadvantage of a line to a side board against one to the goal, in metres of clearance."""


def chaser(scenario: SoccerScenario, view: LocalView, belief: Belief) -> Move:
    """Return the moves of `chaser`: the robot nearest to the ball shoots at the goal's middle; its teammates wait
    behind the ball.
    """
    direct = shoot(scenario, view, belief, goal_place(view))
    me = own_place(view)
    goal = goal_place(view)
    home = 0.5 * (belief.x - goal[0]), 0.5 * belief.y
    wait = Move(home, minus((belief.x, belief.y), me), 0 * belief.x)
    return choose(is_nearest(view, belief), direct, wait)


def keeper(scenario: SoccerScenario, view: LocalView, belief: Belief) -> Move:
    """Return the moves of `keeper`: a keeper between ball and goal, an attacker that shoots past the
    opponents' keeper, a supporter on the opposite wing.

    The nearest robot plays the ball, the keeper only outside the opponents' quarter of the field; the
    attacker keeps the goal meanwhile. A slow ball near the own goal is passed to a teammate ahead.
    """
    xp = namespace(belief.x)
    attack = strike(scenario, view, belief)
    guard, nearest = keep_goal(scenario, view, belief), is_nearest(view, belief)
    role, forward = view.role + 0 * belief.x, belief.x > 0.25 * scenario.field.length_m
    keeps = choose(nearest & ~forward, attack, guard)
    leads = choose(nearest | forward, attack, guard)
    helps = choose(nearest, attack, wing(scenario, view, belief))
    chosen = choose(role == ROLES.index("supporter"), helps, leads)
    chosen = choose(role == ROLES.index("keeper"), keeps, chosen)
    return chosen._replace(kick=xp.where(belief.age_s < 0.5, chosen.kick, 0.0))


SCRIPT_OF: dict[str, Script] = {"chaser": chaser, "keeper": keeper}


def choose(first: Array, one: Move, other: Move) -> Move:
    """Return one of two moves, for each robot."""
    xp = namespace(first, one.kick)
    pick = [
        tuple(xp.where(first, a, b) for a, b in zip(*pair, strict=True))
        for pair in zip(one[:2], other[:2], strict=True)
    ]
    return Move(pick[0], pick[1], xp.where(first, one.kick, other.kick))  # type: ignore[arg-type]


def strike(scenario: SoccerScenario, view: LocalView, belief: Belief) -> Move:
    """Shoot along the freest line; under pressure, anywhere ahead."""
    return shoot(scenario, view, belief, open_line(scenario, view, belief), is_pressed(scenario, view, belief))


def open_line(scenario: SoccerScenario, view: LocalView, belief: Belief) -> Vec2:
    """Return the place to kick to: the point of the opponents' goal, or of a side board ahead, with the
    freest line from the ball.

    Opponents in sight block the lines that pass near them. A board costs a little, a turn of the
    robot a little more: a ball that is played past a blocked opponent is still better than one that
    is stuck between two robots.
    """
    xp, goal, ball = namespace(belief.x), goal_place(view), (belief.x, belief.y)
    reach, side = scenario.field.goal_width_m / 2 - 0.12, scenario.field.width_m / 2
    aims = [(goal[0], goal[1] + part * reach) for part in (0.0, -0.5, 0.5, -1.0, 1.0)]
    aims += [(xp.minimum(belief.x + 1.2, goal[0]), part * side + 0 * belief.y) for part in (-1.0, 1.0)]
    c, s = heading(view)
    worth = []
    for i, aim in enumerate(aims):
        line = minus(aim, ball)
        straight = (line[0] * c + line[1] * s) / length(line)
        worth.append(clearance(view, ball, line) + STRAIGHT_M * straight - (0.0 if i < 5 else BOARD_M) - 0.01 * i)
    best = xp.argmax(xp.stack(worth, -1), -1)[..., None]
    picks = [xp.take_along_axis(xp.stack([a[k] + 0 * belief.x for a in aims], -1), best, -1)[..., 0] for k in (0, 1)]
    return picks[0], picks[1]


def clearance(view: LocalView, ball: Vec2, line: Vec2) -> Array:
    """[...] distance of the nearest opponent in sight from the line that the ball is to take; 0.3 m at most."""
    xp, sensed = namespace(*ball), view.sensed
    assert isinstance(sensed, SoccerSensed), "a player senses soccer"
    off = [sensed.strangers_pos_m[..., i] - ball[i][..., None] for i in range(2)]
    way, size = [part[..., None] for part in line], length(line)[..., None]
    along = xp.clip((off[0] * way[0] + off[1] * way[1]) / size**2, 0.0, 1.0)
    away = length((off[0] - along * way[0], off[1] - along * way[1]))
    return xp.where(sensed.strangers_mask, xp.minimum(away, 0.3), 0.3).min(-1)


def keep_goal(scenario: SoccerScenario, view: LocalView, belief: Belief) -> Move:
    """Stand between ball and goal, the farther out the farther the ball is; stop a shot; clear a slow ball.

    At `OUT` of the way to the ball a robot covers nearly the whole goal; a shot is too fast to be stopped otherwise.
    """
    xp, me = namespace(belief.x), own_place(view)
    half, post = scenario.field.length_m / 2, scenario.field.goal_width_m / 2
    off = (belief.x + half, belief.y)
    away = length(off)
    out = xp.clip(OUT * away, 0.2, 2.2) / away
    x, y = -half + out * off[0], out * off[1]
    coming = belief.vx < -0.6
    time_s = xp.clip((me[0] - belief.x) / xp.where(coming, belief.vx, -1.0), 0.0, 1.5)
    crossing = xp.clip(ahead(belief, time_s)[1], -post - 0.3, post + 0.3)
    stop = coming & (belief.x > me[0])
    stand = Move((xp.where(stop, me[0], x), xp.where(stop, crossing, y)), minus((belief.x, belief.y), me), 0 * y)
    slow = length((belief.vx, belief.vy)) < 1.0
    clear = shoot(scenario, view, belief, pass_target(view))
    return choose(slow & (belief.x < -0.1) & is_nearest(view, belief), clear, stand)


def pass_target(view: LocalView) -> Vec2:
    """Return a place a little in front of the teammate that is farthest ahead; without one, the opponents' goal."""
    xp, heard, goal = namespace(view.own.pos_m), view.heard, goal_place(view)
    x = xp.where(heard.mask, heard.pos_m[..., 0], -xp.inf)
    if x.shape[-1] == 0:
        return goal
    best = xp.argmax(x, -1)[..., None]
    place = [xp.take_along_axis(heard.pos_m[..., i], best, -1)[..., 0] for i in range(2)]
    found = heard.mask.any(-1) & (place[0] > view.own.pos_m[..., 0] + 0.5)
    return xp.where(found, place[0] + 0.3, goal[0]), xp.where(found, place[1], goal[1])


def wing(scenario: SoccerScenario, view: LocalView, belief: Belief) -> Move:
    """Move to a place from which a pass can be taken: ahead of the ball, on the opposite side of the field."""
    xp, me = namespace(belief.x), own_place(view)
    side = xp.where(belief.y > 0, -1.0, 1.0)
    x = xp.clip(belief.x + 0.6, -scenario.field.length_m / 2, scenario.field.length_m / 2 - 0.6)
    return Move((x, side * scenario.field.width_m / 4), minus((belief.x, belief.y), me), 0 * x)


class ScriptedTeam:
    """A script with the interface of a player: view in, command out."""

    def __init__(self, scenario: SoccerScenario, script: str) -> None:
        """Pick the script.

        Raises:
            UserError: there is none of that name.
        """
        if script not in SCRIPT_OF:
            raise UserError(f"Script {script!r} is not known; allowed: {', '.join(SCRIPT_OF)}.")
        self.name = script
        self._scenario, self._script = scenario, SCRIPT_OF[script]

    def init(self, view: LocalView) -> Belief:
        """Memory before the first decision."""
        return no_belief(view.own.pos_m[..., 0] * 0)

    def __call__(self, carry: Belief, view: LocalView) -> tuple[Belief, Array]:
        """(carry, view [...]) -> (carry, command [..., 4])."""
        belief = believe(self._scenario, carry, view)
        return belief, carry_out(self._scenario, view, belief, self._script(self._scenario, view, belief))

    def plan(self, carry: Belief) -> None:
        """Scripts have no filter, and commit to nothing."""
