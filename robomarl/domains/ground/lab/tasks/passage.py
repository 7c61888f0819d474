"""`passage`: robots change places through a gap, or cross, where two have no room beside each other.

The scenario's zones are the robots' starts, an even number of zones: each lies across the middle
of the floor from the one that is named next. A robot starts in one and has its goal at the place
across. Which robot starts where is drawn. After Gao, Yang, Prorok (MRS 2023, arXiv 2303.04313),
where gains are learned because fixed ones fail.
"""

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks.base import Beginning, DrawnPlaces, GroundTask, per_step
from robomarl.domains.ground.lab.tasks.navigation import arrived, away_m, target
from robomarl.lab.sim.model import TeamWorld

NEAR_M = 0.2
"""Distance [m] at which half of the reward for being near is left."""
SHARE = 0.6
"""Fraction of a place's length in its zone over which starts are drawn; the rest is between neighbours."""


def slots(scenario: GroundScenario) -> tuple[np.ndarray, np.ndarray]:
    """[N, 2] middles of the places in the zones, and [N, 2] how far starts are off at most.

    Robots of one zone are beside each other along its longer side.
    """
    zones, middles, halves = scenario.zones, [], []
    for i, zone in enumerate(zones):
        count = len(range(i, scenario.count, len(zones)))
        size = np.array(zone.high_m) - np.array(zone.low_m)
        side = int(size[1] >= size[0])
        part = np.where(np.arange(2) == side, size / max(count, 1), size)
        for k in range(count):
            middles.append(zone.low_m + part / 2 + np.where(np.arange(2) == side, k * part, 0.0))
            halves.append(SHARE * part / 2)
    return np.array(middles, np.float32), np.array(halves, np.float32)


def check(scenario: GroundScenario, touch_m: float) -> None:
    """Raises `ValueError` where zones are not pairs across the middle of the floor, or too small for the team."""
    zones, arena = scenario.zones, scenario.arena
    if not zones or len(zones) % 2:
        raise ValueError(f"zones: task 'passage' needs two or four, one across from the next, and has {len(zones)}.")
    for one, other in zip(zones[::2], zones[1::2], strict=True):
        across = [
            tuple(arena.low_m[i] + arena.high_m[i] - corner[i] for i in (0, 1)) for corner in (one.high_m, one.low_m)
        ]
        if not np.allclose(across, [other.low_m, other.high_m], atol=1e-6):
            told = " to ".join(f"({x:g}, {y:g})" for x, y in across)
            raise ValueError(f"zones: {other.name} does not lie across from {one.name}, as from {told} would; move it.")
    for i, zone in enumerate(zones):
        count, side_m = len(range(i, scenario.count, len(zones))), max(np.subtract(zone.high_m, zone.low_m))
        if count > 1 and (1 - SHARE) * side_m / count <= touch_m:
            most = int((1 - SHARE) * side_m / touch_m)
            raise ValueError(
                f"count = {scenario.count}: {count} robots start in zone {zone.name}, {side_m:g} m long, which holds "
                f"{max(most, 1)}; lower count or make it longer."
            )


def drawn(scenario: GroundScenario) -> DrawnPlaces:
    """Return the corners of the areas from which goals are drawn: those of the starts, across the middle."""
    (middles, halves), zones = slots(scenario), scenario.zones
    corners = np.concatenate([middles + halves * sign for sign in ((1, 1), (1, -1), (-1, 1), (-1, -1))])
    rows = []
    for i, zone in enumerate(zones):
        count, side_m = len(range(i, scenario.count, len(zones))), max(np.subtract(zone.high_m, zone.low_m))
        if count > 1:
            rows.append(((1 - SHARE) * side_m / count, count))
    spacing_m, beside = min(rows, default=(np.inf, 1))
    return DrawnPlaces("goal", 2 * _middle_m(scenario) - corners, scenario.goal_radius_m, beside, float(spacing_m))


def _middle_m(scenario: GroundScenario) -> np.ndarray:
    """[2] middle of the floor."""
    arena = scenario.arena
    return np.array([(arena.low_m[i] + arena.high_m[i]) / 2 for i in (0, 1)], np.float32)


def begin(scenario: GroundScenario, draws: Array) -> Beginning:
    """Robots in places of zones, turned towards their goals."""
    xp, count = namespace(draws), scenario.count
    middles, halves = (xp.asarray(part) for part in slots(scenario))
    order = xp.argsort(draws[..., :count], axis=-1)
    spread = 2 * draws[..., count : 3 * count].reshape(*draws.shape[:-1], count, 2) - 1
    place = middles[order] + spread * halves[order]
    goal = 2 * _middle_m(scenario) - place
    way = goal - place
    return Beginning(place, xp.arctan2(way[..., 1], way[..., 0]), goal)


def published(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Distance to the goals, as of `navigation`."""
    return {"distance": per_step(scenario, -away_m(after))}


def shaping(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return progress and nearness of the whole team, so that a robot that gives way is rewarded for those that go."""
    progress = (away_m(before) - away_m(after)) / scenario.period_s
    near = 1 / (1 + (away_m(after) / NEAR_M) ** 2)
    return {"progress": _of_all(progress), "near": _of_all(near)}


def _of_all(value: Array) -> Array:
    return value * 0 + value.mean(-1, keepdims=True)


PASSAGE = GroundTask(
    begin=begin,
    features=("goal_offset", "velocity", "place", "mates_in_plane"),
    published=published,
    shaping=shaping,
    weights={"distance": 0.0, "progress": 1.0, "near": 0.5},
    succeeded=lambda scenario, world: arrived(scenario, world).all(-1),
    metric=lambda scenario, world: arrived(scenario, world).mean(-1),
    metric_name="arrived_share",
    target=target,
    cells=0,
    drawn=drawn,
    check=check,
)
