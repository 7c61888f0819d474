"""The report pages: one file, well-formed, complete, and honest about what is missing."""

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from robomarl.front.cli.demo_stages import StageLog, judged, messages, print_table, ros_outcome
from robomarl.front.report.report import (
    DemoReport,
    DemoStage,
    RecordedFlight,
    TeamMeasurements,
    write_demo_report,
    write_run_report,
)
from robomarl.front.report.sections import least_m
from robomarl.front.report.units import metres
from robomarl.ros.operator.flight_outcome import figures_of
from robomarl.ros.operator.flights import FlightsResult

VOID = {"meta", "br", "img", "hr", "link", "input"}


class Checker(HTMLParser):
    """Open and close tags in order; every id once; what is loaded from where."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.titles: list[str] = []
        self.problems: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if len(values) != len(attrs):
            self.problems.append(f"<{tag}> has an attribute twice")
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if "href" in values else []
        self.sources += [values["src"]] if "src" in values else []
        if tag == "svg":
            self.titles.append(values.get("aria-label", ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes what is not open")

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text.append(data)


def check(file: Path) -> Checker:
    """Parse a page and hold it to the rules that all pages keep."""
    content = file.read_text()
    checker = Checker()
    checker.feed(content)
    checker.close()
    assert not checker.problems and not checker.open, (checker.problems, checker.open)
    assert len(set(checker.ids)) == len(checker.ids)
    assert not re.search(r"https?://|//\w+\.\w+/|@import", content)
    scripts = [source for source in checker.sources if not source.startswith("data:")]
    assert scripts == ["plotly.min.js"] * ("class=plot" in content), "nothing comes over the network"
    assert all(link.startswith("#") and link[1:] in checker.ids for link in checker.links)
    used = set(re.findall(r"url\(#([\w.-]+)\)", content))
    assert used <= set(checker.ids)
    assert all(checker.titles), "a figure has no name for screen readers"
    words = " ".join(checker.text)
    assert not re.search(r"\b(nan|inf|None)\b", words), re.findall(r".{30}\b(?:nan|inf|None)\b.{30}", words)
    assert len(content) < 3_000_000
    return checker


def write(run_dir: Path, tmp_path: Path) -> Checker:
    write_run_report(run_dir, tmp_path / "run.html")
    return check(tmp_path / "run.html")


def test_a_run_page_shows_everything(run_dir: Path, tmp_path: Path):
    page = write(run_dir, tmp_path)
    shown = set(page.titles)
    assert {"Success", "Reward", "Contact in training", "Collisions in MuJoCo"} <= shown
    assert {"progress", "contact", "KL divergence", "entropy [nat]", "noise floor (std)"} <= shown
    assert {"From above", "From the side", "Arrival", "Distances", "All 3 flights", "Filter interventions"} <= shown
    words = " ".join(page.text)
    assert "in MuJoCo" in words and "agent-steps" in words
    assert "commands \xb10.12 m/s\xb2, tilt 0.9\xb0" in words
    assert all(value in words for value in ("bb1e878", "0.9.2", "mappo", "safety 0.20 m", "contact 0.14 m"))


def test_the_same_data_make_the_same_page(run_dir: Path, tmp_path: Path):
    for name in ("a.html", "b.html"):
        write_run_report(run_dir, tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_colours_follow_the_theme(synthetic: ModuleType, run_dir: Path, tmp_path: Path):
    write_demo_report(synthetic.make_demo(run_dir, flights=2), tmp_path / "demo.html")
    body = (tmp_path / "demo.html").read_text().partition("</style>")[2]
    assert "var(--c0)" in body and "var(--grid)" in body
    assert not re.findall(r"#[0-9a-f]{6}\b", body), "a colour that no theme changes"


def test_an_empty_folder_makes_a_page(tmp_path: Path):
    page = write(tmp_path, tmp_path)
    words = " ".join(page.text)
    assert "No metrics yet" in words and "No flight was recorded." in words
    assert not page.titles


def test_a_header_alone_makes_a_page(tmp_path: Path):
    (tmp_path / "metrics.csv").write_text("update,steps,seconds,success\n")
    assert "No metrics yet" in " ".join(write(tmp_path, tmp_path).text)


def test_missing_and_blank_columns(synthetic: ModuleType, tmp_path: Path):
    keep = ("update", "steps", "success", "reward/near")
    rows = [{k: row[k] for k in keep} | {"loss/kl": "", "eval_success": ""} for row in synthetic.metric_rows(20)]
    synthetic.write_metrics(tmp_path, rows)
    with (tmp_path / "metrics.csv").open("a") as stream:
        stream.write("21,2752")  # the run was killed while it wrote this row
    page = write(tmp_path, tmp_path)
    assert "Success" in page.titles and "near" in page.titles
    assert "Reward" not in page.titles and "KL divergence" not in page.titles
    assert "There is no evaluation in MuJoCo yet" in " ".join(page.text)


def test_one_row_and_constant_values(tmp_path: Path):
    (tmp_path / "metrics.csv").write_text("update,steps,seconds,success,contact,loss/kl\n1,4096,2.0,0,0,0\n")
    assert "Success" in write(tmp_path, tmp_path).titles


def test_a_clock_that_was_set_back_has_no_wall_time_axis(tmp_path: Path):
    (tmp_path / "metrics.csv").write_text("update,steps,seconds,success\n1,10,9,0\n2,20,4,0.5\n3,30,6,1\n")
    assert "wall time [min]" not in write(tmp_path, tmp_path).text


def test_damaged_files_are_named(tmp_path: Path):
    (tmp_path / "config.json").write_text("{")
    (tmp_path / "flights").mkdir()
    (tmp_path / "flights" / "cut.npz").write_bytes(b"PK\x03\x04")
    assert "config.json, cut.npz" in " ".join(write(tmp_path, tmp_path).text)


def test_names_are_escaped(tmp_path: Path):
    (tmp_path / "scenario.json").write_text(json.dumps({"name": "<b>&\"'", "count": 2}))
    assert "<b>&\"'" in " ".join(write(tmp_path, tmp_path).text)


@pytest.mark.parametrize("count", [1, 2, 9])
def test_team_sizes(synthetic: ModuleType, tmp_path: Path, count: int):
    flight = RecordedFlight("only", synthetic.make_flight(count, seconds=3.0))
    write_demo_report(DemoReport(flights=(flight,)), tmp_path / "demo.html")
    page = check(tmp_path / "demo.html")
    assert ("Distances" in page.titles) is (count > 1)
    assert any(title.startswith("Animation of only") for title in page.titles)


def test_a_position_that_is_not_finite(synthetic: ModuleType, tmp_path: Path):
    log = synthetic.make_flight(3, seconds=2.0)
    log.pos_m[40:, 1] = np.nan
    write_demo_report(DemoReport(flights=(RecordedFlight("lost", log),)), tmp_path / "demo.html")
    assert "Distances" in check(tmp_path / "demo.html").titles


def test_a_demo_page_shows_everything(synthetic: ModuleType, run_dir: Path, tmp_path: Path):
    Image.new("P", (40, 30), 3).save(tmp_path / "flight.gif")
    data = dataclasses.replace(synthetic.make_demo(run_dir), video=tmp_path / "flight.gif")
    write_demo_report(data, tmp_path / "demo.html")
    page = check(tmp_path / "demo.html")
    assert {"Success by simulator", "Success", "Time of a tick", "From above", "Distances", "All 5 flights"} <= set(
        page.titles
    )
    assert [source[:22] for source in page.sources] == ["data:image/gif;base64,", "plotly.min.js"]
    words = " ".join(page.text)
    assert "ROS 2: 5 of 5 flights succeeded, no collision" in words
    assert "commands \xb10.12 m/s\xb2, tilt 0.9\xb0" in words
    assert "93.0–98.3" in words, "Wilson's interval of 193 of 200"
    assert all(value in words for value in ("Messages lost", "12 min 24 s".replace(" ", "\xa0"), "overruns", "cf4"))


def test_the_flights_are_judged_in_words(synthetic: ModuleType, tmp_path: Path):
    """No key of the figures, as in `min_distance_m`, stands beside the heads."""
    ticks = {name: [{"active": 1, "filtered": 0, "reason": 0, "latency_us": 400.0, "late_us": 20.0, "skipped": 0}]
             for name in ("cf1", "cf2")}  # fmt: skip
    score = {"seed": 7, "failed": 0, "collisions": 0, "min_distance_m": 0.4371, "flight_s": 5.0, "log": ""}
    arrived = figures_of({**score, "succeeded_s": 4.532, "time_limit_s": 8.0}, ticks, "")
    late = figures_of({**score, "succeeded_s": float("nan"), "time_limit_s": 8.0}, ticks, "the time limit")
    flights = tuple(RecordedFlight("flight", synthetic.make_flight(2, seconds=2.0), judged(f)) for f in (arrived, late))
    write_demo_report(DemoReport(flights=flights, robots=("cf1", "cf2")), tmp_path / "demo.html")
    heads = re.findall(r'<th scope="col">(.*?)</th>', (tmp_path / "demo.html").read_text())
    assert "least distance at any physics step" in heads and not [head for head in heads if "_" in head]
    words = check(tmp_path / "demo.html").text
    assert {"yes", "4.53 s", "0.437\xa0m", "no", "–"} <= set(words) and "True" not in words


def test_the_judge_of_every_physics_step_has_seen_more_than_the_log(synthetic: ModuleType, tmp_path: Path):
    log = synthetic.make_flight(2, seconds=1.0)
    near = log.separation_m - 0.001
    assert least_m((RecordedFlight("flight", log),)) > log.separation_m
    outcome = TeamMeasurements("ROS 2", 1, 1, 0, near)
    write_demo_report(DemoReport(outcomes=(outcome,), flights=(RecordedFlight("flight", log),)), tmp_path / "demo.html")
    words = " ".join(check(tmp_path / "demo.html").text)
    assert "outside the safety distance" not in words
    assert "inside the safety distance of" in (tmp_path / "demo.html").read_text().split("class=tiles")[1]
    assert f"closest approach {metres(near)}, inside" in words


def test_the_terminal_and_the_page_of_a_demo_have_the_same_numbers(tmp_path: Path, capsys: pytest.CaptureFixture):
    """One robot is slow in one of two flights; messages between robots and of the simulator got lost."""
    tick = {"active": 1, "filtered": 0, "reason": 0, "latency_us": 400.0, "late_us": 20.0, "skipped": 0}
    ticks = [{**tick, "odometry.received": 50 * k, "odometry.lost": 3 * k} for k in range(2)]
    first = [{**row, "cf2.received": 10 * k, "cf2.lost": 0} for k, row in enumerate(ticks)]
    second = [{**row, "cf1.received": 10 * k, "cf1.lost": k} for k, row in enumerate(ticks)]
    slow = [{**row, "latency_us": 2460.0} for row in second]
    score = {"seed": 7, "failed": 0, "collisions": 0, "min_distance_m": 0.4371, "flight_s": 5.0, "log": ""}
    score |= {"succeeded_s": 4.5, "time_limit_s": 8.0}
    flights = tuple(figures_of(score, {"cf1": first, "cf2": rows}, "") for rows in (second, slow))
    result, journal, robots = FlightsResult(flights, 0.0, {}, 0.0, 0.0, ""), StageLog(1), ("cf1", "cf2")
    outcome = ros_outcome(journal, result)
    print_table(journal.figures | {"wall_seconds": 153.0}, [outcome], tmp_path / "demo.html")
    expected, received = messages(result, robots)
    data = DemoReport(stages=(DemoStage("fly", 122.0),), outcomes=(outcome,), robots=robots, wall_s=153.0)
    write_demo_report(dataclasses.replace(data, expected=expected, received=received), tmp_path / "demo.html")
    said, words = capsys.readouterr().out, " ".join(check(tmp_path / "demo.html").text)
    for figure in ("2 of 2", "2.46\xa0ms", "2 of 42", "2\xa0min\xa033\xa0s", "0.437\xa0m"):
        assert figure in said and figure in words, figure
    assert words.count("2\xa0min\xa033\xa0s") == 2 and "31\xa0s" in words, "in a tile and below the stages"


def test_an_empty_demo_makes_a_page(tmp_path: Path):
    write_demo_report(DemoReport(), tmp_path / "demo.html")
    assert "Nothing was flown yet." in " ".join(check(tmp_path / "demo.html").text)


def test_a_picture_that_is_too_large_is_left_out(tmp_path: Path):
    (tmp_path / "big.gif").write_bytes(bytes(1_000_001))
    write_demo_report(DemoReport(video=tmp_path / "big.gif"), tmp_path / "demo.html")
    assert "pictures up to 1 MB" in " ".join(check(tmp_path / "demo.html").text)


def test_a_contact_is_said_in_words(synthetic: ModuleType, tmp_path: Path):
    log = synthetic.make_flight(2, seconds=1.0)
    log.pos_m[20] = log.pos_m[20, :1]
    write_demo_report(DemoReport(outcomes=(), flights=(RecordedFlight("hit", log),)), tmp_path / "demo.html")
    assert "0.000\xa0m (contact)" in check(tmp_path / "demo.html").text


@pytest.mark.parametrize("robot", [0, 1])
def test_messages_lost_are_read_by_row_from_column(tmp_path: Path, robot: int):
    expected, received = np.full((2, 2), 100.0), np.full((2, 2), 100.0)
    received[robot, 1 - robot] = 75
    write_demo_report(DemoReport(expected=expected, received=received), tmp_path / "demo.html")
    rows = re.findall(r'<th scope="row">(robot \d)</th>(.*)</tr>', (tmp_path / "demo.html").read_text())
    lost = {name: re.findall(r"arrived\">([\d.]+)<", cells) for name, cells in rows}
    assert lost == {f"robot {robot}": ["25.0"], f"robot {1 - robot}": ["0.0"]}
    check(tmp_path / "demo.html")
