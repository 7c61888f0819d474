"""`robomarl reports`: all reports of a folder on one page."""

import json
import os
from pathlib import Path

import pytest
from PIL import Image

from robomarl.front.cli import main
from robomarl.front.report.index import index_page, read_report
from robomarl.front.report.report import DemoReport, TeamMeasurements, write_demo_report, write_run_report


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Return a folder with a demo that failed, a newer training run, and a page of another program."""
    runs = tmp_path / "all runs"
    for name in ("demo", "swap & co"):
        (runs / name).mkdir(parents=True)
    film = [Image.new("RGB", (64, 36), colour) for colour in ("red", "blue", "white")]
    film[0].save(tmp_path / "flight.gif", save_all=True, append_images=film[1:])
    outcome = TeamMeasurements("ROS 2", 10, 9, 1)
    write_demo_report(
        DemoReport(subtitle="<four>", outcomes=(outcome,), video=tmp_path / "flight.gif"), runs / "demo/report.html"
    )
    (runs / "swap & co" / "metrics.csv").write_text("update,steps,seconds,success\n1,10,9,0\n2,20,14,0.5\n")
    write_run_report(runs / "swap & co", runs / "swap & co" / "report.html")
    (runs / "other.html").write_text("<h1>Of another program</h1>")
    os.utime(runs / "demo" / "report.html", (1, 1))
    return runs


def test_all_reports_are_listed_newest_first(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture):
    file = tmp_path / "found.json"
    assert main(["reports", str(runs), "--json", str(file)]) == 0
    assert (runs / "index.html").as_uri() in capsys.readouterr().out
    found = json.loads(file.read_text())
    assert [(report["kind"], report["bad"]) for report in found["reports"]] == [("training run", False), ("demo", True)]
    assert found["reports"][1]["verdict"] == "ROS 2: 9 of 10 flights succeeded, one collision."
    assert main(["reports", str(runs), "--json", str(file)]) == 0
    assert json.loads(file.read_text()) == found, "the page of all is not in its own list"


def test_cards_have_links_words_and_pictures(runs: Path):
    found = [read_report(runs / name / "report.html") for name in ("demo", "swap & co")]
    page = index_page([report for report in found if report], runs)
    assert 'href="swap%20%26%20co/report.html"' in page and 'href="demo/report.html"' in page
    assert page.count("data:image/jpeg;base64,") == 1 and page.count("data:image/svg+xml;base64,") == 1
    assert "&lt;four&gt;" in page and "1 with a card marked as bad" in page


def test_a_folder_without_reports_is_named(tmp_path: Path, capsys: pytest.CaptureFixture):
    assert main(["reports", str(tmp_path)]) == 1
    assert "has no reports; name another DIR" in capsys.readouterr().err
