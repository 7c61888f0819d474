"""Figures of `prove --worst`, from the results of its jobs."""

import math

from robomarl.core.hardware.sections import ASSUMED
from robomarl.core.types import Figures
from robomarl.lab.prove.worst.jobs import TOLERANCE_M, Found, Hunt

TEAM = 4
"""Minimum number of robots of a team."""


def figures(hunt: Hunt, found: dict[float, list[Found]]) -> Figures:
    """Sum up."""
    touched = [scale for scale, ones in found.items() if any(f.contacts for f in ones)]
    out = [scale for scale, ones in found.items() if any(f.outside for f in ones)]
    scales = [_at(scale, found[scale]) for scale in sorted(found)]
    here = next((s for s in scales if s["scale"] == 1.0), scales[0])
    safety = hunt.vehicle.safety
    return {
        "vehicle": hunt.vehicle.name,
        "estimator": hunt.vehicle.estimator or ASSUMED,
        "filter": hunt.mode,
        "seed": hunt.seed,
        "robustness_factor": min(touched) if touched else max(found),
        "first_contact_at": min(touched) if touched else None,
        "first_outside_at": min(out) if out else None,
        "episodes_at_bounds": here["episodes"] if here["scale"] == 1.0 else 0,
        **{k: here[k] for k in ("team_episodes", "wall_episodes", "contacts", "below", "min_distance_m")},
        **{k: here[k] for k in ("min_scaled_m", "outside_m")},
        "kept_m": safety.separation_m,
        "tolerance_m": TOLERANCE_M,
        "contact_m": 2 * hunt.vehicle.body.radius_m,
        "robots": [1, max(f.count for ones in found.values() for f in ones)],
        "scales": scales,
    }


def _at(scale: float, found: list[Found]) -> Figures:
    """One scale's figures: distances of all robots, walls, and every family."""
    met = [f for f in found if f.kind != "wall"]
    walls = [f for f in found if f.kind != "pair"]
    nearest = min(met, key=lambda f: (f.contacts == 0, f.scaled_m), default=None)
    farthest = max((f for f in found if f.kind == "wall"), key=lambda f: f.outside_m, default=None)
    return {
        "scale": scale,
        "episodes": sum(f.episodes for f in met if f.count == 2),
        "team_episodes": sum(f.episodes for f in met if f.count >= TEAM),
        "wall_episodes": sum(f.episodes for f in found if f.kind == "wall"),
        "contacts": sum(f.contacts for f in met),
        "pair_contacts": sum(f.contacts for f in met if f.count == 2),
        "below": sum(f.below for f in met),
        "min_distance_m": min((f.least_m for f in met), default=None),
        "min_scaled_m": min((f.scaled_m for f in met), default=None),
        "outside_m": max((f.outside_m for f in walls), default=None),
        "outside_episodes": sum(f.outside for f in walls),
        "families": _families(found),
        "worst": nearest and nearest.worst,
        "worst_wall": farthest and farthest.worst,
    }


def _families(found: list[Found]) -> dict[str, Figures]:
    """Episodes, contacts and least distances of each family; of those that failed the worst, to be flown again."""
    table: dict[str, Figures] = {}
    worst_m: dict[str, float] = {}
    for f in found:
        name = f"{f.kind}:{f.family}"
        row = table.setdefault(name, {"episodes": 0, "contacts": 0, "outside": 0, "scaled_m": None, "outside_m": None})
        row["episodes"] += f.episodes
        row["contacts"] += f.contacts
        row["outside"] += f.outside
        failed_m = f.outside_m if f.kind == "wall" else -f.scaled_m
        if (f.contacts or f.outside) and failed_m > worst_m.get(name, -math.inf):
            worst_m[name], row["worst"] = failed_m, f.worst
        if f.kind != "wall":
            row["scaled_m"] = min(f.scaled_m, row["scaled_m"] or math.inf)
        if f.kind != "pair":
            row["outside_m"] = max(f.outside_m, -math.inf if row["outside_m"] is None else row["outside_m"])
    return table
