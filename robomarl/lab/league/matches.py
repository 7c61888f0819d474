"""Matches of two players: many side by side on the compiled engine, each player on either side in half of them.

All randomness is of a seed of the pair, so results depend neither on other pairs nor on the process that plays them.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from robomarl.core.config.parsed import JsonObject
from robomarl.lab.league.players import games_in, make_team
from robomarl.lab.league.two_sides import BothSides, Player
from robomarl.lab.scene.scene import SceneMoment
from robomarl.lab.sim.batch import BatchSim, World
from robomarl.lab.sim.engines.compiler import keep_compiled
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.run.storage import replace_text

SIDE_BY_SIDE = 200
"""Matches at most."""


@dataclass(frozen=True)
class Pairing:
    """Matches of two players, which a worker plays."""

    scenario: str
    """Name or path."""
    first: str
    """Name of a player, which changes sides for the second half of the matches."""
    second: str
    matches: int
    """An even number."""
    seed: int
    """Seed of this pair's matches."""
    filter: str
    """Mode of the safety filter of trained players."""
    file: Path
    """File that keeps the points."""

    @property
    def batches(self) -> int:
        """Number of batches."""
        return math.ceil(self.matches / SIDE_BY_SIDE)

    @property
    def size(self) -> int:
        """E, matches of a batch: an even number."""
        return 2 * math.ceil(self.matches / (2 * self.batches))


def pair_seed(seed: int, identities: tuple[str, str]) -> int:
    """Seed of a pair: of the league's seed and of the two players, in whichever order they were named."""
    content = json.dumps([seed, *sorted(identities)]).encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:4], "big")


def play(pairing: Pairing) -> JsonObject:
    """Play all matches of a pair, and keep the points; a pair that was played before is read."""
    if pairing.file.is_file():
        return json.loads(pairing.file.read_text())
    halves: tuple[list[np.ndarray], list[np.ndarray]] = [], []
    sim = _arena(pairing.scenario)(pairing.size, pairing.seed)
    for _ in _batches(pairing, sim):
        points = _points(sim)
        halves[0].append(points[: pairing.size // 2])
        halves[1].append(points[pairing.size // 2 :, ::-1])
    kept = [np.concatenate(half)[: pairing.matches // 2] for half in halves]
    about = {"first": pairing.first, "second": pairing.second, "seed": pairing.seed, "filter": pairing.filter}
    found = {**about, "points": np.concatenate(kept).tolist()}
    pairing.file.parent.mkdir(parents=True, exist_ok=True)
    replace_text(pairing.file, json.dumps(found) + "\n")
    return found


def watch(pairing: Pairing, match: int) -> tuple[Scenario, list[SceneMoment], np.ndarray]:
    """Play a pair again up to the end of one match.

    Args:
        pairing: the pair.
        match: index among its points.

    Returns:
        The scenario, the match's moments [T], and the points so far of the first and the second player, [T, 2].
    """
    half, index = divmod(match, pairing.matches // 2)
    batch, row = divmod(index, pairing.size // 2)
    row += half * pairing.size // 2
    sim = _arena(pairing.scenario)(pairing.size, pairing.seed)
    staging = simulation_of(sim.scenario).staging
    assert staging is not None, "asked only where there is one"
    moments, points = [], []
    for number in _batches(
        pairing,
        sim,
        lambda: (moments.append(staging.moment(sim.scenario, sim.world, row)), points.append(_points(sim)[row])),
    ):
        if number == batch:
            break
        moments.clear()
        points.clear()
    told = np.array(points)
    return sim.scenario, moments, told[:, ::-1] if half else told


def _batches(pairing: Pairing, sim: BatchSim[World], on_step: Callable[[], object] = lambda: None) -> Iterator[int]:
    """Play batch after batch; yields the number of each at its end."""
    mode, name = pairing.filter, pairing.scenario
    teams = _team(pairing.first, name, mode), _team(pairing.second, name, mode)
    both = BothSides(sim.scenario, *teams, exchanged=pairing.size // 2)
    for number in range(pairing.batches):
        sim.reset()
        carry = both.init(sim.views())
        for _ in range(sim.scenario.max_steps):
            carry, result = both.step(carry, sim.views())
            sim.step(result.command, both.plan(carry))
            on_step()
        yield number


def _points(sim: BatchSim[World]) -> np.ndarray:
    """[E, 2] points so far of both sides."""
    return np.stack([np.asarray(side) for side in games_in(sim.scenario).points(sim.world)], -1).astype(int)


@lru_cache(maxsize=2)
def _arena(scenario: str) -> Callable[[int, int], BatchSim[World]]:
    """Function that makes matches side by side; its engine stays compiled for the next pair."""
    keep_compiled(shares=False)
    chosen = load_scenario(scenario)
    return games_in(chosen).compiled(chosen)


@lru_cache(maxsize=16)
def _team(name: str, scenario: str, mode: str) -> Player:
    return make_team(name, load_scenario(scenario), mode)
