"""The page of `robomarl replay`: the bundle's decisions compared with those here, its observations,
and the flights.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robomarl.core.types import Figures
from robomarl.field.replay.figures import ALLOWED, verdict_of
from robomarl.front.report.page import Section, Tile, grid, page, table, write_page
from robomarl.front.report.plots.style import INK, new_chart, robot_colour
from robomarl.front.report.runs import RecordedFlight
from robomarl.front.report.sections import draw, flight_section, motion_figure, safety_section
from robomarl.front.report.units import duration, metres, microseconds, percent
from robomarl.ros.robot.state_machine import State

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robomarl.field.replay.bag_replay import Cause
    from robomarl.field.replay.replayed import Replayed

TOGETHER_S = 0.5
"""Time [s] within which one cause that meets several robots is one event."""
MOST_ELEMENTS = 12
"""Elements of the observation that are shown."""


def write_replay_page(found: "Replayed", figures: Figures, file: Path, more: Sequence[Section] = ()) -> None:
    """Write the page as one HTML file.

    Args:
        found: of the replay.
        figures: of `figures_of`.
        file: to write.
        more: further sections.
    """
    names = found.recording.team
    flights = [RecordedFlight(f"flight {i}", log) for i, log in enumerate(found.flights)]
    sections = [
        _comparison(figures),
        _timeline(found),
        _inputs(figures),
        flight_section(flights, names, first=motion_figure(flights, names)),
        safety_section(flights, names),
        *more,
    ]
    if found.problems:
        body = table(("what could not be read",), [(problem,) for problem in found.problems])
        sections.insert(1, Section("Missing", body, "The report is of what is there."))
    fleet = found.recording.fleet or "a fleet"
    subtitle = f"{fleet}, scenario {found.recording.scenario or '–'}, bundle {found.bundle}"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_page(page("robomarl replay", subtitle, figures["verdict"], _tiles(figures), sections), file)


def _tiles(figures: Figures) -> list[Tile]:
    sizes = {name: figures[f"{name}_diff_max"] for name in ALLOWED if figures[f"{name}s_compared"]}
    most = max(sizes, key=lambda name: sizes[name] / ALLOWED[name], default="")
    size = f"{sizes[most]:.3g}" if most else "–"
    note = f"of an {most}" if most != "command" else "of a command"
    outside, mark = figures["out_of_range_share"], verdict_of(figures).mark
    beyond = "" if np.isnan(outside) else "warn" if outside > 0.01 else "good"
    return [
        Tile("Largest difference", size, note if most else "nothing was compared", mark),
        Tile("Outside of training", percent(outside), "of the observations", beyond),
        Tile("Filter acted", percent(figures["filtered_share"]), "of the decisions"),
        Tile("Least distance", metres(figures["min_distance_m"]), "between estimates"),
        Tile("Recorded", duration(figures["recorded_s"]), f"replayed {figures['real_time_factor']:.0f} times as fast"),
    ]


def _comparison(figures: Figures) -> Section:
    head = ("robot", "ticks", "compared", "action", "command", "observation", "messages complete", "filter acted")
    rows = [
        (
            name,
            robot["ticks"],
            robot["actions_compared"],
            _difference(robot["action_diff_max"], robot["action_diff_element"]),
            _difference(robot["command_diff_max"], ""),
            _difference(robot["observation_diff_max"], robot["observation_diff_element"]),
            percent(robot["ticks_whole"] / max(robot["ticks_moving"], 1)),
            percent(robot["filtered_share"]),
        )
        for name, robot in figures["robots"].items()
    ]
    lead = (
        "Largest differences between what was recorded and what the same code decides here: the policy on the recorded "
        "observation, the filter on the recorded nominal command, the observation from the recorded messages."
    )
    return Section("Decided again", table(head, rows), lead)


def _difference(value: float, element: str) -> str:
    if np.isnan(value):
        return "–"
    return "0" if value == 0 else f"{value:.3g} {element}".strip()


def _timeline(found: "Replayed") -> Section:
    caption = "State of every robot over time; dots: why it held, landed or stopped."
    start_s = min(t.states[0][0] for t in found.tallies.values() if t.states)
    rows = [(f"{at_s - start_s:.2f} s", names, why) for at_s, names, why in grouped(found.causes, len(found.tallies))]
    body = draw(_states(found, start_s), "States", caption)
    return Section("What happened", body + (table(("when", "robots", "why"), rows) if rows else ""))


def grouped(causes: "Sequence[Cause]", team_size: int) -> list[tuple[float, str, str]]:
    """Return the time [s] of each cause, the robots that it met within `TOGETHER_S`, and the cause: an order to a team
    of eight is one row.
    """
    groups: list[list[Cause]] = []
    for cause in causes:
        of_same = (g for g in reversed(groups) if g[0].why == cause.why and cause.at_s - g[0].at_s <= TOGETHER_S)
        if group := next(of_same, None):
            group.append(cause)
        else:
            groups.append([cause])
    names = [list(dict.fromkeys(cause.robot for cause in group)) for group in groups]
    told = ["all robots" if 1 < len(n) == team_size else ", ".join(n) for n in names]
    return [(group[0].at_s, robots, group[0].why) for group, robots in zip(groups, told, strict=True)]


def _states(found: "Replayed", start_s: float) -> "Figure":
    met = {state for tally in found.tallies.values() for _, state in tally.states}
    used = [state.name for state in State if state.name in met]
    figure, axes = new_chart(760, 60 + 32 * len(used), "", "time [s]", (92, 16, 20, 42))
    end_s = found.recorded_s
    for i, tally in enumerate(found.tallies.values()):
        if not tally.states:
            continue
        times = [at_s - start_s for at_s, _ in tally.states] + [end_s]
        levels = [used.index(name) + 0.08 * i for _, name in tally.states]
        axes.step(times, [*levels, levels[-1]], where="post", color=robot_colour(i), linewidth=1.5)
    for cause in found.causes:
        axes.plot(cause.at_s - start_s, 0, marker="o", markersize=3, color=INK, clip_on=False)
    axes.set_yticks(range(len(used)), used)
    return figure


def _inputs(figures: Figures) -> Section:
    head = ("robot", "source", "age p50", "p99", "largest", "received", "lost")
    rows = []
    for name, robot in figures["robots"].items():
        for source, age in robot["age_s"].items():
            told = [f"{1e3 * age[key]:.1f} ms" if age else "–" for key in ("p50", "p99", "max")]
            counts = robot["received"].get(source, "–"), robot["lost"].get(source, "–")
            rows.append((name, source.removeprefix("sensed."), *told, *counts))
    ages = table(head, rows)
    times = [
        (name, *(_microseconds(robot[key]) for key in ("latency_us", "late_us")), robot["ticks_skipped"])
        for name, robot in figures["robots"].items()
    ]
    clocks = table(("robot", "tick p50, p99, largest", "late p50, p99, largest", "ticks skipped"), times)
    return Section("What the robots knew", grid([_outside(figures)]) + ages + clocks)


def _microseconds(values: dict[str, float]) -> str:
    return ", ".join(microseconds(value) for value in values.values()) or "–"


def _outside(figures: Figures) -> str:
    """The elements of the observation that left their ranges of training most often, over all robots."""
    shares: dict[str, list[float]] = {}
    for robot in figures["robots"].values():
        for element, share in robot["out_of_range"].items():
            shares.setdefault(element, []).append(share)
    count = len(figures["robots"])
    worst = sorted(((sum(s) / count, element) for element, s in shares.items()), reverse=True)[:MOST_ELEMENTS]
    title, missing = "Outside the range of training", "Every observation was within the ranges of training."
    return draw(_bars(worst) if worst else None, title, "Share of the ticks, mean of the robots.", missing)


def _bars(worst: list[tuple[float, str]]) -> "Figure":
    figure, axes = new_chart(560, 66 + 22 * len(worst), "", "share of the ticks [%]", (200, 16, 16, 42))
    axes.barh([name for _, name in worst][::-1], [100 * share for share, _ in worst][::-1], color=robot_colour(0))
    return figure
