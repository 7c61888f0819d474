"""The page of rallies: result, the ball's way, distances of mates, figures of the nodes."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from robomarl.domains.volleyball.core.log import load_rally
from robomarl.domains.volleyball.front.plots import apart, from_above, from_the_side
from robomarl.domains.volleyball.lab.match.rules import FAULTS
from robomarl.domains.volleyball.ros.outcome import RallyOutcome, RallyResult
from robomarl.front.report.page import Section, Tile, facts, page, table, write_page
from robomarl.front.report.sections import draw


def write_rally_report(result: RallyResult, file: Path, about: Mapping[str, str]) -> None:
    """Write the page of rallies; the plots are of the last one.

    Args:
        result: of `play_rallies`, with logs.
        file: the HTML file.
        about: further facts to show: fleet, bundle, seed, commit.
    """
    log = load_rally(Path(result.rallies[-1].log))
    sections = [Section("Rallies", _rallies(result))]
    if log.in_play.any():
        above = draw(from_above(log), "From above", "The robots' ways in the colour of the team.")
        has_ball = np.ptp(log.ball_m[log.in_play], 0).any()
        side = has_ball and draw(from_the_side(log), "The ball from the side", "Dots: hits, in the colour of the team.")
        sections.append(Section("Ball" if side else "Ways", (side or "") + above))
    if np.isfinite(result.rallies[-1].mates_m):
        mates = draw(apart(log), "Least distance of two mates", "Dashed: the distance of the rules.")
        sections.append(Section("Mates", mates))
    sections += [
        Section("Nodes", _nodes(result), "Of the last rally, while the robot was active."),
        Section("About", facts({**about, "robots at the end": dict(result.states)})),
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    robots = len(result.states)
    title = f"{robots} robots, {'two teams' if result.is_match else 'one team'}" if robots > 1 else "one robot"
    write_page(page("Volleyball", title, _verdict(result), _tiles(result), sections), file)


def _rallies(result: RallyResult) -> str:
    head = ("seed", "seconds", "hits", "points" if result.is_match else "metric", "fault", "contacts", "mates [m]",
            "net [m]", "filter acted")  # fmt: skip
    return table(head, map(_row, result.rallies))


def _row(rally: RallyOutcome) -> tuple[str, ...]:
    return (
        str(rally.seed), f"{rally.rally_s:.2f}", str(rally.hits), f"{rally.score:g}", fault_in_words(rally.fault),
        str(rally.collisions), metres(rally.mates_m), f"{rally.net_m:.2f}", f"{100 * rally.filter_active_share:.1f} %",
    )  # fmt: skip


def metres(distance_m: float) -> str:
    """The least distance [m] of mates in words; "-" for a robot without mates."""
    return f"{distance_m:.2f}" if np.isfinite(distance_m) else "-"


def fault_in_words(number: int) -> str:
    """The fault of `RallyOutcome.fault`, with its team; "-" if there is none."""
    if number < 0:
        return "-"
    side, which = divmod(number, 100)
    return f"{FAULTS[which].replace('_', ' ')} ({'second' if side else 'first'} team)"


def _tiles(result: RallyResult) -> list[Tile]:
    rallies = result.rallies
    hits = sorted(rally.hits for rally in rallies)
    return [
        Tile("Hits", str(hits[len(hits) // 2]), "of a rally, median"),
        Tile("Contacts", str(sum(rally.collisions for rally in rallies)), "between robots"),
        Tile("Mates", f"{metres(min(rally.mates_m for rally in rallies))} m", "no nearer than this"),
        Tile("Messages lost", result.flight.messages),
    ]


def _nodes(result: RallyResult) -> str:
    flight = result.flight
    rows = [
        (name, f"{flight.tick_p50_us[name] / 1e3:.1f} ms", f"{flight.tick_p99_us[name] / 1e3:.1f} ms",
         flight.ticks_skipped[name])
        for name in result.states
    ]  # fmt: skip
    return table(("robot", "tick, median", "tick, p99", "left out"), rows)


def _verdict(result: RallyResult) -> str:
    if result.ok:
        return "All rallies were played to their end, and no two robots touched."
    return "A rally did not end, or robots touched."
