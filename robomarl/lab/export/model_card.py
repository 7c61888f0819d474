"""The card of a bundle, `README.md`: facts to know before flying it, from its contract and evaluation."""

import math
from collections.abc import Iterable
from typing import TypeGuard

from robomarl.core.bundle.bundle import PERCEPTION_FILE
from robomarl.core.bundle.contract import Contract
from robomarl.core.bundle.image_input import ImageInput
from robomarl.core.bundle.provenance import Ancestor, Training
from robomarl.core.types import Array, Figures

FIGURES = {
    "success_rate": ("success", 100, "%"),
    "collisions": ("collisions", 1, ""),
    "min_distance_m": ("least distance of two robots", 1, "m"),
    "arrival_time_s": ("arrival", 1, "s"),
    "position_error_m": ("settled position error", 100, "cm"),
    "attitude_error_rad": ("settled attitude error", 180 / math.pi, "degrees"),
    "hover_accel_std_m_s2": ("at its goal for 10 s: commanded acceleration, standard deviation", 1, "m/s^2"),
    "hover_tilt_rad": ("at its goal for 10 s: tilt", 180 / math.pi, "degrees"),
    "hover_error_m": ("at its goal for 10 s: position error", 100, "cm"),
}
"""Figures of an evaluation that the card shows, where there are such: words, factor and unit."""


def model_card(contract: Contract, figures: Figures | None = None) -> str:
    """Return Markdown: the policy's task, its conditions, its excluded uses, and its numbers.

    Args:
        contract: contract of the bundle.
        figures: its figures from `robomarl eval --json`; without them the card has none.
    """
    parts = [
        f"# {contract.name}",
        what(contract),
        _table(("", ""), facts(contract)),
        *(flown(figures) if figures else ()),
        "## Conditions\n\nWhat training had, and what the figures hold for:",
        _table(("", "from", "to"), ranges(contract)),
        "## Not for\n\n" + "\n".join(f"- {line}" for line in not_for(contract)),
        "## Check and fly",
        "    robomarl verify PATH_OF_THIS_FOLDER\n    robomarl flash PATH_OF_THIS_FOLDER FLEET",
        "## What it sees\n\nRanges, means and deviations are those of training. World is east, north, up; body is "
        "forward, left, up; quaternions are wxyz.",
        _table(("element", "unit", "frame", "least", "largest", "mean", "std", "oldest [s]"), elements(contract)),
        "## What it commands",
        _table(("element", "unit", "frame", "least", "largest", "mean", "std"), actions(contract)),
    ]
    return "\n\n".join(parts) + "\n"


def what(contract: Contract) -> str:
    """The first paragraph."""
    task = contract.scenario.content.get("task", "unknown")
    often_hz = contract.rate_hz / contract.actions_each
    return (
        f"A policy for one robot of a team: task `{task}`, trained in `{contract.scenario.name}` for the vehicle "
        f"`{contract.vehicle.name}`. Every robot runs its own copy and decides by itself, {often_hz:g} times a "
        "second. Sealed: the exact numbers are in `bundle.json`, and changing any file makes the bundle invalid."
    )


def facts(contract: Contract) -> list[tuple[str, str]]:
    """The table at the top."""
    rule, training = contract.observation.spec.neighbours, contract.training
    memory = ", ".join(f"{c.owner} `{c.name}`" for c in contract.carries) or "none"
    return [
        ("scenario", contract.scenario.name),
        ("vehicle", f"{contract.vehicle.name} (`{contract.vehicle.sha256[:12]}`)"),
        ("robots in a team", team(contract)),
        ("roles", ", ".join(contract.roles) or "all alike"),
        ("rate", f"{rate(contract)}; physics in training {contract.sim_hz:g} Hz"),
        (
            "team-mates looked at",
            f"the {rule.count} nearest within {rule.range_m:g} m, heard within {rule.max_age_s:g} s",
        ),
        ("radio in training", f"{contract.radio.rate_hz:g} Hz, {contract.radio.latency_s * 1e3:g} ms late"),
        ("memory", f"{memory}; starts anew on {', '.join(resets(contract))}"),
        *([("camera", _camera(contract.image))] if contract.image else []),
        ("safety distance", f"{contract.safety.safety.separation_m:g} m"),
        ("top speed", f"{contract.safety.limits.speed_m_s:g} m/s"),
        ("trained by", f"{training.recipe.get('algorithm', 'unknown')}, seed {training.seed}"),
        ("commit", f"`{training.commit[:19]}`"),
        *([("mean of the weights with", ", ".join(training.averaged))] if training.averaged else []),
        *([("goes on from", ", ".join(map(_ancestor, training.ancestry)))] if training.ancestry else []),
        *((f"on the field of {e.scenario.name}", _expert(e.training)) for e in contract.experts),
    ]


def _camera(image: ImageInput) -> str:
    """Return what the robots see by, and how sure of their place they must be."""
    camera = image.camera
    size = (
        f"{camera.width} x {camera.height} {image.encoding}, {camera.rate_hz:g} Hz, at most {image.max_age_s:g} s old"
    )
    return f"{size}; `{PERCEPTION_FILE}` reads it, and the own place is known to {image.max_pose_error_m:g} m"


def flown(figures: Figures) -> list[str]:
    """How it flew: the section of its evaluation."""
    how = f"{figures['episodes']} episodes on `{figures['sim']}`, filter {figures['filter']}, seed {figures['seed']}"
    rows = [
        (words, f"{figures[name] * factor:.3g} {unit}".strip())
        for name, (words, factor, unit) in FIGURES.items()
        if figures.get(name) is not None
    ]
    return [f"## How it flew\n\n{how}; intervals are in `eval.json`.", _table(("", ""), rows)]


def _ancestor(one: Ancestor) -> str:
    flown = f", adapted to {', '.join(one.recordings)}" if one.recordings else ""
    seen = one.residual
    errors = f"{1e3 * seen.after_m:.1f} mm instead of {1e3 * seen.before_m:.1f} mm" if seen else ""
    beside = f", trained with a residual (held-out positions are off by {errors})" if seen else ""
    return f"{one.name} `{one.id[:12]}`{flown}{beside}"


def _expert(training: Training) -> str:
    mean = f", mean with {', '.join(training.averaged)}" if training.averaged else ""
    return f"an actor of its own decides: seed {training.seed}, commit `{training.commit[:19]}`{mean}"


def ranges(contract: Contract) -> list[tuple[str, str, str]]:
    """Ranges of training: the world's and the vehicle's parameters, and the arena."""
    pairs = [(name, value) for name, value in contract.randomization.items() if _is_pair(value)]
    rows = [(f"`{name}`", f"{low:g}", f"{high:g}") for name, (low, high) in pairs]
    if (arena := contract.safety.arena) is not None:
        rows += [
            (f"arena, {axis} [m]", f"{low:g}", f"{high:g}")
            for axis, low, high in zip("xyz", arena.low_m, arena.high_m, strict=True)
        ]
    return rows


def not_for(contract: Contract) -> list[str]:
    """Return the uses that the contract does not support."""
    where = "outside the arena above, or " if contract.safety.arena is not None else ""
    return [
        "use without the safety filter: the policy alone was not shown to keep its distance",
        f"another vehicle than `{contract.vehicle.name}`, or another team than {team(contract)} robots",
        f"flight {where}beyond the conditions above",
        f"another rate than {contract.rate_hz:g} Hz, or inputs older than the last column below",
        "places where people or animals are: it sees its team-mates and nothing else",
    ]


def rate(contract: Contract) -> str:
    """How often it acts, and how often it decides where that is more rarely."""
    if contract.actions_each == 1:
        return f"{contract.rate_hz:g} Hz"
    return f"{contract.rate_hz:g} actions a second, {contract.actions_each} of each decision"


def team(contract: Contract) -> str:
    """Size of the team."""
    least, most = contract.team_size
    return f"{least}" if least == most else f"{least} to {most}"


def resets(contract: Contract) -> list[str]:
    """Return the events that reset a memory, over all memories."""
    return sorted({event for carry in contract.carries for event in carry.reset_on}) or ["nothing"]


def elements(contract: Contract) -> list[tuple[str, ...]]:
    """One row for each element of the observation."""
    return [
        (
            *(f"`{e.name}`", e.unit, e.frame),
            *(f"{value:.3g}" for value in (e.low, e.high, e.mean, e.std)),
            "" if e.max_age_s is None else f"{e.max_age_s:g}",
        )
        for e in contract.observation.elements
    ]


def actions(contract: Contract) -> list[tuple[str, ...]]:
    """One row for each element of the action."""
    seen: list[Array] = [*contract.actions_seen] or [None] * contract.action.size
    return [
        (
            *(f"`{f.name}`", f.unit, f.frame, f"{f.low:g}", f"{f.high:g}"),
            *(("", "") if s is None else (f"{s.mean:.3g}", f"{s.std:.3g}")),
        )
        for f, s in zip(contract.action.fields, seen, strict=True)
    ]


def _is_pair(value: object) -> TypeGuard[tuple[float, float]]:
    return isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(v, int | float) for v in value)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
