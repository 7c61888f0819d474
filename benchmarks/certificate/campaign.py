"""Crowds in parts that fit into memory, summed up with bounds."""

import dataclasses
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from benchmarks.certificate.bounds import share_bound
from benchmarks.certificate.flight import Crowd, Outcome, fly
from benchmarks.certificate.unlike import fly_unlike
from benchmarks.filter.fallbacks.places import CROWDS

PAIRS = 16_000
"""Robots times teammates that are flown at once."""
RANDOM_EPISODES = 10
"""Most episodes of the random matrix that have one period, delay and size."""
COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
PERIODS_S, MOST_DELAY_S, MOST_CLOCK_S = (0.005, 0.02), 0.16, 0.005
"""Of the random matrix: range of periods, longest delay, largest difference of clocks."""


class Sums(NamedTuple):
    """Figures of a campaign: those of `Outcome`, and upper bounds (95 %, Clopper and Pearson)."""

    outcome: Outcome
    bound_episode: float
    """Bound of the share of episodes with a contact."""
    bound_million: float
    """Bound of the contacts per million agent-steps."""
    near_share: float
    """Least distance of references over the distance that they keep."""
    tube_share: float
    """Largest share of its tube that a robot took."""


def run(crowd: Crowd) -> Sums:
    """Fly all episodes."""
    random, left, found = np.random.default_rng([crowd.seed, crowd.count]), crowd.episodes, list[Outcome]()
    with tqdm(total=left, unit="episode", desc=f"{crowd.kind} {crowd.count}", disable=None) as bar:
        while left > 0:
            now = dataclasses.replace(crowd, part=len(found))
            now = _drawn(now, random) if crowd.kind == "random" else now
            most = RANDOM_EPISODES if crowd.kind == "random" else PAIRS
            now = dataclasses.replace(now, episodes=min(left, most, max(PAIRS // now.count**2, 4)))
            found.append(fly_unlike(now) if now.other else fly(now))
            left -= now.episodes
            bar.update(now.episodes)
    return summed(found)


def _drawn(crowd: Crowd, random: np.random.Generator) -> Crowd:
    """A crowd of the random matrix: from 50 to 200 decisions a second, delays from 0 on."""
    return dataclasses.replace(
        crowd,
        kind=str(random.choice(CROWDS)),
        count=int(random.choice([count for count in COUNTS if count <= crowd.count])),
        period_s=float(1 / random.uniform(1 / PERIODS_S[1], 1 / PERIODS_S[0])),
        delay_s=float(random.uniform(0, MOST_DELAY_S)),
        clock_s=MOST_CLOCK_S,
        bursts=True,
        deaf_after_s=float(random.uniform(0, crowd.seconds)) if random.random() < 0.2 else None,
    )


def summed(found: list[Outcome]) -> Sums:
    """Sum up the parts."""
    columns = {name: np.array([getattr(one, name) for one in found]) for name in Outcome._fields}
    episodes, contacts = int(columns["episodes"].sum()), int(columns["contacts"].sum())
    steps = int(columns["agent_steps"].sum())
    bound = share_bound(contacts, episodes)
    total = Outcome(
        episodes=episodes,
        contacts=contacts,
        least_m=float(columns["least_m"].min()),
        contact_m=found[0].contact_m,
        references_m=float(columns["references_m"].min()),
        kept_m=float(columns["kept_m"].max()),
        tube_m=float(columns["tube_m"].max()),
        declared_m=float(columns["declared_m"].max()),
        outside_m=float(columns["outside_m"].max()),
        vetoed=float((columns["vetoed"] * columns["agent_steps"]).sum() / steps),
        trips=int(columns["trips"].sum()),
        agent_steps=steps,
    )
    near, tube = columns["references_m"] / columns["kept_m"], columns["tube_m"] / columns["declared_m"]
    return Sums(total, bound, bound * episodes / steps * 1e6, float(near.min()), float(tube.max()))
