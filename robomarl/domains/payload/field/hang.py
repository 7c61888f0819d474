"""How long the cables are and where the payload's centre of mass is, from how it hangs while it is calm.

A taut cable is as long as its ends are apart. The pulls f of three cables hold the weight m g up and accelerate the
payload by a, and along the cables only one set of them does: f / m follows from the directions alone. While it hardly
turns their moments about the centre of mass c cancel,

    sum p x f / m = c x (g up + a)    (p: where a cable is tied to the payload; all in its frame),

which is linear in c. Payloads that lean show its height, level ones do not. The mass cancels too: nobody records
thrusts, and the low-level controllers take away whatever the cables pull.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.stats import t as student

from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.payload.onboard.scenario import CableConfig, LoadConfig
from robomarl.sim.field.carried import CarriedFigures
from robomarl.sim.field.fit import LEVEL
from robomarl.sim.field.identify import Parameter
from robomarl.track import RobotTrack
from robomarl.types import GRAVITY_M_S2

CALM_S = 0.5
"""Over which places are averaged ..."""
CALM_M_S, CALM_RAD_S = 0.2, 0.2
"""... and how fast the payload may be and turn meanwhile."""
BLOCK_S = 4.0
"""What is seen in so long is one observation: a swing lasts for seconds, and so does wind."""
LEAST_BLOCKS = 5
LEAST_COVER = 0.8
"""Share of the ticks that a calm time must have of every robot."""
TRUSTED_M = 0.05
"""Half an interval of the centre of mass that is wider says nothing, as of a height that level payloads do not show."""


class Calm(NamedTuple):
    """M calm times of N robots, in the payload's frame."""

    end_m: np.ndarray
    """[M, N, 3] the vehicles' ends of the cables."""
    held: np.ndarray
    """[M, 3] the cables' pulls together, over the payload's weight."""
    block: np.ndarray
    """[M] which observation each belongs to."""


def find_payload(scenario: FlightScenario, tracks: Sequence[RobotTrack]) -> CarriedFigures:
    """Cables' lengths and centre of mass with 95 % intervals, and what can't be told, a sentence each.

    Args:
        scenario: what was flown, with its load.
        tracks: of its robots, all flights; `sensed` begins with the payload's place [3] and attitude wxyz [4].
    """
    load, cables = scenario.load, scenario.cables
    assert load is not None, "only for scenarios with a load"
    assert cables is not None, "only for scenarios with a load"
    missing = [
        "payload: its mass can't be told: low-level controllers cancel the cables' pull, and thrusts are not recorded.",
        "payload: the cables' stiffness can't be told: they stretch by less than estimates are off.",
    ]
    robots = sorted({track.robot for track in tracks})
    calm = calm_times(tracks, robots, cables, scenario.period_s)
    blocks = len(np.unique(calm.block)) if calm else 0
    if calm is None or blocks < LEAST_BLOCKS:
        each = f"{LEAST_BLOCKS} stretches of {BLOCK_S:g} s in which it hangs still for {CALM_S:g} s are needed"
        return CarriedFigures(
            (), (*missing, f"payload: no figure can be told from {blocks}; {each}: let it stay at more goals."), {}
        )
    tied_m = scenario.randomize.attachment_m[1]
    found = _cables(calm, robots, (load, cables), tied_m)
    if len(robots) != 3:
        missing.append(
            f"payload: with {len(robots)} cables directions do not say which pulls how much, and so not where the "
            "centre of mass is; of three they do."
        )
        return CarriedFigures(tuple(found), tuple(missing), changes(scenario, found))
    centre = _centre(calm, cables, tied_m)
    wide = [p.name for p in centre if p.high - p.low > 2 * TRUSTED_M]
    if wide:
        missing.append(f"payload: {', '.join(wide)} can't be told from these flights; send it to goals that lean more.")
    found += [p for p in centre if p.name not in wide]
    return CarriedFigures(tuple(found), tuple(missing), changes(scenario, found))


def changes(scenario: FlightScenario, found: Sequence[Parameter]) -> dict[str, dict[str, Any]]:
    """Sections of a scenario's file with what was found: the middle of the cables, and the range around it."""
    cables = [p for p in found if p.name == "cable_m"]
    length_m = sum(p.value for p in cables) / len(cables)
    span = [round(end / length_m, 4) for end in (min(p.low for p in cables), max(p.high for p in cables))]
    told = {p.name: p.value for p in found}
    assert scenario.load is not None, "the caller has looked"
    com_m = [round(told.get(f"com_{axis}_m", own), 4) for axis, own in zip("xyz", scenario.load.com_m, strict=True)]
    return {
        "load": {"com_m": com_m},
        "cables": {"length_m": round(length_m, 4)},
        "randomize": {"cable_scale": span},
    }


def calm_times(tracks: Sequence[RobotTrack], robots: list[str], cables: CableConfig, period_s: float) -> Calm | None:
    """When the payload hung still; None where it never did, or a robot is missing."""
    ends, held, blocks = [], [], []
    for flight in sorted({track.flight for track in tracks}):
        own = [next((t for t in tracks if (t.flight, t.robot) == (flight, name)), None) for name in robots]
        team = [track for track in own if track is not None and track.sensed is not None]
        if len(team) < len(robots):
            continue
        begin, end = max(t.seen_s[0] for t in team), min(t.seen_s[-1] for t in team)
        for at in np.arange(begin, end - CALM_S, CALM_S):
            seen = [_calm(track, at, LEAST_COVER * CALM_S / period_s, cables) for track in team]
            if all(one is not None for one in seen):
                ends.append([one[0] for one in seen])  # type: ignore[index]
                held.append(np.mean([one[1] for one in seen], 0))  # type: ignore[index]
                blocks.append((flight, int((at - begin) / BLOCK_S)))
    if not ends:
        return None
    return Calm(np.array(ends), np.array(held), np.unique(blocks, axis=0, return_inverse=True)[1].ravel())


def _calm(track: RobotTrack, at_s: float, least: float, cables: CableConfig) -> tuple[np.ndarray, np.ndarray] | None:
    """The vehicle's end of its cable [3] and what all hold [3], in the payload's frame, if that hangs still then."""
    rows = np.flatnonzero((track.seen_s >= at_s) & (track.seen_s < at_s + CALM_S))
    assert track.sensed is not None, "the caller has looked"
    pose = track.sensed[rows, :7]
    if len(rows) < least or not np.isfinite(pose).all():
        return None
    load, own = Rotation.from_quat(pose[:, [4, 5, 6, 3]]), Rotation.from_quat(track.quat_wxyz[rows][:, [1, 2, 3, 0]])
    middle = load.mean()
    turned = (middle.inv() * load).as_rotvec()
    since = track.seen_s[rows] - track.seen_s[rows].mean()
    bent, rate, _ = np.polyfit(since, np.concatenate([pose[:, :3], turned], 1), 2)
    if np.linalg.norm(rate[:3]) > CALM_M_S or np.linalg.norm(rate[3:]) > CALM_RAD_S:
        return None
    end = track.pos_m[rows] + own.apply(np.array(cables.vehicle_point_m)) - pose[:, :3]
    held = np.array([0.0, 0.0, 1.0]) + 2 * bent[:3] / GRAVITY_M_S2
    return middle.inv().apply(end.mean(0)), middle.inv().apply(held)


def _cables(calm: Calm, robots: list[str], of: tuple[LoadConfig, CableConfig], tied_m: float) -> list[Parameter]:
    """Length of each cable without tension: less what it stretches by when all carry alike."""
    load, cables = of
    stretch_m = load.mass_kg * GRAVITY_M_S2 / len(robots) / cables.stiffness_n_m
    apart = np.linalg.norm(calm.end_m - np.array(cables.load_points_m), axis=-1) - stretch_m
    value, half = _interval(apart, calm.block)
    half = half + tied_m + stretch_m
    return [Parameter(name, "cable_m", float(v), float(v - h), float(v + h), "m")
            for name, v, h in zip(robots, value, half, strict=True)]  # fmt: skip


def _centre(calm: Calm, cables: CableConfig, tied_m: float) -> list[Parameter]:
    """Centre of mass in the payload's frame, by least squares; see the module."""
    points = np.array(cables.load_points_m)
    toward = calm.end_m - points
    toward = toward / np.linalg.norm(toward, axis=-1, keepdims=True)
    pulls = np.linalg.solve(toward.transpose(0, 2, 1), calm.held[..., None])  # [M, 3, 1] over the weight
    moment = np.cross(points, toward * pulls).sum(1)
    x, y, z = calm.held.T
    o = 0 * x
    weigh = np.stack([np.stack(row, -1) for row in ((o, z, -y), (-z, o, x), (y, -x, o))], 1)  # c x held = weigh @ c

    def solve(keep: np.ndarray) -> np.ndarray:
        return np.linalg.lstsq(weigh[keep].reshape(-1, 3), moment[keep].ravel(), rcond=1e-3)[0]

    value, blocks = solve(calm.block >= 0), np.unique(calm.block)
    without = np.array([solve(calm.block != block) for block in blocks])
    spread = (len(blocks) - 1) / len(blocks) * ((without - value) ** 2).sum(0)
    half = student.ppf(0.5 + LEVEL / 2, len(blocks) - 1) * np.sqrt(spread) + tied_m
    flat = np.linalg.svd(weigh.reshape(-1, 3), compute_uv=False)[-1] < 0.1 * np.sqrt(len(calm.held))
    half[2] = np.inf if flat else half[2]
    return [Parameter("payload", f"com_{axis}_m", float(v), float(v - h), float(v + h), "m")
            for axis, v, h in zip("xyz", value, half, strict=True)]  # fmt: skip


def _interval(values: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of [M, N] over blocks, and half of its 95 % interval, [N] each."""
    means = np.array([values[block == one].mean(0) for one in np.unique(block)])
    half = student.ppf(0.5 + LEVEL / 2, len(means) - 1) * means.std(0, ddof=1) / np.sqrt(len(means))
    return means.mean(0), half
