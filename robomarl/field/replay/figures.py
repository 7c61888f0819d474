"""Figures of a replay, of the whole recording and by robot, and the verdict, which considers all figures."""

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from robomarl.core.bundle.golden import COMMAND_TOLERANCE, TOLERANCE
from robomarl.core.types import Figures

if TYPE_CHECKING:
    from robomarl.field.replay.replayed import Replayed

ALLOWED = {"action": TOLERANCE, "command": COMMAND_TOLERANCE, "observation": TOLERANCE}
"""Largest difference of each that is rounding on another processor; that of `robomarl verify`."""


class ReplayVerdict(NamedTuple):
    """Verdict of the comparison."""

    text: str
    """Sentences for people."""
    passed: bool
    """Actions were compared, and nothing that was compared is off by more than `ALLOWED`; of another bundle than the
    one that flew, which may decide otherwise, actions were compared."""
    mark: Literal["good", "warn", "bad"]
    """"good" only if all of actions, commands and observations were compared, and nothing is missing."""


def figures_of(found: "Replayed") -> Figures:
    """For JSON. Differences are absolute, in the unit of the element; shares are of the ticks in which policies moved
    the robots; `real_time_factor` is recorded over replayed seconds."""
    tallies = list(found.tallies.values())
    ticks, seen = sum(t.ticks for t in tallies), sum(t.seen for t in tallies)
    moving = sum(t.moving for t in tallies)
    links = {"action": [t.policy for t in tallies], "command": [t.command for t in tallies]}
    links |= {"observation": [t.observation for t in tallies]}
    distances = [float(log.closest_m().min()) for log in found.flights if log.pos_m.shape[1] > 1]
    figures = {
        "ticks": ticks,
        **{f"{name}_diff_max": _largest([one.value for one in all_robots]) for name, all_robots in links.items()},
        **{f"{name}s_compared": sum(one.compared for one in all_robots) for name, all_robots in links.items()},
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
    verdict = verdict_of(figures)
    return {**figures, "verdict": verdict.text, "passed": verdict.passed}


def verdict_of(figures: Figures) -> ReplayVerdict:
    """The verdict for the page, the terminal and the exit status.

    Args:
        figures: of `figures_of`: of each of `ALLOWED` the largest difference and how many were compared, the bundle,
            whether it flew, the problems, and the share of the ticks of which everything is there.
    """
    counts = {name: figures[f"{name}s_compared"] for name in ALLOWED}
    sizes = {name: figures[f"{name}_diff_max"] for name in ALLOWED if counts[name]}
    off = [name for name, size in sizes.items() if not size <= ALLOWED[name]]
    if not sizes:
        return ReplayVerdict("No tick of a policy is in this recording: there was nothing to compare.", False, "warn")
    is_flown, compared = figures["is_recorded_bundle"], _joined([f"{counts[name]:,} {name}s" for name in sizes])
    by = _joined([f"{name}s by up to {sizes[name]:.3g}" for name in (off if is_flown and off else sizes)])
    if not is_flown:
        said = f"Another bundle than the one that flew: of {compared} of {figures['bundle']}, {by} differ."
    elif off:
        said = (
            f"The bundle did on the robots other than it does here: of {compared} of {figures['bundle']}, {by} differ."
        )
    elif any(sizes.values()):
        said = f"{compared} of {figures['bundle']} differ by no more than rounding: {by}."
    else:
        said = f"The bundle did on the robots what it does here: {compared} of {figures['bundle']}, "
        said += "no difference in any bit."
    missing = _joined([f"{name}s" for name in ALLOWED if name not in sizes])
    if missing:
        said += f" No {missing} could be compared: messages or ticks are missing in the recording."
    elif figures["whole_share"] < 1:
        said += f" {figures['whole_share']:.1%} of the commands could be compared: messages or ticks are missing."
    passed = bool(counts["action"]) and not (is_flown and off)
    is_all = passed and is_flown and not missing and not figures["problems"]
    return ReplayVerdict(said, passed, "good" if is_all else "warn" if passed else "bad")


def _joined(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _largest(values: list[float]) -> float:
    found = [value for value in values if not np.isnan(value)]
    return max(found, default=float("nan"))
