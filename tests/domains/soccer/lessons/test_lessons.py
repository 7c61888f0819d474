"""Lessons: their files, the frames of actions, and fits that get nearer to the teacher."""

from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.soccer.core.sight.layout import SightLayout
from robomarl.domains.soccer.lab import task
from robomarl.domains.soccer.lab.lessons.lesson import Lessons, read_lessons, write_lessons
from robomarl.domains.soccer.lab.lessons.pixel_policy import (
    PixelPolicyConfig,
    fit_network,
    of_body,
    physical,
    reckoned_heading,
)
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.sim.scenario import load_scenario

LAYOUT, PIXELS = SightLayout(), 48


def _lessons(decisions: int, matches: int) -> Lessons:
    """Lessons of a teacher that accelerates towards the ball of the perception's output, ahead and to its side."""
    random = np.random.default_rng(0)
    pixels = random.normal(size=(decisions, matches, 2, PIXELS)).astype(np.float32)
    pixels[..., 0] = 1
    heading = random.uniform(-3, 3, (decisions, matches, 2)).astype(np.float32)
    away = pixels[..., 1] + heading
    wanted = np.stack([0.6 * np.cos(away), 0.6 * np.sin(away), 0 * away, 0 * away], -1).astype(np.float32)
    obs = random.normal(size=(decisions, matches, 2, 66)).astype(np.float32)
    return Lessons(obs, pixels, wanted, heading)


def test_files_are_read_side_by_side_and_cut_to_the_shortest(tmp_path: Path):
    write_lessons(tmp_path / "a.npz", _lessons(6, 2))
    write_lessons(tmp_path / "b.npz", _lessons(4, 3))
    both = read_lessons([tmp_path / "a.npz", tmp_path / "b.npz"])
    assert both.obs.shape == (4, 5, 2, 66)
    np.testing.assert_array_equal(both.wanted[:, 2:], _lessons(4, 3).wanted)


def test_what_is_no_lesson_is_refused_by_its_name(tmp_path: Path):
    (tmp_path / "x.npz").write_bytes(b"no")
    with pytest.raises(UserError, match=r"x\.npz"):
        read_lessons([tmp_path / "x.npz"])
    with pytest.raises(UserError, match="No lessons"):
        read_lessons([])


def test_an_action_along_the_body_is_that_of_the_field_again_where_the_heading_is_true():
    spec, random = task.action(load_scenario("soccer_2v2", SoccerScenario)), np.random.default_rng(1)
    wanted = random.uniform(-0.7, 0.7, (50, 4)).astype(np.float32)
    heading = random.uniform(-3, 3, 50)
    np.testing.assert_allclose(spec.to_unit(physical(spec, of_body(spec, wanted, heading), heading)), wanted, atol=1e-5)
    east = of_body(spec, np.array([[0.5, 0, 0, 0]], np.float32), np.array([np.pi / 2]))
    np.testing.assert_allclose(east[0, :2], [0, -0.5], atol=1e-6)  # who looks along y has x on the right


def test_a_network_learns_to_go_where_its_picture_has_the_ball(tmp_path: Path):
    write_lessons(tmp_path / "a.npz", _lessons(60, 20))
    before, after = fit_network(PixelPolicyConfig(tmp_path / "net", (tmp_path / "a.npz",), steps=120, unroll=10))
    assert after < 0.6 * before
    obs = np.zeros((1, PIXELS), np.float32)
    obs[0, LAYOUT.size + 5 : LAYOUT.size + 7] = np.cos(0.4), np.sin(0.4)
    assert reckoned_heading(obs, LAYOUT)[0] == pytest.approx(0.4)
