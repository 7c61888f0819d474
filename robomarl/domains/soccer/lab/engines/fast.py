"""The `fast` engine: robots and ball in closed form, one compiled loop over all games, for training.

Within the loop every robot is a set of numbers of its own, so that each operation runs over all games at once, one
number of each: with the robots as an axis of 4 XLA made a scalar loop of every sum over pairs.
"""

from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from robomarl.core.types import Array
from robomarl.domains.soccer.lab.engines.batching import cast, fired, stack, unstack, world_command
from robomarl.domains.soccer.lab.game import Play, SoccerWorld
from robomarl.domains.soccer.lab.physics.ball import Ball, brake
from robomarl.domains.soccer.lab.physics.contact import (
    Contacts,
    kick,
    meet_boards,
    meet_each_other,
    meet_robot,
    press,
    stay_inside,
)
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots, drive, roll_on
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.sim.engines.compiler import settle


class Moving(NamedTuple):
    """State that the loop carries on."""

    robots: list[OmniRobots]
    ball: Ball
    contacts: list[Contacts]


def make_fast(scenario: SoccerScenario) -> Play:
    """Return the engine: on JAX arrays a loop that is compiled, on numpy arrays a loop in Python."""

    def play(game: SoccerWorld) -> tuple[OmniRobots, Ball, Contacts]:
        zero = game.robots.x * 0
        moving = Moving(unstack(game.robots), game.ball, unstack(Contacts(zero, zero, zero > 0)))
        step = partial(substep, scenario, game)
        if isinstance(zero, np.ndarray):
            for i in range(scenario.substeps):
                moving = step(np.asarray(i), moving)
        else:
            moving = jax.lax.fori_loop(0, scenario.substeps, step, moving)
        return cast(stack(moving.robots), game), cast(moving.ball, game), cast(stack(moving.contacts), game)

    return play


def substep(scenario: SoccerScenario, game: SoccerWorld, index: Array, moving: Moving) -> Moving:
    """One sub-step of everything that moves."""
    command = world_command(scenario, game, index)
    commands = [tuple(part[..., i] for part in command) for i in range(scenario.players)]
    robots, ball, contacts = fire(scenario, moving, [c[3] for c in commands])
    scales = [game.hidden.accel_scale[..., i] for i in range(scenario.players)]
    accels = [drive(scenario, *trio) for trio in zip(robots, commands, scales, strict=True)]
    ball, way = brake(scenario, ball, game.hidden.rolling_m_s2)
    robots, accels, ball, way = settle((robots, accels, ball, way))
    for robot in robots:
        ball, way = settle(meet_robot(scenario, robot, ball, way))
    robots = [roll_on(robot, accel, scenario.physics_dt_s) for robot, accel in zip(robots, accels, strict=True)]
    robots, contacts = meet_each_other(scenario, settle(robots), contacts)
    robots = [stay_inside(scenario, robot) for robot in settle(robots)]
    ball, held = settle(meet_boards(scenario, ball, way))
    return Moving([press(scenario, robot, ball, held) for robot in robots], ball, contacts)


def fire(
    scenario: SoccerScenario, moving: Moving, speeds: list[Array]
) -> tuple[list[OmniRobots], Ball, list[Contacts]]:
    """Kickers that have the ball hit it."""
    robots, ball, contacts = list(moving.robots), moving.ball, list(moving.contacts)
    for i, robot in enumerate(robots):
        added = kick(scenario, robot, ball, speeds[i])
        ball = ball._replace(vx=ball.vx + added * robot.c, vy=ball.vy + added * robot.s)
        robots[i], contacts[i] = fired(scenario, robot, contacts[i], added != 0)
    return robots, ball, contacts
