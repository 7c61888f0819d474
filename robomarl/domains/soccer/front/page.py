"""The page of a match: score, the moving game, the ball's path, heat maps, figures of the nodes."""

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

from robomarl.domains.soccer.core.log import load_match
from robomarl.domains.soccer.front.plots import animated_match, ball_path, heat_map, score_line
from robomarl.domains.soccer.ros.outcome import MatchResult
from robomarl.front.report.page import Section, Tile, facts, figure, grid, page, table, write_page
from robomarl.front.report.sections import draw

PICTURES = 9
"""Recorded pictures of the robots' cameras."""


def write_match_report(result: MatchResult, file: Path, about: Mapping[str, str], recording: str = "") -> None:
    """Write the page of one match.

    Args:
        result: of `play_match`, with its log.
        file: the HTML file.
        about: further facts to show: fleet, bundles, seed, commit.
        recording: folder of the bag, for what robots saw; "": none.
    """
    log, names = load_match(Path(result.log)), list(result.states)
    moving = figure(animated_match(log, names), "In real time. A stroke shows where a robot looks.", "From above")
    maps = [draw(heat_map(log, i), name, "The darker, the longer it was there.") for i, name in enumerate(names)]
    sections = [
        Section("Score", draw(score_line(log), "Goals", "The first team attacks to the right.")),
        Section("Match", moving),
        Section("Ball", draw(ball_path(log), "Path of the ball", "Dots: kicks, in the colour of the team.")),
        Section("Robots", grid(maps)),
        *_seen(recording),
        Section("Nodes", _nodes(result), "Decisions while the robot was active; messages as their publishers count."),
        Section("About", facts({**about, "robots at the end": dict(result.states)})),
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    write_page(page("A match", f"{len(names)} robots, two teams", _verdict(result), _tiles(result), sections), file)


def _seen(recording: str) -> list[Section]:
    """Return the part with pictures of robots that see, if there are any."""
    if not recording:
        return []
    from robomarl.domains.soccer.front.seen import seen_pictures  # needs Pillow, and onnxruntime

    shown = [
        figure(f'<img alt="{one.caption}" src="data:image/jpeg;base64,{b64encode(one.jpeg).decode()}">', one.caption)
        for one in seen_pictures(Path(recording), PICTURES)
    ]
    note = "Rings: what the network of the robot believes of this picture alone; orange the ball, yellow opponents."
    return [Section("What robots saw", grid(shown), note)] if shown else []


def _tiles(result: MatchResult) -> list[Tile]:
    match, flight = result.match, result.flight
    return [
        Tile("Score", f"{match.goals[0]} : {match.goals[1]}", f"after {match.played_s:.1f} s"),
        Tile("Possession", "{:.0f} : {:.0f}".format(*(100 * share for share in match.possession)), "% of the time"),
        Tile("Kicks", f"{match.kicks[0]} : {match.kicks[1]}"),
        Tile("Impacts", f"{match.impacts[0]} : {match.impacts[1]}", "of robots, above 0.3 m/s, by who caused them"),
        Tile("Decisions", f"{min(match.rate_hz.values()):.1f} /s", "of the slowest robot"),
        Tile("Messages lost", flight.messages),
    ]


def _nodes(result: MatchResult) -> str:
    flight = result.flight
    rows = [
        (name, f"{result.match.rate_hz[name]:.2f}", f"{flight.tick_p50_us[name] / 1e3:.1f} ms",
         f"{flight.tick_p99_us[name] / 1e3:.1f} ms", flight.ticks_skipped[name])
        for name in result.states
    ]  # fmt: skip
    return table(("robot", "decisions/s", "tick, median", "tick, p99", "left out"), rows)


def _verdict(result: MatchResult) -> str:
    first, second = result.match.goals
    if not result.ok:
        return "The match did not end as it should: not all robots stand in STOP."
    won = "The first team won." if first > second else "The second team won." if second > first else "A draw."
    return f"{won} {result.match.kick_offs} kick-offs after goals and of balls that were stuck."
