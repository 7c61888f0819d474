"""Stand-offs of matches: `python -m benchmarks.stand_offs [AGAINST] [--episodes N] [--seed S] [--stuck-s T] [--sim E]`.

A ball that stays within 0.15 m for T seconds (3 by the scenario; 5 and 10 are the league's "no progress") is put back.
Counted are balls that were put back with robots of both teams within 0.7 m of them, where the field's corners, out of
which no robot gets a ball, count apart.
"""

import argparse
import dataclasses
from collections import Counter

import numpy as np

from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.evaluation.evaluate import as_trained, game_of, make_player
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.league.two_sides import BothSides

BESIDE_M, CORNER_M = 0.7, 0.2


def put_back(scenario: SoccerScenario, before: SoccerWorld, after: SoccerWorld) -> Counter[str]:
    """Balls of a batch of games that were put back at this decision, by the robots beside them."""
    again = (after.referee.restarts > before.referee.restarts) & (after.referee.scored == 0)
    x, y = before.ball.x, before.ball.y
    beside = np.hypot(before.robots.x - x[:, None], before.robots.y - y[:, None]) < BESIDE_M
    both = beside[:, : scenario.count].any(-1) & beside[:, scenario.count :].any(-1)
    corner = (np.abs(x) > scenario.field.length_m / 2 - CORNER_M) & (np.abs(y) > scenario.field.width_m / 2 - CORNER_M)
    found = {"all": again, "in a corner": again & corner, "between both teams": again & both & ~corner}
    return Counter({name: int(where.sum()) for name, where in found.items()})


def main() -> None:
    """Play the matches and print the counts for each match."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("against", nargs="?", default="soccer_2v2")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--stuck-s", type=float, default=3.0)
    parser.add_argument("--sim", default="fast")
    args = parser.parse_args()
    scenario = game_of("soccer_2v2", "soccer_2v2")
    scenario = dataclasses.replace(scenario, rules=dataclasses.replace(scenario.rules, stuck_s=args.stuck_s))
    players = make_player("soccer_2v2", scenario, scenario.roles), make_player(args.against, scenario, scenario.roles)
    scenario = as_trained(scenario, *players)
    sim, pilot = make_soccer(scenario, args.sim, args.episodes, args.seed), BothSides(scenario, *players)
    counts: Counter[str] = Counter()
    sim.reset()
    carry, hits = pilot.init(sim.views()), 0
    for _ in range(scenario.max_steps):
        before = sim.world
        carry, result = pilot.step(carry, sim.views())
        after = sim.step(result.command, pilot.plan(carry))
        counts += put_back(scenario, before, after)
        hits += int((after.contacts.impact_m_s > 0).sum())
    per_match = {name: count / args.episodes for name, count in counts.items()}
    goals = [float(side.mean()) for side in sim.world.referee.goals]
    print(f"put back, each match: {per_match}; robots in contact: {hits}; goals {goals}")


if __name__ == "__main__":
    main()
