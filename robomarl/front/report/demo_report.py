"""The page of `robomarl demo`: from training to a flight through ROS 2, with the measurements on the way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robomarl.core.types import Figures
from robomarl.front.report.page import Html, Section, Tile, empty, facts, grid, page, picture, table, write_page
from robomarl.front.report.plots.measurements import TeamMeasurements, latency, success_intervals
from robomarl.front.report.runs import RecordedFlight, read_metrics
from robomarl.front.report.sections import (
    closest_flight,
    draw,
    flight_section,
    hover_tile,
    learning_section,
    least_m,
    motion_figure,
    safety_section,
)
from robomarl.front.report.units import (
    NBSP,
    collision_words,
    duration,
    metres,
    microseconds,
    percent,
    wilson,
)


class DemoStage(NamedTuple):
    """One stage of the demo."""

    name: str
    seconds: float
    note: str = ""


@dataclass(frozen=True)
class DemoReport:
    """Measurements of the demo. Every part may be left out; its place in the page then says so."""

    title: str = "robomarl demo"
    subtitle: str = ""
    stages: tuple[DemoStage, ...] = ()
    outcomes: tuple[TeamMeasurements, ...] = ()
    """Measurements by simulator; the last one is the headline: ROS 2."""
    hover: Figures = field(default_factory=dict)
    """How the team stays at its goal in MuJoCo: the `hover_` figures of `eval`."""
    run_dir: Path | None = None
    """The training run, for its learning curve."""
    flights: tuple[RecordedFlight, ...] = ()
    """Flights through ROS 2."""
    robots: tuple[str, ...] = ()
    """Names, in the order of the logs."""
    tolerance_m: float | None = None
    """Distance to the goal that counts as arrived."""
    ticks_us: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Robot -> times of its ticks."""
    period_us: float | None = None
    """The policy's period."""
    wall_s: float | None = None
    """Time from the start to this page; None: that of all stages."""
    expected: np.ndarray | None = None
    """[N, N] messages that robot (row) should have heard from robot (column)."""
    received: np.ndarray | None = None
    """[N, N] messages that it did hear."""
    video: Path | None = None
    """A GIF or PNG of the flight, below 1 MB."""
    facts: Figures = field(default_factory=dict)
    """Bundle id, commit, versions, machine: name -> value, nested where it helps."""


def write_demo_report(data: DemoReport, file: Path) -> None:
    """Write the demo's page as one HTML file."""
    metrics = read_metrics(data.run_dir / "metrics.csv") if data.run_dir else {}
    video = picture(data.video, "Rendered by MuJoCo.", "Video") if data.video else ""
    sections = [
        _results(data),
        flight_section(data.flights, data.robots, data.tolerance_m, video),
        safety_section(data.flights, data.robots),
        _real_time(data),
        *([learning_section(metrics)] if data.run_dir else []),
        _stages(data),
        Section("Provenance", facts(data.facts) if data.facts else empty("Nothing was noted.")),
    ]
    write_page(page(data.title, data.subtitle, _verdict(data), _tiles(data), sections), file)


def _verdict(data: DemoReport) -> str:
    flown = [outcome for outcome in data.outcomes if outcome.episodes]
    if not flown:
        return "Nothing was flown yet."
    top = flown[-1]
    parts = [f"{top.where}: {top.successes} of {top.episodes} flights succeeded"]
    if top.collisions is not None:
        parts.append(collision_words(top.collisions))
    least, log = _judged_least_m(data, top), data.flights[0].log if data.flights else None
    if log is not None and np.isfinite(least):
        side = "inside" if least < log.separation_m else "outside"
        side = "contact, inside" if least < 2 * log.radius_m else side
        parts.append(f"closest approach {metres(least)}, {side} the safety distance of {metres(log.separation_m)}")
    return ", ".join(parts) + "."


def _judged_least_m(data: DemoReport, top: TeamMeasurements) -> float:
    """Return the least distance of the headline's flights; a judge looks at every physics step, a log at
    few steps only.
    """
    return min(least_m(data.flights), np.inf if top.min_distance_m is None else top.min_distance_m)


def distance_tile(flights: tuple[RecordedFlight, ...], judged_m: float = np.inf) -> Tile:
    """Least distance of all flights against the safety distance.

    Args:
        flights: at least one, with a distance.
        judged_m: least distance that a judge has seen in them, if there is one.
    """
    least, log = min(least_m(flights), judged_m), closest_flight(flights).log
    state = "bad" if least < 2 * log.radius_m else "warn" if least < log.separation_m else "good"
    word = {
        "bad": "contact; safety distance",
        "warn": "inside the safety distance of",
        "good": "safety distance",
    }
    return Tile("Least distance", metres(least), f"{word[state]} {log.separation_m:.2f} m", state)


def _tiles(data: DemoReport) -> list[Tile]:
    tiles, flown = [], [outcome for outcome in data.outcomes if outcome.episodes]
    if flown:
        top = flown[-1]
        low, high = wilson(top.successes, top.episodes)
        span = f"of the flights ({percent(top.successes / top.episodes)}), {top.where}; "
        span += f"95 % interval {100 * low:.0f} to {100 * high:.0f} %"
        tiles.append(Tile("Success", f"{top.successes} of {top.episodes}", span))
        if top.collisions is not None:
            tiles.append(Tile("Collisions", str(top.collisions), top.where, "bad" if top.collisions else "good"))
    if np.isfinite(least_m(data.flights)):
        tiles.append(distance_tile(data.flights, _judged_least_m(data, flown[-1]) if flown else np.inf))
    tiles += hover_tile(data.hover)
    if flown and (slowest_us := flown[-1].tick_p99_us) is not None:
        period = f"; period {microseconds(data.period_us)}" if data.period_us else ""
        tiles.append(Tile("Tick", microseconds(slowest_us), f"99 % of those of the slowest robot are within{period}"))
    if (messages := _messages(data)) is not None:
        expected, received = messages
        tiles.append(Tile("Messages lost", percent(1 - received / expected), f"{_lost_of(messages)} between robots"))
    if data.stages:
        tiles.append(Tile("Whole demo", duration(_wall_s(data))))
    return tiles


def _wall_s(data: DemoReport) -> float:
    """Return the time of the whole demo [s]."""
    return sum(stage.seconds for stage in data.stages) if data.wall_s is None else data.wall_s


def _results(data: DemoReport) -> Section:
    head = ("", "success", "95 % interval", "collisions", "least distance", "tick, median", "99 % within")
    figures = table(head, map(_outcome_row, data.outcomes)) if data.outcomes else ""
    chart = draw(success_intervals(data.outcomes), "Success by simulator", "", "Nothing was flown yet.")
    lead = "The same policy in the training engine, in MuJoCo, and served by the robots' own ROS 2 nodes."
    return Section("Results", grid([chart, motion_figure(data.flights, data.robots)]) + figures, lead)


def _outcome_row(outcome: TeamMeasurements) -> tuple[str | None, ...]:
    low, high = wilson(outcome.successes, outcome.episodes)
    flown = outcome.episodes > 0
    return (
        outcome.where,
        f"{outcome.successes} of {outcome.episodes}" if flown else None,
        f"{100 * low:.1f}–{100 * high:.1f}{NBSP}%" if flown else None,
        None if outcome.collisions is None else str(outcome.collisions),
        None if outcome.min_distance_m is None else metres(outcome.min_distance_m),
        None if outcome.tick_p50_us is None else microseconds(outcome.tick_p50_us),
        None if outcome.tick_p99_us is None else microseconds(outcome.tick_p99_us),
    )


def _real_time(data: DemoReport) -> Section:
    caption = "Bars: all robots. Below: each robot from its median (dot) to 99 % (end of the bar, figure)."
    chart = draw(latency(data.ticks_us, data.period_us), "Time of a tick", caption, "No tick was timed.")
    if data.expected is None or data.received is None or len(data.expected) < 2:
        lost = empty("Messages were not counted.", "Messages lost")
    else:
        lost = _matrix(data.expected, data.received, data.robots, _messages(data))
    return Section("Real time", grid([chart, lost]), "From the newest message to the command that is sent.")


def _messages(data: DemoReport) -> tuple[float, float] | None:
    """Return how many messages between robots were expected and received; None where none were counted."""
    if data.expected is None or data.received is None:
        return None
    pairs = ~np.eye(len(data.expected), dtype=bool)
    expected, received = (float(counts[pairs].sum()) for counts in (data.expected, data.received))
    return (expected, received) if expected else None


def _lost_of(messages: tuple[float, float]) -> str:
    """Return the messages lost with their denominator."""
    expected, received = messages
    return f"{expected - received:,.0f} of {expected:,.0f}"


def _matrix(
    expected: np.ndarray, received: np.ndarray, robots: tuple[str, ...], messages: tuple[float, float] | None
) -> str:
    """Share of messages lost for each pair, as a tinted table."""
    count = len(expected)
    names = robots if len(robots) == count else [f"robot {i}" for i in range(count)]
    rows = []
    for i in range(count):
        cells = [_lost(expected[i, j], received[i, j]) if i != j else Html("<td></td>") for j in range(count)]
        rows.append((names[i], *cells))
    body = table(("received by ↓ from →", *names), rows, "matrix" if count <= 6 else "matrix dense")
    counts = f"{_lost_of(messages)} messages between robots were lost." if messages else ""
    return f"<figure><h3>Messages lost [%]</h3>{body}<figcaption>{counts}</figcaption></figure>"


def _lost(expected: float, received: float) -> Html:
    if not expected:
        return Html("<td>–</td>")
    share = 1 - received / expected
    tint = min(100 * share / 0.2, 100) * 0.5
    shade = f"background:color-mix(in srgb,var(--bad) {tint:.0f}%,transparent)"
    return Html(f'<td style="{shade}" title="{received:.0f} of {expected:.0f} arrived">{100 * share:.1f}</td>')


def _stages(data: DemoReport) -> Section:
    stages = data.stages
    if not stages:
        return Section("Stages", empty("No stage was timed."))
    longest = max(stage.seconds for stage in stages) or 1.0
    rows = []
    for stage in stages:
        bar = Html(f'<td class=wide><span class=bar style="width:{100 * stage.seconds / longest:.1f}%"></span></td>')
        rows.append((stage.name, duration(stage.seconds), bar, stage.note))
    between_s = _wall_s(data) - sum(stage.seconds for stage in stages)
    if between_s >= 0.05:
        rows.append(("loading, between stages", duration(between_s), Html("<td class=wide></td>"), ""))
    rows.append(("whole demo", duration(_wall_s(data)), Html("<td class=wide></td>"), "without writing this page"))
    return Section("Stages", table(("stage", "time", "", ""), rows, "stages"))
