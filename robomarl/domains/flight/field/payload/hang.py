"""Estimation of a payload's mass and centre of mass and of the cables' lengths, from how the payload
hangs while it is calm.

A taut cable is as long as its ends are apart. The pulls f of the cables hold the weight m g up
and accelerate the payload by a. With three cables only one set of pulls does this, and f / m
follows from their directions alone. With more cables the vehicles' attitudes determine the set
(`tilt`), as they determine the payload's mass. While the payload hardly turns, the moments of the
pulls about the centre of mass c cancel,

    sum p x f / m = c x (g up + a)    (p: attachment point of a cable on the payload; all in its
        frame),

which is linear in c. Payloads that lean show the height of c, level ones do not.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import t as student

from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.core.payload.scenario import CableConfig, LoadConfig
from robomarl.domains.flight.field.payload.calm import BLOCK_S, CALM_S, Calm, HangingTeam, calm_times
from robomarl.domains.flight.field.payload.tilt import find_pulls
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.identify.carried import CarriedFigures
from robomarl.field.identify.fit import LEVEL
from robomarl.field.identify.robot_fit import Parameter
from robomarl.field.track import RobotTrack

LEAST_BLOCKS = 5
TRUSTED_M = 0.05
"""Half an interval of the centre of mass that is wider says nothing, as of a height that level payloads do not show."""


def find_payload(scenario: FlightScenario, tracks: Sequence[RobotTrack]) -> CarriedFigures:
    """Estimate mass, centre of mass and cable lengths with 95 % intervals; report each figure that
    cannot be determined in a sentence.

    Args:
        scenario: the flown scenario, with its load.
        tracks: tracks of its robots, all flights; `sensed` begins with the payload's position [3] and
            attitude wxyz [4].
    """
    load, cables = scenario.carried
    missing = ["payload: the cables' stiffness can't be told: they stretch by less than estimates are off."]
    robots = sorted({track.robot for track in tracks})
    calm = calm_times(tracks, robots, HangingTeam(cables, scenario.vehicle_config.body.drag_per_s, scenario.period_s))
    blocks = len(np.unique(calm.block)) if calm else 0
    if calm is None or blocks < LEAST_BLOCKS:
        each = f"{LEAST_BLOCKS} stretches of {BLOCK_S:g} s in which it hangs still for {CALM_S:g} s are needed"
        return CarriedFigures(
            (), (*missing, f"payload: no figure can be told from {blocks}; {each}: let it stay at more goals."), {}
        )
    found = [_mass(calm, scenario), *_centre(calm, cables, scenario.randomize.attachment_m[1])]
    wide = [p.name for p in found if p.unit == "m" and p.high - p.low > 2 * TRUSTED_M]
    if wide:
        missing.append(f"payload: {', '.join(wide)} can't be told from these flights; send it to goals that lean more.")
    found = [p for p in found if p.name not in wide]
    found = [*_cables(calm, robots, (load, cables), scenario.randomize.attachment_m[1]), *found]
    return CarriedFigures(tuple(found), tuple(missing), changes(scenario, found), *misses_m(calm, load, cables))


def misses_m(calm: Calm, load: LoadConfig, cables: CableConfig) -> tuple[np.ndarray, tuple[tuple[str, int, int], ...]]:
    """How far off a configuration is in each observation, [B], and which these are: from its centre of mass to the line
    along which all cables together pull, and the cables' lengths (RMS), as one vector.

    The median of an observation's calm times: one in which the payload begins to go says little.
    """
    points = np.array(cables.load_points_m)
    toward = calm.toward(points)
    pulls = find_pulls(calm.leaning, toward, calm.held, calm.block >= 0).over_weight
    moment = np.cross(points - np.array(load.com_m), toward * pulls[..., None]).sum(1)
    aside = np.linalg.norm(moment, axis=-1) / np.linalg.norm(calm.held, axis=-1)
    apart = np.linalg.norm(calm.end_m - points, axis=-1) - cables.length_m - _stretch_m(load, cables)
    off_m, blocks = np.sqrt(aside**2 + (apart**2).mean(-1)), np.unique(calm.block, return_index=True)
    return np.array([np.median(off_m[calm.block == one]) for one in blocks[0]]), tuple(calm.place[i] for i in blocks[1])


def _stretch_m(load: LoadConfig, cables: CableConfig) -> float:
    """Return the stretch [m] of a cable when all cables carry alike."""
    return load.mass_kg * GRAVITY_M_S2 / len(cables.load_points_m) / cables.stiffness_n_m


def changes(scenario: FlightScenario, found: Sequence[Parameter]) -> dict[str, dict[str, object]]:
    """Return the sections of a scenario file with the estimates, and the ranges around them."""
    (load, _), cables = scenario.carried, [p for p in found if p.name == "cable_m"]
    length_m = sum(p.value for p in cables) / len(cables)
    told = {p.name: p for p in found if p.robot == "payload"}
    mass = told["mass_kg"]
    com_m = [told[f"com_{axis}_m"].value if f"com_{axis}_m" in told else own
             for axis, own in zip("xyz", load.com_m, strict=True)]  # fmt: skip
    aside_m = [(p.high - p.low) / 2 for name, p in told.items() if name in ("com_x_m", "com_y_m")]
    ranges = {
        "cable_scale": (min(p.low for p in cables) / length_m, max(p.high for p in cables) / length_m),
        "load_mass_scale": (mass.low / mass.value, mass.high / mass.value),
        "load_com_m": (0.0, max(aside_m)) if len(aside_m) == 2 else scenario.randomize.load_com_m,
    }
    inertia = [
        round(j * mass.value / load.mass_kg, 6) for j in load.inertia_kg_m2
    ]  # as if what is more were everywhere
    return {
        "load": {"mass_kg": round(mass.value, 4), "inertia_kg_m2": inertia, "com_m": [round(c, 4) for c in com_m]},
        "cables": {"length_m": round(length_m, 4)},
        "randomize": {name: [round(end, 4) for end in span] for name, span in ranges.items()},
    }


def _mass(calm: Calm, scenario: FlightScenario) -> Parameter:
    """Return the payload's mass, given that the vehicles have the mass in their file; see `tilt`.

    Its interval includes the scenario's ranges of vehicle mass and of attachment errors.
    """
    cables, ranges = scenario.cables, scenario.randomize
    assert cables is not None, "the caller has looked"
    points, tied_m = np.array(cables.load_points_m), ranges.attachment_m[1]

    def ratio(keep: np.ndarray, points: np.ndarray = points) -> np.ndarray:
        return np.array([find_pulls(calm.leaning, calm.toward(points), calm.held, keep).ratio])

    (value,), (half,) = _jackknife(calm.block, ratio)
    outward = points * [1.0, 1.0, 0.0]
    outward = outward / np.linalg.norm(outward, axis=-1, keepdims=True).clip(1e-9)
    (moved,) = ratio(calm.block >= 0, points + tied_m * outward)
    half = half + abs(moved - value) + value * max(abs(end - 1) for end in ranges.mass_scale)
    value, half = (scenario.vehicle_config.body.mass_kg * x for x in (value, half))
    return Parameter("payload", "mass_kg", float(value), float(value - half), float(value + half), "kg")


def _cables(calm: Calm, robots: list[str], of: tuple[LoadConfig, CableConfig], tied_m: float) -> list[Parameter]:
    """Return the length of each cable without tension: the measured length less the stretch when all cables carry
    alike.
    """
    load, cables = of
    stretch_m = _stretch_m(load, cables)
    apart = np.linalg.norm(calm.end_m - np.array(cables.load_points_m), axis=-1) - stretch_m
    value, half = _interval(apart, calm.block)
    half = half + tied_m + stretch_m
    return [Parameter(name, "cable_m", float(v), float(v - h), float(v + h), "m")
            for name, v, h in zip(robots, value, half, strict=True)]  # fmt: skip


def _centre(calm: Calm, cables: CableConfig, tied_m: float) -> list[Parameter]:
    """Centre of mass in the payload's frame, by least squares; see the module."""
    points = np.array(cables.load_points_m)
    toward = calm.toward(points)
    x, y, z = calm.held.T
    o = 0 * x
    weigh = np.stack([np.stack(row, -1) for row in ((o, z, -y), (-z, o, x), (y, -x, o))], 1)  # c x held = weigh @ c

    def solve(keep: np.ndarray) -> np.ndarray:
        pulls = find_pulls(calm.leaning, toward, calm.held, keep).over_weight[keep]
        moment = np.cross(points, toward[keep] * pulls[..., None]).sum(1)
        return np.linalg.lstsq(weigh[keep].reshape(-1, 3), moment.ravel(), rcond=1e-3)[0]

    value, half = _jackknife(calm.block, solve)
    half = half + tied_m
    flat = np.linalg.svd(weigh.reshape(-1, 3), compute_uv=False)[-1] < 0.1 * np.sqrt(len(calm.held))
    half[2] = np.inf if flat else half[2]
    return [Parameter("payload", f"com_{axis}_m", float(v), float(v - h), float(v + h), "m")
            for axis, v, h in zip("xyz", value, half, strict=True)]  # fmt: skip


def _jackknife(block: np.ndarray, solve: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Solve for [K] values with all times; return them and half of their 95 % interval, from leaving out each block
    [M].
    """
    value, blocks = solve(block >= 0), np.unique(block)
    without = np.array([solve(block != one) for one in blocks])
    spread = (len(blocks) - 1) / len(blocks) * ((without - value) ** 2).sum(0)
    return value, student.ppf(0.5 + LEVEL / 2, len(blocks) - 1) * np.sqrt(spread)


def _interval(values: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of [M, N] over blocks, and half of its 95 % interval, [N] each."""
    means = np.array([values[block == one].mean(0) for one in np.unique(block)])
    half = student.ppf(0.5 + LEVEL / 2, len(means) - 1) * means.std(0, ddof=1) / np.sqrt(len(means))
    return means.mean(0), half
