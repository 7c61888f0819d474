"""`Timeline`: play, pause, seek, step and speed, on a source whose moments are known."""

import numpy as np
import pytest

pytest.importorskip("viser")

from robomarl.front.view.timeline import Timeline
from robomarl.lab.scene.scene import Scene, SceneMoment

PERIOD_S = 0.1


def at(time_s: float) -> SceneMoment:
    """Return a moment of one robot at x = its time."""
    return SceneMoment(time_s, np.array([[time_s, 0.0, 0.0]]), np.array([[1.0, 0, 0, 0]]))


class Counted:
    """A source of moments each 0.1 s, which ends after a number of moments or begins again."""

    sets_goals = False
    scene = Scene((), (), (), (0, 0, 0), (1, 1, 1), PERIOD_S)

    def __init__(self, last: int, again: bool = False) -> None:
        """Begin at time 0."""
        self.last, self.again, self.count = last, again, 0
        self.moment = at(0.0)

    def advance(self) -> SceneMoment | None:
        """Return the next moment; None at the end, or the first one of another episode."""
        if self.count == self.last:
            if not self.again:
                return None
            return self.restart()
        self.count += 1
        self.moment = at(self.count * PERIOD_S)
        return self.moment

    def restart(self) -> SceneMoment:
        """Begin again."""
        self.count, self.moment = 0, at(0.0)
        return self.moment

    def set_goal(self, robot: int, place_m: np.ndarray) -> None:
        """Do nothing."""


def test_time_passes_at_the_chosen_speed():
    timeline = Timeline(Counted(100), own_pace=False)
    for _ in range(10):
        timeline.tick(0.05)
    assert timeline.moment.time_s == pytest.approx(0.5)
    timeline.speed = 2.0
    for _ in range(10):
        timeline.tick(0.05)
    assert timeline.moment.time_s == pytest.approx(1.5)


def test_pause_holds_the_moment_and_steps_move_it_by_one():
    timeline = Timeline(Counted(100), own_pace=False)
    timeline.tick(1.0)
    timeline.playing = False
    assert not timeline.tick(5.0)
    timeline.step(1)
    assert timeline.moment.time_s == pytest.approx(1.1)
    timeline.step(-2)
    assert timeline.moment.time_s == pytest.approx(0.9)


def test_seek_goes_back_and_playing_goes_on_from_there():
    timeline = Timeline(Counted(100), own_pace=False)
    timeline.tick(3.0)
    timeline.seek(1.04)
    assert timeline.moment.time_s == pytest.approx(1.0)
    timeline.tick(0.2)
    assert timeline.moment.time_s == pytest.approx(1.2)
    assert timeline.span_s == (0.0, pytest.approx(3.0))


def test_a_recording_is_loaded_whole_and_stops_at_its_end():
    timeline = Timeline(Counted(20), own_pace=False)
    timeline.load()
    assert timeline.span_s == (0.0, pytest.approx(2.0)) and timeline.moment.time_s == 0.0
    for _ in range(10):
        timeline.tick(1.0)
    assert timeline.moment.time_s == pytest.approx(2.0)


def test_an_episode_that_ends_begins_again_without_its_past():
    timeline = Timeline(Counted(5, again=True), own_pace=False)
    for _ in range(7):
        timeline.tick(PERIOD_S)
    assert timeline.moment.time_s <= 0.2 and timeline.span_s[1] <= 0.2


def test_a_source_with_a_pace_of_its_own_shows_its_newest_moment_unless_one_looks_back():
    timeline = Timeline(Counted(5), own_pace=True)
    timeline.tick(0.01)
    assert timeline.moment.time_s == pytest.approx(0.5)
    timeline.playing = False
    timeline.seek(0.2)
    timeline.tick(0.01)
    assert timeline.moment.time_s == pytest.approx(0.2)


def test_the_trail_reaches_as_far_back_as_asked():
    timeline = Timeline(Counted(100), own_pace=False)
    timeline.tick(2.0)
    assert [moment.time_s for moment in timeline.trail(0.3)] == pytest.approx([1.7, 1.8, 1.9, 2.0])


def test_a_goal_that_is_set_is_shown_at_once_at_the_newest_moment():
    source = Counted(100)
    source.moment = source.moment._replace(goal_m=np.zeros((1, 3)))
    timeline = Timeline(source, own_pace=False)
    timeline.playing = False
    timeline.set_goal(0, np.array([1.0, 2.0, 3.0]))
    assert timeline.moment.goal_m.tolist() == [[1.0, 2.0, 3.0]]
    assert source.moment.goal_m.tolist() == [[0.0, 0.0, 0.0]]  # the source's own moment is not changed


def test_a_goal_that_is_set_in_the_past_ends_the_look_back():
    timeline = Timeline(Counted(100), own_pace=False)
    timeline.tick(3.0)
    timeline.seek(1.0)
    timeline.set_goal(0, np.zeros(3))
    assert timeline.moment.time_s == pytest.approx(3.0)
