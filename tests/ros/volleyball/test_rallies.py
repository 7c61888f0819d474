"""Rallies through real nodes over DDS: passes, a match, way-points, and a ball that is cut off in flight."""

from pathlib import Path

import numpy as np
import pytest

from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.types import Figures
from robomarl.domains.volleyball.core.log import RallyLog, load_rally
from robomarl.domains.volleyball.front.page import write_rally_report
from robomarl.domains.volleyball.ros.rehearsal import PlayedRally, play_rallies
from robomarl.ros.operator.plan_options import PlanOptions

pytest.importorskip("rclpy")
from std_srvs.srv import SetBool  # noqa: E402

from robomarl.field.replay.replayed import replay_bag  # noqa: E402
from robomarl.ros.operator.rehearsal import rehearse  # noqa: E402

PLAYED_S, AFTER_S = 3.0, 4.0
"""Time [s] of the rally before the ball is cut off, and for which the drones are watched afterwards."""
SEEN_S = 0.25
"""Time [s] after the cut until every drone has to know: the service's way, and the age at which a ball is lost."""


def plan(folder: Path, bundle: str) -> PlanOptions:
    return PlanOptions(bundle=bundle, root=str(folder), log_dir=str(folder), record=str(folder / "bag"))


class CutRally(PlayedRally):
    """A rally in which the tracking system loses the ball."""

    cut_s = np.nan

    def _wait(self) -> None:
        node = self.console._node
        client = node.create_client(SetBool, "/sim/hide_ball")
        self.until(lambda: self._status.get("rally_s", 0.0) > PLAYED_S, 60.0, "some passes")
        self.cut_s = max(rows[-1]["stamp_s"] for rows in self.ticks.values())
        answer = client.call_async(SetBool.Request(data=True))
        self.until(answer.done, 10.0, "the ball to be hidden")
        self.rest(AFTER_S)


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> tuple[Figures, "CutRally", RallyLog]:
    folder = tmp_path_factory.mktemp("cut")
    fleet = load_fleet("volley_bump_pass")

    def run(team):  # noqa: ANN001, ANN202
        rally = CutRally(team, True)
        return rally.play(), rally

    score, rally = rehearse(fleet, plan(folder, "volley_bump_pass"), run)
    return score, rally, load_rally(Path(str(score["log"])))


def test_without_the_ball_no_policy_is_asked_and_nobody_strikes(cut: tuple):
    score, rally, log = cut
    assert score["hits"] >= 2, "it was played before"
    for rows in rally.ticks.values():
        before = [row for row in rows if row["active"] and row["stamp_s"] < rally.cut_s and row["time_s"] > 2.0]
        after = [row for row in rows if row["active"] and row["stamp_s"] > rally.cut_s + SEEN_S]
        asked = "obs.drone_position.x"
        assert any(np.isfinite(row[asked]) for row in before)
        assert len(after) > 100 and not any(np.isfinite(row[asked]) for row in after)
        assert all(row["state"] == before[-1]["state"] for row in after), "it flies on"


def test_without_the_ball_drones_go_back_to_their_posts_and_hover(cut: tuple):
    _, _, log = cut
    posts = np.array([[4.5, -2.5, 2.0], [4.5, 2.5, 2.0]])
    away = np.linalg.norm(log.robots_m - posts, axis=-1)
    assert away[-50:].max() < 0.15
    last_hit_s = log.time_s[log.hit.any(1)][-1]
    assert log.time_s[-1] - last_hit_s > AFTER_S - SEEN_S - 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "robot"), [("volley_bump_pass", ""), ("volley_3v3", "red_1")])
def test_a_rally_is_played_and_its_recording_decides_alike_to_the_last_bit(name: str, robot: str, tmp_path: Path):
    result = play_rallies(load_fleet(name), plan(tmp_path, name), 1)
    assert result.ok and result.rallies[0].hits >= 2 and result.rallies[0].mates_m >= 0.8
    for tally in replay_bag(tmp_path / "bag", team=robot).tallies.values():
        assert tally.ticks > 100
        assert tally.policy.value == tally.command.value == tally.observation.value == 0.0


@pytest.mark.slow
def test_the_referee_names_each_way_point_and_the_recording_decides_alike_to_the_last_bit(tmp_path: Path):
    """`volley_back_and_forth` for its 16 s, through nodes: the drone is told a place, reaches it, and is told the
    next one."""
    result = play_rallies(load_fleet("volley_back_and_forth"), plan(tmp_path, "volley_back_and_forth"), 1)
    (rally,) = result.rallies
    assert result.ok and rally.score >= 5 and "mates" not in result.line
    write_rally_report(result, tmp_path / "report.html", {})
    assert "one robot" in (tmp_path / "report.html").read_text()
    (tally,) = replay_bag(tmp_path / "bag").tallies.values()
    assert tally.ticks > 100
    assert tally.policy.value == tally.command.value == tally.observation.value == 0.0
