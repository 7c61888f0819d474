"""Cost and memory of large flying teams on `fast`, whose neighbours are found by cells: `robomarl bench teams`."""

from dataclasses import replace
from math import ceil, sqrt
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import Row, seconds

if TYPE_CHECKING:
    from robomarl.domains.flight.lab.scenario import FlightScenario

COUNTS = (8, 64, 256, 1024)
ROBOTS, DECISIONS, ROUNDS = 8192, 50, 7
"""Robots in a program, of one team or of many; decisions in a call, calls of each."""
SPACING_M = 1.5
"""Robots stand on a square grid so far apart, and fly to the place of the next but one."""


def rows(cases: tuple[str, ...] = ("pairs", "cells")) -> list[Row]:
    """The cases one after the other."""
    return [row for case in cases for row in CASES[case]()]


def spread(count: int) -> "FlightScenario":
    """swap_4's vehicles, weather and radio, with this many robots at equal density, the filter off."""
    from robomarl.domains.flight.lab.places import GoalConfig, StartConfig
    from robomarl.domains.flight.lab.scenario import ArenaConfig, FlightScenario
    from robomarl.lab.sim.scenario import load_scenario

    base, side = load_scenario("swap_4", FlightScenario), ceil(sqrt(count))
    places = [(SPACING_M * (i % side), SPACING_M * (i // side), 1.2) for i in range(count)]
    goals = tuple((x + 2 * SPACING_M, y, z) for x, y, z in places)
    start = StartConfig(1.0, 0.6, 1.2, jitter_m=0.3, speed_m_s=0.1, yaw_rad=3.14159, places_m=tuple(places))
    arena = ArenaConfig((-3.0, -3.0, 0.1), (SPACING_M * side + 5.0, SPACING_M * side + 3.0, 3.0))
    goal = GoalConfig("places", jitter_m=0.05, places_m=goals)
    return replace(base, name=f"spread_{count}", count=count, start=start, goal=goal, arena=arena)


def by_cells() -> list[Row]:
    """Cost of a decision of one robot, by the size of its team, all sizes in turn; and memory of the program."""
    return measured(COUNTS, "cells")


def by_pairs() -> list[Row]:
    """The same of 8 and 32 robots, each of which is compared with all."""
    return measured((8, 32), "all pairs")


def measured(counts: tuple[int, ...], how: str, robots: int = ROBOTS) -> list[Row]:
    """Rows of several team sizes."""
    from robomarl.lab.sim.engines.compiler import share_results

    share_results()
    calls = [program(count, max(1, robots // count)) for count in counts]
    took = [[seconds(call) for call, _, _ in calls] for _ in range(ROUNDS)]
    found = []
    sizes = [size * DECISIONS for _, size, _ in calls]
    cost = [median(column) / size for column, size in zip(zip(*took, strict=True), sizes, strict=True)]
    for count, (_, size, bytes_), each in zip(counts, calls, cost, strict=True):
        case = f"{count} robots, {how if count > 32 else 'all pairs'}"
        found += [
            Row(case, "a decision of one robot", each * 1e9, "ns"),
            Row(case, f"times that in a team of {counts[0]}", each / cost[0], "x"),
            Row(case, "memory of the program, a robot", bytes_ / size, "bytes"),
        ]
    return found


def program(count: int, teams: int):
    """A call that simulates some decisions of all teams, robots in it, and its memory [bytes]."""
    import jax
    import jax.numpy as jnp

    from robomarl.domains.flight.lab.env import TeamEnv
    from robomarl.lab.sim.engines.batch_last import to_last, vmap_last
    from robomarl.lab.train.devices.memory import program_bytes

    env = TeamEnv(spread(count))
    start = jax.jit(lambda keys: to_last(jax.vmap(env.reset)(keys)))(jax.random.split(jax.random.key(0), teams))
    action, step = jnp.zeros((count, env.action_size, teams)), vmap_last(env.step)
    roll = jax.jit(lambda s: jax.lax.scan(lambda s, _: (step(s, action), s.reward.mean()), s, None, DECISIONS))
    compiled = roll.lower(start).compile()
    jax.block_until_ready(compiled(start))
    return lambda: jax.block_until_ready(compiled(start)), count * teams, program_bytes(compiled)


CASES = {"pairs": by_pairs, "cells": by_cells}
"""Cases by the name that `--case` takes."""
