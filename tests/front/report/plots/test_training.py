"""Figures and their numbers."""

import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

from robomarl.front.report.plots.flight import deviation, nearest_m
from robomarl.front.report.plots.style import spread
from robomarl.front.report.plots.training import compare_runs_plot
from robomarl.front.report.runs import read_metrics, series, smooth, thin
from robomarl.front.report.units import NBSP, duration, percent, si, wilson


def test_nearest_is_the_least_over_team_mates(synthetic: ModuleType):
    log = synthetic.make_flight(5, seconds=2.0)
    assert np.allclose(nearest_m(log).min(axis=1), log.closest_m())
    assert nearest_m(log).shape == log.pos_m.shape[:2]
    assert np.isinf(nearest_m(synthetic.make_flight(1, seconds=1.0))).all()


def test_deviation_leaves_the_yaw_rate_out(synthetic: ModuleType):
    log = synthetic.make_flight(2, seconds=1.0)
    log.command[..., 3] += 7
    assert np.allclose(deviation(log), np.linalg.norm(log.command[..., :3] - log.nominal[..., :3], axis=-1))


@pytest.mark.parametrize(
    ("successes", "episodes", "low", "high"),
    [(0, 0, 0.0, 1.0), (10, 10, 0.7225, 1.0), (0, 10, 0.0, 0.2775), (50, 100, 0.4038, 0.5962)],
)
def test_wilson(successes: int, episodes: int, low: float, high: float):
    assert wilson(successes, episodes) == pytest.approx((low, high), abs=1e-4)


def test_numbers_as_people_read_them():
    assert [si(x) for x in (0, 0.25, 999.6, 25300, 6e7, -0.5, -9.3e-5)] == [
        "0", "0.25", f"1{NBSP}k", f"25.3{NBSP}k", f"60{NBSP}M", "−0.5", "−9.3·10⁻⁵"]  # fmt: skip
    assert [duration(x).replace(NBSP, " ") for x in (4, 59.7, 680, 7500)] == [
        "4.0 s", "1 min 00 s", "11 min 20 s", "2 h 05 min"]  # fmt: skip
    assert [percent(x).replace(NBSP, " ") for x in (1, 0.951, 0.9999, 0.0001, 0)] == [
        "100 %", "95.1 %", "99.99 %", "0.01 %", "0 %"]  # fmt: skip


def test_labels_are_moved_apart():
    moved = spread([0.0, 0.01, 0.5, 0.99, 1.0], 0.1)
    assert np.diff(moved).min() >= 0.1 - 1e-9 and max(moved) <= 1.0
    assert spread([0.2, 0.8], 0.1) == [0.2, 0.8]


def test_thin_and_smooth_keep_ends_and_means():
    assert thin(np.arange(10_000))[[0, -1]].tolist() == [0, 9999]
    assert len(thin(np.arange(10_000))) <= 500
    assert np.allclose(smooth(np.full(50, 3.0)), 3.0)
    assert np.allclose(smooth(np.arange(50.0))[10:40], np.arange(10.0, 40.0))


def test_blank_cells_are_left_out(tmp_path: Path):
    (tmp_path / "metrics.csv").write_text("steps,success\n1,0.5\n2,\n3,oops\n4,0.75\n5")
    x, y = series(read_metrics(tmp_path / "metrics.csv"), "steps", "missing", "success")
    assert x.tolist() == [1, 4] and y.tolist() == [0.5, 0.75]


def test_runs_are_compared(synthetic: ModuleType, tmp_path: Path):
    for i in range(2):
        synthetic.write_metrics(tmp_path / f"run_{i}", synthetic.metric_rows(60, seed=i))
    (tmp_path / "run_2").mkdir()
    folders = [tmp_path / f"run_{i}" for i in range(3)]
    content = compare_runs_plot(folders, tmp_path / "runs.svg")
    assert (tmp_path / "runs.svg").read_bytes() == content
    texts = {
        "".join(element.itertext())
        for element in ElementTree.fromstring(content).iter()
        if element.tag.endswith("text")
    }
    assert {"run_0", "run_1", "agent-steps", "success [%]"} <= texts and "run_2" not in texts
    assert compare_runs_plot(folders, tmp_path / "runs.png", "seconds").startswith(b"\x89PNG")


def test_figures_leave_pyplot_alone(synthetic: ModuleType, tmp_path: Path):
    synthetic.write_metrics(tmp_path, synthetic.metric_rows(5))
    before = "matplotlib.pyplot" in sys.modules
    compare_runs_plot([tmp_path])
    assert ("matplotlib.pyplot" in sys.modules) is before
