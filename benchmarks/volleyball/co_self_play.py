"""Hierarchical co-self-play (Zhang et al., 2025) in three against three, beside flat self-play of an equal budget.

    python -m benchmarks.volleyball.co_self_play --out runs/volley_pop
    robomarl league volley_3v3_league script runs/volley_pop/all_4 runs/volley_pop/flat_4 --filter off

Each round is a search without the filter against teams of earlier rounds. In rounds `high` the skills' numbers stay, in
`setter` the numbers of the set are searched, too; in `all` and `flat` all numbers are. `flat` never has fixed skills.
Rounds `event` are those of `high` with a team that decides at hits and net crossings alone, and holds its decisions.
"""

import json
from argparse import ArgumentParser
from dataclasses import dataclass, replace
from pathlib import Path

from robomarl.domains.volleyball.lab.controllers.plays import HIGH
from robomarl.lab.sim.engines.compiler import keep_compiled
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import SearchConfig, TrainConfig, load_recipe
from robomarl.lab.train.policy_search.search import FIRST, SearchOptions, search_run

SCENARIO = "volley_3v3_league"
CANDIDATES, RALLIES = 24, 24
FIRST_GENERATIONS, GENERATIONS = 20, 14
"""Generations of the first round of a path, and of each round after it."""
HESITANT: dict[str, float] = dict.fromkeys(("other", "short", "dump", "quick"), -0.3)
"""Weights with which the high level starts: it plays as the script, whatever it sees."""
HIGH_ALONE = ("high", "event")
"""Kinds of rounds in which the skills' numbers stay."""
CHOICE: dict[str, float] = {**dict.fromkeys(HIGH, 0.5), "short_m": 0.7, "go_m": 0.5}
"""Steps of the high level where it is searched alone."""
SET = {"set_m": 2.3, "set_apex_m": 2.07, "side_m": 0.7, "front_m": 1.0}
"""Steps of the numbers of the set."""


@dataclass(frozen=True)
class SearchRound:
    """One search of a path."""

    name: str
    start: str
    """Round whose gains it starts from, or first."""
    teams: tuple[str, ...]
    """Four names of rounds, or first: the script. A team that is named twice plays twice as much."""
    std: float

    @property
    def kind(self) -> str:
        """Part of the name before its number."""
        return self.name.split("_")[0]

    def steps(self) -> dict[str, float]:
        """Return the steps that the recipe names."""
        more = {name: 4 * step for name, step in CHOICE.items()}
        return {"high": CHOICE, "event": CHOICE, "setter": {**more, **SET}}.get(self.kind, more)


ROUNDS = (
    SearchRound("high_1", FIRST, (FIRST,) * 4, 0.5),
    SearchRound("high_2", "high_1", (FIRST, "high_1") * 2, 1.0),
    SearchRound("setter_3", "high_2", (FIRST, "high_1", "high_2", "high_2"), 0.25),
    SearchRound("all_4", "setter_3", ("high_1", "high_2", "setter_3", "setter_3"), 0.12),
    SearchRound("high_3", "high_2", (FIRST, "high_1", "high_2", "high_2"), 1.0),
    SearchRound("event_1", FIRST, (FIRST,) * 4, 0.5),
    SearchRound("event_2", "event_1", (FIRST, "event_1") * 2, 1.0),
    SearchRound("flat_1", FIRST, (FIRST,) * 4, 0.12),
    SearchRound("flat_2", "flat_1", (FIRST, "flat_1") * 2, 0.12),
    SearchRound("flat_3", "flat_2", (FIRST, "flat_1", "flat_2", "flat_2"), 0.12),
    SearchRound("flat_4", "flat_3", ("flat_1", "flat_2", "flat_3", "flat_3"), 0.12),
)


def start_of(one: SearchRound, out: Path) -> dict[str, float]:
    """Gains that the round starts from, by name."""
    if one.start == FIRST:
        return {"high": HESITANT, "event": {**HESITANT, "hold": 1.0}}.get(one.kind, {})
    gains = json.loads((out / one.start / "law.json").read_text())["gains"]
    return {name: float(f"{value:.4g}") for name, value in gains.items() if value}


def recipe_of(one: SearchRound, out: Path) -> TrainConfig:
    """Return the recipe of a round: that of `volley_3v3` with another search, without the filter."""
    worth = SearchConfig(
        candidates=CANDIDATES,
        first_std=one.std,
        start=start_of(one, out),
        exact_per_s=0.0,
        steps=one.steps(),
        steps_alone=one.kind in (*HIGH_ALONE, "setter"),
        teams=tuple(name if name == FIRST else str(out / name) for name in one.teams),
    )
    envs, number = CANDIDATES * RALLIES, FIRST_GENERATIONS if one.name.endswith("1") else GENERATIONS
    scenario = load_scenario(SCENARIO)
    steps = number * envs * scenario.max_steps * 2 * scenario.count
    known = load_recipe("volley_3v3")[0]
    return replace(known, scenario=SCENARIO, num_envs=envs, total_steps=steps, filter="off", search=worth)


def main() -> None:
    """Run the rounds; those that are there already stay."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/volley_pop"))
    names = [one.name for one in ROUNDS]
    parser.add_argument("--rounds", nargs="+", choices=names, help="names of the rounds; default: all", default=names)
    args = parser.parse_args()
    out = args.out
    keep_compiled()
    for one in (found for found in ROUNDS if found.name in args.rounds):
        if not (out / one.name / "law.json").is_file():
            row = search_run(recipe_of(one, out), load_scenario(SCENARIO), SearchOptions(out / one.name, quiet=True))
            print(f"{one.name}: {row['steps']:,} agent-steps in {row['seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
