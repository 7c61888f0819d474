"""Gap between a recording and the simulator: equal starts and equal commands, and the difference of
the results.

Recorded flights are cut into legs. Each is flown again from its recorded state, with the commands
that were sent: by the vehicle as its file has it, and by `DRAWS` vehicles as the scenario's
`randomize` draws them, from starts that are off by as much as the estimates may be. The recording
diverges where it leaves the range of all these flights: training has seen nothing like it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robomarl.core.domain.scenario import needed
from robomarl.core.types import Figures
from robomarl.field.identify.legs import ELEMENTS, UNITS, Legs, elements
from robomarl.field.track import RobotTrack, even_parts, in_force
from robomarl.field.work import field_of

DRAWS = 24
HORIZON_S = 2.0
BEYOND = 0.25
"""Share of the draws' own spread beyond them that still counts as within, because there are only `DRAWS`."""
SETTLE_S = 0.2
"""How the rotors turned at the start of a leg is not recorded: attitudes and rates are compared from here on."""
MOST_LEGS = 60
"""Spread evenly over a recording that has more."""


@dataclass(frozen=True)
class Gap:
    """Result of the comparison. L legs, T times, E `ELEMENTS`."""

    time_s: np.ndarray
    """[T] since the start of a leg."""
    recorded: np.ndarray
    """[L, T, E]."""
    flown: np.ndarray
    """[L, T, E] by the vehicle as its file has it."""
    outside: np.ndarray
    """[L, T, E] how far the recording is beyond all draws; 0 within."""
    robots: tuple[str, ...]
    """[L]."""
    start_s: np.ndarray
    """[L] of each leg, since the epoch."""

    @property
    def parted_s(self) -> np.ndarray:
        """[L, E] when each element first was outside; +inf where it never was."""
        is_out = self.outside > 0
        first = self.time_s[is_out.argmax(1)]
        return np.where(is_out.any(1), first, np.inf)


def measure_gap(scenario: Any, tracks: Sequence[RobotTrack], seed: int = 0) -> Gap | None:
    """Fly the legs of tracks again; None if no track is as long as one leg.

    Args:
        scenario: scenario that was flown.
        tracks: recorded tracks.
        seed: seed of the draws.

    Raises:
        UserError: the scenario's kind of team can't be flown again.
    """
    retrace = needed(field_of(scenario).reflown, scenario, "way to fly recorded legs again", "leave out --gap")
    steps, most = round(HORIZON_S / scenario.period_s), MOST_LEGS
    cut = [leg for track in tracks for part in even_parts(track, scenario.period_s, steps + 2)
           for leg in _cut(part, steps)]  # fmt: skip
    if not cut:
        return None
    cut = [cut[i] for i in np.unique(np.linspace(0, len(cut) - 1, min(most, len(cut))).astype(int))]
    legs = _legs(scenario, cut)
    every = slice(None, None, scenario.substeps)
    recorded = elements(np.stack([leg.part(slice(1, None)).state for leg, _ in cut]))
    flown = elements(retrace(scenario, legs, None)[:, every])
    path = elements(retrace(scenario, _nudged(scenario, legs, np.random.default_rng(seed)), seed))
    outside = _outside(scenario, recorded, path.reshape(DRAWS, len(cut), *path.shape[1:]))
    time_s = np.arange(steps + 1) * scenario.period_s
    outside[:, time_s < SETTLE_S, ELEMENTS.index("tilt.x") :] = 0.0
    starts = np.array([leg.seen_s[1] for leg, _ in cut])
    return Gap(time_s, recorded, flown, outside, tuple(name for _, name in cut), starts)


def _outside(scenario: Any, recorded: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """[L, T, E] how far recordings are beyond the draws [D, L, sub-steps + 1, E]."""
    every, last = scenario.substeps, drawn.shape[2] - 1
    at = np.arange(recorded.shape[1]) * every
    near = [drawn[:, :, np.clip(at + shift, 0, last)] for shift in (-1, 0, 1)]  # stamps are no better
    low, high = np.min([part.min(0) for part in near], 0), np.max([part.max(0) for part in near], 0)
    room = estimate_bound(scenario) + BEYOND * (high - low)
    return np.maximum(np.maximum(recorded - high - room, low - room - recorded), 0.0)


def estimate_bound(scenario: Any) -> np.ndarray:
    """Return the error bounds [E] of the scenario's estimates; for attitudes and rates, their change in a
    millisecond.
    """
    most = scenario.randomize.noise_scale[1]
    pos, vel = scenario.sensing.position_noise_m * most, scenario.sensing.velocity_noise_m_s * most
    return np.array([pos] * 3 + [vel] * 3 + [0.01] * 2 + [0.05] * 3)


def _cut(track: RobotTrack, steps: int) -> list[tuple[RobotTrack, str]]:
    """Legs of a track: one row before the start, for the commands, and `steps` after it."""
    starts = range(0, len(track.seen_s) - steps - 1, steps // 2)
    return [(track.part(slice(i, i + steps + 2)), track.robot) for i in starts]


def _legs(scenario: Any, cut: Sequence[tuple[RobotTrack, str]]) -> Legs:
    """Return the legs, each from its second row on."""
    dt_s, before = scenario.physics_dt_s, 1 + int(np.ceil(scenario.randomize.delay_s[1] / scenario.physics_dt_s))
    number = (len(cut[0][0].seen_s) - 2) * scenario.substeps
    since = (np.arange(before + number) - before) * dt_s
    command = np.stack([in_force(leg, leg.seen_s[1] + since + dt_s / 2) for leg, _ in cut])
    return Legs(np.stack([leg.state[1] for leg, _ in cut]), command, before)


def _nudged(scenario: Any, legs: Legs, rng: np.random.Generator) -> Legs:
    """Every leg `DRAWS` times, from starts that the estimates may have been made of."""
    bound, state = estimate_bound(scenario), np.tile(legs.state, (DRAWS, 1))
    state[:, :3] += rng.uniform(-1, 1, (len(state), 3)) * bound[:3]
    state[:, 7:10] += rng.uniform(-1, 1, (len(state), 3)) * bound[3:6]
    return legs._replace(state=state, command=np.tile(legs.command, (DRAWS, 1, 1)))


def gap_figures(gap: Gap) -> Figures:
    """Return figures for JSON: errors at half a second, one and the end; the element that diverges first,
    how often and where.
    """
    at = {f"{t:g}": int(np.argmin(np.abs(gap.time_s - t))) for t in (0.5, 1.0, gap.time_s[-1])}
    size = np.abs(gap.recorded - gap.flown)
    parted = gap.parted_s
    first, who = parted.min(1), parted.argmin(1)
    rows = {
        name: {
            "unit": unit,
            "error_p50": {t: float(np.median(size[:, k, i])) for t, k in at.items()},
            "error_p90": {t: float(np.quantile(size[:, k, i], 0.9)) for t, k in at.items()},
            "parted_share": float(np.isfinite(parted[:, i]).mean()),
            "first_share": float((np.isfinite(first) & (who == i)).mean()),
        }
        for i, (name, unit) in enumerate(zip(ELEMENTS, UNITS, strict=True))
    }
    legs = np.flatnonzero(np.isfinite(first))
    where = [{"robot": gap.robots[k], "stamp_s": float(gap.start_s[k] + first[k]), "element": ELEMENTS[who[k]],
              "after_s": float(first[k]), "pos_m": gap.recorded[k, 0, :3].tolist()} for k in legs]  # fmt: skip
    most = max(rows, key=lambda name: rows[name]["first_share"]) if len(legs) else ""
    away = np.linalg.norm(gap.recorded[..., :3] - gap.flown[..., :3], axis=-1)
    return {
        "legs": len(gap.robots), "horizon_s": float(gap.time_s[-1]), "draws": DRAWS,
        "parted_share": float(np.isfinite(first).mean()), "parts_first": most,
        "parted_after_s": float(np.median(first[legs])) if len(legs) else None,
        "position_error_m": {t: float(np.median(away[:, k])) for t, k in at.items()},
        "elements": rows, "where": where,
    }  # fmt: skip
