"""The page of `robomarl prove`: the results of the campaign, and its worst episodes drawn."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robomarl.core.config import to_dict
from robomarl.core.types import Figures
from robomarl.front.report.page import Html, Section, Tile, details, facts, flatten, grid, page, table, text, write_page
from robomarl.front.report.plots.style import BAD, INK, MUTED, PAPER, new_chart, robot_line
from robomarl.front.report.sections import draw
from robomarl.front.report.units import duration, metres, percent, si
from robomarl.lab.prove.campaign.prove import Trial
from robomarl.lab.prove.campaign.score import Episode, Record, worst_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE_PX = 380
BEFORE_S = 1.5
"""This much of a path before the closest approach is drawn bold."""
PLANES = ((0, 1, "seen from above: x, y [m]"), (0, 2, "seen from the side: x, z [m]"))


def write_prove_report(figures: Figures, trial: Trial, records: list[Record], file: Path) -> None:
    """Write the campaign's page as one HTML file.

    Args:
        figures: figures of `robomarl prove --json`.
        trial: trial that was flown.
        records: records of its batches.
        file: file to write.
    """
    worst = worst_of(records)
    sections = [
        Section("Figures", table(("", "", ""), figure_rows(figures), "stages"), "In grey: names in --json."),
        Section("Worst episodes", _worst(trial, worst), "Episodes with contact first, then those that came nearest."),
        Section("Campaign", details("Everything that the figures depend on", facts(_plain(trial)))),
    ]
    subtitle = f"{trial.vehicle.name}, {trial.campaign.count} robots, {trial.campaign.task}, filter {trial.mode}"
    write_page(page("robomarl prove", subtitle, _verdict(figures), _tiles(figures, trial), sections), file)


WORDS = {
    "count": ("robots in a team", str),
    "agent_steps": ("decisions of robots", si),
    "episodes": ("episodes", str),
    "collisions": ("collisions", str),
    "collision_episodes": ("episodes with a collision", str),
    "bound95_per_step": ("collisions per decision, upper bound (95 %)", si),
    "bound95_per_episode": ("episodes with a collision, upper bound (95 %)", percent),
    "min_distance_m": ("least distance between two centres", metres),
    "min_scaled_m": ("least distance in the metric of the safety distance", metres),
    "goal_rate": ("robots that arrived", percent),
    "arrival_p50_s": ("arrival, median", duration),
    "arrival_p99_s": ("arrival, 99 % within", duration),
    "active_share": ("decisions in which the filter acted", percent),
    "veto_rate": ("decisions in which it braked instead of the policy", percent),
    "infeasible_rate": ("decisions with infeasible constraints", percent),
    "fallback_rate": ("decisions by the fallback", percent),
    "strained_rate": ("decisions with a constraint that was relaxed", percent),
    "max_speed_m_s": ("largest speed", lambda value: f"{value:.2f} m/s"),
    "outside_m": ("farthest outside the arena (negative: inside)", metres),
    "hit_in_motion_episodes": ("episodes in which a stranger reached a robot in motion", str),
    "hit_at_rest_episodes": ("episodes in which a stranger reached a robot that stood", str),
    "bound95_hit_in_motion": ("episodes with a robot reached in motion, upper bound (95 %)", percent),
    "min_stranger_m": ("least distance of a stranger from a robot in motion", metres),
    "moving_share": ("decisions at which a robot moved", percent),
    "passed": ("the claim holds", lambda value: "yes" if value else "no"),
}
"""Figures of `--json` in words, with their units."""


def figure_rows(figures: Figures) -> list[tuple[str, str, Html]]:
    """Return words, value and the name in `--json` of every figure that is known."""
    rows = []
    for name, value in flatten({key: value for key, value in figures.items() if value is not None}):
        words, say = WORDS.get(name, (name.replace("_", " "), None))
        said = say(figures[name]) if say else value
        rows.append((words, said, Html(f"<td class=key>{text(name)}</td>")))
    return rows


def _plain(trial: Trial) -> Figures:
    vehicle = to_dict(trial.vehicle)
    return {**to_dict(trial), "vehicle": {key: vehicle[key] for key in ("name", "kind", "limits", "safety")}}


def _verdict(figures: Figures) -> str:
    steps, episodes = si(figures["agent_steps"]), figures["episodes"]
    bound = percent(figures["bound95_per_episode"])
    left = f" Robots left the arena by up to {metres(figures['outside_m'])}." if _left_arena(figures) else ""
    if figures["collisions"]:
        share = percent(figures["collision_episodes"] / episodes)
        return (
            f"Contact in {figures['collision_episodes']} of {episodes} episodes ({share}), {steps} agent-steps.{left}"
        )
    at_most = f"contact in at most {bound} of such episodes (95 %)"
    return f"No contact in {steps} agent-steps, {episodes} episodes: {at_most}.{left}"


def _left_arena(figures: Figures) -> bool:
    """True if a robot's centre was outside; `outside_m` is negative inside, and None or infinite without an arena."""
    return (figures["outside_m"] or -np.inf) > 0


def _tiles(figures: Figures, trial: Trial) -> list[Tile]:
    hits, safety = figures["collision_episodes"], trial.vehicle.safety
    least, keeps = figures["min_scaled_m"], figures["min_scaled_m"] >= safety.separation_m
    mark = "bad" if (left := _left_arena(figures)) else "good"
    tiles = [
        Tile("Episodes with contact", f"{hits} of {figures['episodes']}", "", "bad" if hits else "good"),
        Tile("95 % bound", percent(figures["bound95_per_episode"]), "of the episodes have a contact"),
        Tile(
            "Least distance",
            metres(least),
            f"{'outside' if keeps else 'inside'} the safety distance of {safety.separation_m:.2f} m, in its metric",
            "bad" if hits else "good" if keeps else "warn",
        ),
        Tile("Left the arena", metres(figures["outside_m"]) if left else "never", "robots' centres", mark),
        Tile("Filter active", percent(figures["active_share"]), "of the decisions"),
        Tile("Overruled", percent(figures["veto_rate"]), "of the decisions: it braked instead of the policy"),
    ]
    if (hit := figures.get("hit_in_motion_episodes")) is not None:
        words = f"{trial.strangers} strangers hunt the team; in {figures['hit_at_rest_episodes']} they hit one at rest"
        tiles.append(Tile("Hit in motion", f"{hit} of {figures['episodes']}", words, "bad" if hit else "good"))
    if trial.campaign.task != "adversarial":
        when = duration(figures["arrival_p50_s"]) if figures["arrival_p50_s"] else "never"
        tiles.append(Tile("Arrived", percent(figures["goal_rate"]), f"half of them within {when}"))
    return tiles


def _worst(trial: Trial, worst: list[Episode]) -> str:
    planes = PLANES[:1] if trial.vehicle.kind != "quadrotor" else PLANES
    drawn = []
    for episode in worst:
        name = f"Batch {episode.batch}, episode {episode.number}"
        one, two = episode.robots
        word = "Contact" if episode.touched else "Least distance"
        caption = f"{word}: {metres(episode.least_m)} at {duration(episode.at_s)}, robots {one + 1} and {two + 1}."
        for plane in planes:
            view = "above" if plane[1] == 1 else "side"
            chart = _paths(episode, plane, trial.vehicle.body.radius_m)
            drawn.append(draw(chart, f"{name}, from {'above' if view == 'above' else 'the side'}", caption, live=True))
    return grid(drawn)


def _paths(episode: Episode, plane: tuple[int, int, str], radius_m: float) -> "Figure":
    """Draw all robots' paths: bold the part before the closest approach, discs at the positions then."""
    path = np.array(episode.path_m)[..., plane[:2]]
    last = min(round(episode.at_s / episode.step_s), len(path) - 1)
    first = max(last - round(BEFORE_S / episode.step_s), 0)
    figure, axes = new_chart(SIZE_PX, SIZE_PX, plane[2])
    for i in range(path.shape[1]):
        line, chief = robot_line(i), i in episode.robots
        axes.plot(*path[:, i].T, linewidth=0.7, alpha=0.45, **line)
        axes.plot(*path[first : last + 1, i].T, linewidth=2.4 if chief else 1.4, label=f"robot {i + 1}", **line)
        _disc(axes, path[last, i], radius_m, line["color"], chief)
    middle = path[last, list(episode.robots)].mean(0)
    axes.annotate(f"{episode.least_m:.3f} m", tuple(middle), xytext=(16, 18), textcoords="offset points", fontsize=11,
                  color=BAD if episode.touched else INK, arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 1},
                  bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.75, "pad": 1}, zorder=6)  # fmt: skip
    axes.set_aspect("equal", adjustable="datalim")
    return figure


def _disc(axes: "Axes", place: np.ndarray, radius_m: float, colour: str, chief: bool) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle((place[0], place[1]), radius_m, color=colour, alpha=0.75 if chief else 0.25, linewidth=0))
