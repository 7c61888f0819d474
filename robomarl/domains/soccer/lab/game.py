"""`SoccerWorld`: the true state at one decision of a match, and its step to the next, array-generic.

As in `robomarl.domains.flight.lab.step`, engines differ in one function only, `Play`, which
moves robots and ball through the sub-steps; delays, sensing, radio and the referee share one
code.

Shapes: `...` is the batch of games (empty inside `vmap`), M = 2 N the robots, the first N are
ours. Each team has a field frame of its own, in which it attacks towards +x; the world frame is
the first team's.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import Plan
from robomarl.domains.soccer.lab.camera import EYE_DRAWS, POSE_DRAWS, CameraPicture, Pose, look
from robomarl.domains.soccer.lab.physics.ball import Ball
from robomarl.domains.soccer.lab.physics.contact import Contacts
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots
from robomarl.domains.soccer.lab.placement import PLACE_DRAWS, kick_off
from robomarl.domains.soccer.lab.radio import SoccerAir, SoccerMessage, hear, report, with_plan, with_plans
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.slow_errors import SlowErrors, believed


class SoccerParameters(NamedTuple):
    """Randomized parameters of this episode; no robot knows them."""

    delay_substeps: Array
    """[..., M] int: sub-steps from decision to low-level controller."""
    noise_scale: Array
    """[..., M] factor on the errors of eyes and pose."""
    packet_loss: Array
    """[..., M] probability that this robot does not receive a message."""
    accel_scale: Array
    """[..., M] true over commanded acceleration."""
    kick_scale: Array
    """[..., M] true over commanded kick speed."""
    rolling_m_s2: Array
    """[...] deceleration of the rolling ball."""


class RefereeState(NamedTuple):
    """The match so far."""

    goals: tuple[Array, Array]
    """[...] int each: ours, theirs."""
    scored: Array
    """[...] int: 1 where we scored at this decision, -1 where they did, 0 else."""
    restarts: Array
    """[...] int: kick-offs since the start."""
    anchor: tuple[Array, Array]
    """[...] where the ball was when it last got anywhere [m]."""
    still_s: Array
    """[...] how long ago that was."""


class SoccerWorld(NamedTuple):
    """Everything that is true at one decision."""

    robots: OmniRobots
    """[..., M] each."""
    ball: Ball
    """[...] each."""
    queue: tuple[Array, ...]
    """Commands by age, newest first, [..., M, 4] each, in the teams' own field frames."""
    hidden: SoccerParameters
    pose: Pose
    """Every robot's estimate of its own motion now."""
    sights: tuple[CameraPicture, ...]
    """Pictures of the cameras, newest first; the last one is known now."""
    sent: tuple[SoccerMessage, ...]
    """Messages on their way through the radio, newest first."""
    air: SoccerAir
    """Last message that every robot received from each teammate."""
    referee: RefereeState
    contacts: Contacts
    """[..., M] each, since the last decision."""
    step: Array
    """[...] int: decisions since the start."""
    errors: SlowErrors | tuple[()] = ()
    """Errors of our robots that change slowly; none without `eyes.tracks`."""


Play = Callable[[SoccerWorld], tuple[OmniRobots, Ball, Contacts]]
"""(game with the new command queued) -> robots, ball and contacts one decision later."""


def queue_length(scenario: SoccerScenario) -> int:
    """Commands that may be in force within one decision, the newest included."""
    return 1 + math.ceil(scenario.randomize.delay_s[1] / scenario.period_s - 1e-9)


def num_step_draws(scenario: SoccerScenario) -> int:
    """Uniform draws per robot and decision: kick-off, eyes and pose, one for each team-mate."""
    return PLACE_DRAWS + EYE_DRAWS * (1 + scenario.count) + POSE_DRAWS + scenario.count - 1


def advance(
    scenario: SoccerScenario, game: SoccerWorld, command: Array, draws: Array, play: Play, plan: Plan | None = None
) -> SoccerWorld:
    """Advance both teams by one decision, as `move` and `perceive` do.

    Args:
        scenario: fixed numbers.
        game: the state before.
        command: [..., M, 4] acceleration x and y [m/s^2], yaw rate [rad/s], kick speed [m/s]; each
            team's in its own field frame; clipped to the vehicle's limits.
        draws: [..., M, D] uniform in [0, 1), D = `num_step_draws`.
        play: the engine.
        plan: [..., M, 3] each: plans that the robots' filters committed to with this command, for a
            game that is `planning`.
    """
    return perceive(scenario, move(scenario, game, command, draws, play, plan), draws[..., PLACE_DRAWS:])


def move(
    scenario: SoccerScenario, game: SoccerWorld, command: Array, draws: Array, play: Play, plan: Plan | None = None
) -> SoccerWorld:
    """Return the game one decision later, before any robot has seen it; arguments as of `advance`."""
    game = game._replace(sent=with_plan(game.sent, plan))
    xp = namespace(command, draws)
    low, high = (xp.asarray(limit, dtype=command.dtype) for limit in scenario.command_limits)
    game = game._replace(queue=(xp.clip(command, low, high), *game.queue[:-1]))
    robots, ball, contacts = play(game)
    game = game._replace(robots=robots, ball=ball, contacts=contacts, step=game.step + 1)
    return whistle(scenario, game, draws[..., :PLACE_DRAWS])


def perceive(
    scenario: SoccerScenario, game: SoccerWorld, draws: Array, replaced: tuple[Pose, CameraPicture] | None = None
) -> SoccerWorld:
    """Take new pictures, and receive messages through the radio.

    Args:
        scenario: fixed numbers.
        game: the game after `move`.
        draws: [..., M, D - PLACE_DRAWS] uniform in [0, 1).
        replaced: poses and latest pictures of our robots [..., N], if they see by other means than `look`.
    """
    xp, mates = namespace(game.step), scenario.count - 1
    eyes, radio = draws[..., : draws.shape[-1] - mates], draws[..., draws.shape[-1] - mates :]
    pose, seen = look(scenario, game.robots, game.ball, game.hidden.noise_scale, eyes)
    sights = deliver(scenario, seen, game.sights)
    if replaced is None and game.errors:
        world = game.robots, game.ball, game.referee.restarts
        errors, replaced = believed(scenario, game.errors, world, game.hidden.noise_scale, eyes)
        game = game._replace(errors=errors)
    if replaced is not None:
        pairs, count = zip(replaced[0], pose, strict=True), scenario.count
        pose = Pose(*(xp.concatenate([a, b[..., count:]], -1) for a, b in pairs))
        pairs = zip(replaced[1], sights[-1], strict=True)
        latest = CameraPicture(*(xp.concatenate([a, b[..., count:, :]], -2) for a, b in pairs))
        sights = (*sights[:-1], latest)
    on_air = (report(pose, sights[-1], bool(game.air.message.plan)), *game.sent)
    air = hear(scenario, game.air, on_air[-1], radio < game.hidden.packet_loss[..., None])
    return game._replace(pose=pose, sights=sights, sent=on_air[: len(game.sent)], air=air)


def planning(game: SoccerWorld) -> SoccerWorld:
    """Return the game with room for plans in its messages; so far there are none."""
    air = game.air._replace(message=with_plans(game.air.message))
    return game._replace(sent=tuple(map(with_plans, game.sent)), air=air)


def deliver(
    scenario: SoccerScenario, seen: CameraPicture, before: tuple[CameraPicture, ...]
) -> tuple[CameraPicture, ...]:
    """The pictures on their way with the new one, newest first; a team that sees all has that one at once."""
    sights, knows = (seen, *before)[: len(before)], scenario.all_seeing[:, None]
    if not knows.any():
        return sights
    xp = namespace(seen.x)
    return tuple(CameraPicture(*(xp.where(knows, a, b) for a, b in zip(seen, old, strict=True))) for old in sights)


def whistle(scenario: SoccerScenario, game: SoccerWorld, draws: Array) -> SoccerWorld:
    """The referee: counts goals, sees when the ball is stuck, and puts everything back for a kick-off."""
    xp, referee, ball = namespace(game.step), game.referee, game.ball
    line = scenario.field.length_m / 2 + scenario.ball.radius_m
    ours, theirs = ball.x > line, ball.x < -line
    scored = ours.astype(np.int32) - theirs.astype(np.int32)
    dx, dy = ball.x - referee.anchor[0], ball.y - referee.anchor[1]
    moved = dx * dx + dy * dy > scenario.rules.stuck_m**2
    still_s = xp.where(moved, 0.0, referee.still_s + scenario.period_s).astype(referee.still_s.dtype)
    again = (scored != 0) | (still_s > scenario.rules.stuck_s)
    in_turn = 1 - 2 * (referee.restarts % 2)
    robots, fresh = kick_off(scenario, draws, xp.where(scored != 0, -scored, in_turn))
    anchor = tuple(xp.where(moved, p, a) for p, a in zip((ball.x, ball.y), referee.anchor, strict=True))
    after = RefereeState(
        goals=(referee.goals[0] + ours, referee.goals[1] + theirs),
        scored=scored,
        restarts=referee.restarts + again,
        anchor=tuple(xp.where(again, 0.0, a).astype(ball.x.dtype) for a in anchor),  # type: ignore[arg-type]
        still_s=xp.where(again, 0.0, still_s).astype(still_s.dtype),
    )
    return game._replace(
        robots=OmniRobots(*(xp.where(again[..., None], f, r) for f, r in zip(robots, game.robots, strict=True))),
        ball=Ball(*(xp.where(again, f, b) for f, b in zip(fresh, ball, strict=True))),
        referee=after,
    )
