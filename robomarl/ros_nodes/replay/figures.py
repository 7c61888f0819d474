"""The figures of a replay, of the whole recording and by robot."""

from typing import Any

import numpy as np

from robomarl.ros_nodes.replay.replayed import Replayed


def figures_of(found: Replayed) -> dict[str, Any]:
    """For JSON. Differences are absolute, in the unit of the element; shares are of the ticks in which policies moved
    the robots; `real_time_factor` is recorded over replayed seconds."""
    tallies = list(found.tallies.values())
    ticks, seen = sum(t.ticks for t in tallies), sum(t.seen for t in tallies)
    moving = sum(t.moving for t in tallies)
    distances = [float(log.closest_m().min()) for log in found.flights if log.pos_m.shape[1] > 1]
    return {
        "ticks": ticks,
        "action_diff_max": _largest([t.policy.value for t in tallies]),
        "command_diff_max": _largest([t.command.value for t in tallies]),
        "observation_diff_max": _largest([t.observation.value for t in tallies]),
        "actions_compared": sum(t.policy.compared for t in tallies),
        "out_of_range_share": sum(t.outside_ticks for t in tallies) / seen if seen else float("nan"),
        "filtered_share": sum(t.filtered for t in tallies) / moving if moving else float("nan"),
        "whole_share": sum(t.whole for t in tallies) / moving if moving else float("nan"),
        "real_time_factor": found.recorded_s / found.seconds,
        "recorded_s": found.recorded_s,
        "seconds": found.seconds,
        "bundle": found.bundle,
        "is_recorded_bundle": found.is_recorded_bundle,
        "flights": len(found.flights),
        "min_distance_m": min(distances, default=float("nan")),
        "causes": [cause._asdict() for cause in found.causes],
        "problems": list(found.problems),
        "robots": {name: tally.figures() for name, tally in found.tallies.items()},
    }


def _largest(values: list[float]) -> float:
    found = [value for value in values if not np.isnan(value)]
    return max(found, default=float("nan"))
