"""Parts that both reports share: how a run learned, how a team flew."""

from collections.abc import Sequence

import numpy as np

from robomarl.core.log import FlightLog
from robomarl.core.types import Figures
from robomarl.front.report.page import Section, Tile, details, empty, facts, figure, grid, interactive, table
from robomarl.front.report.plots.animation import animated_map
from robomarl.front.report.plots.flight import (
    all_distances,
    deviation,
    distances,
    goal_errors,
    interventions,
    map_view,
    nearest_m,
)
from robomarl.front.report.plots.interactive import plotly_figure
from robomarl.front.report.plots.style import to_inline_svg
from robomarl.front.report.plots.training import (
    COLLISIONS,
    CONTACT,
    RETURN,
    REWARD,
    SUCCESS,
    learning_curve,
    small_multiple,
)
from robomarl.front.report.runs import Metrics, RecordedFlight, RecordedRun, last, series
from robomarl.front.report.units import metres, percent, si

TERM_TITLES = {
    "loss/kl": "KL divergence",
    "loss/entropy": "entropy [nat]",
    "loss/policy": "policy loss",
    "loss/value": "value loss",
    "explained_variance": "explained variance",
    "learning_rate": "learning rate",
    "noise_floor": "noise floor (std)",
    "noise_std": "noise (std)",
}
"""Titles of optimization columns; other `loss/` columns keep their names."""


RECIPE_WORDS = {
    "algorithm": "algorithm",
    "total_steps": "agent-steps at most",
    "num_envs": "episodes side by side",
    "learning_rate": "learning rate at the start",
}
"""Keys of a recipe in words."""


def draw(drawn, title: str, caption: str = "", missing: str = "", live: bool = False) -> str:
    """Return a matplotlib figure for the page, or its empty place if there is none.

    Args:
        drawn: the figure, or None.
        title: name of the figure.
        caption: explanation below it.
        missing: words for its empty place.
        live: True if the reader can zoom and read values, where Plotly's script lies beside the page.
    """
    if drawn is None:
        return empty(missing, title)
    key = "".join(c if c.isalnum() else "-" for c in title.lower())
    still = to_inline_svg(drawn, title, key)
    return figure(interactive(still, plotly_figure(drawn)) if live else still, caption, title)


def hover_tile(found: Figures) -> list[Tile]:
    """How calmly and how near its goal a team stays after it has arrived; empty where that was not measured."""
    names = ("hover_accel_std_m_s2", "hover_tilt_rad", "hover_error_m")
    values = [value for name in names if isinstance(value := found.get(name), int | float)]
    if len(values) < len(names):
        return []
    deviation, tilt_rad, error_m = values
    calm = f"commands \u00b1{deviation:.2f} m/s\u00b2, tilt {np.degrees(tilt_rad):.1f}\u00b0"
    return [Tile("Hover", metres(error_m), f"from the goal; {calm}; mean of 10 s")]


def learning_section(metrics: Metrics) -> Section:
    """Success, reward and contact against steps and wall time."""
    no_rows = "No training metrics yet: metrics.csv has no rows."
    has_return = len(series(metrics, "steps", "return")[0]) > 0
    has_check = len(series(metrics, "steps", "eval_success")[0]) > 0
    unchecked = "No evaluation in MuJoCo yet."
    note = "Dots: evaluations without exploration noise, filter off." if has_check else unchecked
    figures = [
        draw(learning_curve(metrics, SUCCESS), "Success", note, no_rows, live=True),
        draw(learning_curve(metrics, RETURN if has_return else REWARD), "Reward", "", no_rows, live=True),
        draw(learning_curve(metrics, CONTACT), "Contact in training", "", no_rows, live=True),
        draw(learning_curve(metrics, COLLISIONS), "Collisions in MuJoCo", "", unchecked, live=True),
    ]
    lead = "Pale: each update. Bold: moving average. The wall time is along the top." if metrics else ""
    return Section("Learning", grid(figures), lead)


def reward_section(metrics: Metrics) -> Section:
    """Every reward term in a small figure of its own."""
    names = [name for name in metrics if name.startswith("reward/")]
    titles = [plain(name.removeprefix("reward/")) for name in names]
    drawn = [small_multiple(metrics, name) for name in names]
    figures = [draw(chart, title, "", "no values yet") for chart, title in zip(drawn, titles, strict=True)]
    body = grid(figures, "grid small") if figures else empty("No reward terms yet: metrics.csv has no reward/ column.")
    return Section(
        "Reward terms",
        body,
        "Weighted, mean over robots and decisions, against agent-steps. Each has its own scale.",
    )


def optimization_section(metrics: Metrics, target_kl: float | None = None) -> Section:
    """Losses, KL divergence and exploration in small figures."""
    names = sorted((n for n in metrics if n.startswith("loss/") or n in TERM_TITLES), key=_optimization_order)
    figures = []
    for name in names:
        target = target_kl if name == "loss/kl" else None
        title = TERM_TITLES.get(name, plain(name.removeprefix("loss/")))
        figures.append(draw(small_multiple(metrics, name, target), title, "", "no values yet"))
    lead = (
        "Against agent-steps. The dashed line is the KL divergence that the learning rate aims at." if target_kl else ""
    )
    body = grid(figures, "grid small") if figures else empty("No losses yet: metrics.csv has no loss/ column.")
    return Section("Optimization", body, lead)


def plain(name: str) -> str:
    """Return a name of a table or file in words."""
    return name.replace("_", " ")


def _optimization_order(name: str) -> tuple[int, str]:
    known = list(TERM_TITLES)
    return (known.index(name) if name in known else len(known), name)


def robot_names(log: FlightLog, names: Sequence[str] = ()) -> list[str]:
    """The given names where there is one for each robot, else their indices."""
    count = log.pos_m.shape[1]
    return list(names) if len(names) == count else [f"robot {i}" for i in range(count)]


def least_m(flights: Sequence[RecordedFlight]) -> float:
    """Least distance between two centres over all flights [m]; +inf for one robot or no flight."""
    return min((float(nearest_m(flight.log).min()) for flight in flights), default=float("inf"))


def closest_flight(flights: Sequence[RecordedFlight]) -> RecordedFlight:
    """The flight with the closest approach: the one worth looking at."""
    return min(flights, key=lambda flight: float(nearest_m(flight.log).min()))


def motion_figure(flights: Sequence[RecordedFlight], names: Sequence[str] = ()) -> str:
    """The flight with the closest approach as a moving picture."""
    if not flights:
        return empty("No flight was recorded.", "In motion")
    shown = closest_flight(flights)
    moving = animated_map(shown.log, robot_names(shown.log, names), f"Animation of {shown.name}, from above")
    caption = f"{shown.name}: in real time. Rings touch at the safety distance and are filled while the filter acts."
    return figure(moving, caption, "In motion", "moving")


def flight_section(
    flights: Sequence[RecordedFlight], names: Sequence[str] = (), tolerance_m: float | None = None, first: str = ""
) -> Section:
    """Return the flight with the closest approach, seen from above and from the side, and a table of all.

    Args:
        flights: any number.
        names: names of the robots.
        tolerance_m: distance to the goal that counts as arrived.
        first: a figure to show before all further ones.
    """
    if not flights:
        return Section("Flights", first or empty("No flight was recorded."))
    shown = closest_flight(flights)
    log, who = shown.log, robot_names(shown.log, names)
    caption = "Rings: starts. Crosses: goals. Discs: robots at the end, true size. Pale band: the filter acted."
    above = draw(map_view(log, (0, 1), who, (440, 400)), "From above", caption, live=True)
    beside = [
        draw(map_view(log, (0, 2), who, (440, 230)), "From the side", live=True),
        draw(goal_errors(log, who, tolerance_m), "Arrival", live=True),
    ]
    figures = [first, above, *beside] if first else [above, grid(beside, "stack")]
    lead = f"Shown is {shown.name}" + (", the one with the closest approach." if len(flights) > 1 else ".")
    extra = list(dict.fromkeys(key for flight in flights for key in flight.summary))
    head = ("flight", "time", "goal error", "least distance", "filter acted", "largest change", *extra)
    rows = [(f.name, *_flight_row(f), *(_value(f.summary.get(key)) for key in extra)) for f in flights]
    return Section("Flights", grid(figures) + table(head, rows), lead)


def _flight_row(flight: RecordedFlight) -> tuple[str, ...]:
    log = flight.log
    error = float(np.linalg.norm(log.pos_m[-1] - log.goal_m[-1], axis=-1).max())
    change = float(np.nanmax(np.where(log.active, deviation(log), 0.0), initial=0.0))
    return (
        f"{log.time_s[-1] - log.time_s[0]:.1f} s",
        metres(error),
        say_distance(float(nearest_m(log).min()), log),
        percent(float(log.active.mean())),
        f"{change:.2f} m/s²",
    )


def say_distance(least: float, log: FlightLog) -> str:
    """A least distance, with a word where it is inside the safety distance or was a contact."""
    if not np.isfinite(least):
        return "one robot"
    word = " (contact)" if least < 2 * log.radius_m else " (inside safety)" if least < log.separation_m else ""
    return metres(least) + word


def _value(value: object) -> str:
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def safety_section(flights: Sequence[RecordedFlight], names: Sequence[str] = ()) -> Section:
    """Return distances against the safety distance, and the interventions of the filter."""
    if not flights:
        return Section("Safety", empty("No flight was recorded: no distances, no interventions."))
    shown = closest_flight(flights)
    log, who = shown.log, robot_names(shown.log, names)
    alone = "One robot: there is no distance to keep."
    figures = [draw(distances(log, who), "Distances", f"{shown.name}: one line a robot.", alone, live=True)]
    if len(flights) > 1:
        caption = f"One line a flight; bold: {shown.name}."
        figures.append(draw(all_distances(flights), f"All {len(flights)} flights", caption, alone, live=True))
    share = percent(float(np.mean(np.concatenate([f.log.active.ravel() for f in flights]))))
    figures.append(
        draw(interventions(log, who), "Filter interventions",
             f"{shown.name}: size of (command − nominal), acceleration, where the filter acted. "
             f"Over all flights it acted in {share} of the robots' decisions.",
             "The filter changed no command in this flight, or was off.", live=True)
    )  # fmt: skip
    return Section(
        "Safety",
        grid(figures),
        "Distances are between centres, at the times of the log; between them robots may come closer.",
    )


def recipe_section(run: RecordedRun) -> Section:
    """Seed, commit and versions in sight; the whole recipe and scenario behind a click."""
    config, about = run.config, run.about
    main = {"run": run.name, "scenario": run.scenario.get("name") or config.get("scenario")}
    main |= {words: config.get(key) for key, words in RECIPE_WORDS.items()}
    main |= {key: about.get(key) for key in ("seed", "commit")}
    steps = RECIPE_WORDS["total_steps"]
    shown = {key: si(value) if key == steps else value for key, value in main.items() if value is not None}
    versions = about.get("versions") or {}
    parts = [
        facts(shown, "Run"),
        facts(versions, "Versions") if versions else empty("run.json names no versions.", "Versions"),
    ]
    body = grid(f"<div>{part}</div>" for part in parts)
    for name, content in (("The whole recipe", config), ("The whole scenario", run.scenario)):
        body += details(name, facts(content)) if content else ""
    return Section("Recipe", body, "What it takes to make this run again.")


def final_success(metrics: Metrics) -> tuple[float | None, str]:
    """Newest success rate and where it was measured: in MuJoCo, or in training where that is all there is."""
    checked = last(metrics, "eval_success")
    return (checked, "in MuJoCo") if checked is not None else (last(metrics, "success"), "in training")
