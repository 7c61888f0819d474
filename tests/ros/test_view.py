"""`robomarl view` of a fleet that runs and of its recording: real nodes over DDS, MuJoCo behind them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")
pytest.importorskip("viser")

from rclpy.node import Node

from robomarl.field.scene.recorded import RecordedStage, opened_recording
from robomarl.field.scene.running import RunningStage
from robomarl.front.view.subject import scene_of

pytestmark = pytest.mark.ros


@contextmanager
def closing_node(node: Node) -> Iterator[None]:
    """Destroy a node at the end of the block."""
    yield
    node.destroy_node()


def newest(stage: RunningStage, holds, seconds: float = 30.0):
    """Return the first moment for which a function returns True; fails if there is none in time."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        moment = stage.advance()
        if moment is not None and holds(moment):
            return moment
        time.sleep(0.01)
    raise AssertionError(f"not seen in {seconds:g} s; last: {stage.moment}")


def test_a_fleet_is_seen_and_a_goal_that_is_set_is_flown_to(flying):
    scene, task = scene_of("swap_2", 2)
    node = Node("robomarl_view", context=flying.node.context, start_parameter_services=False)
    with closing_node(node):
        stage = RunningStage(node, flying.console.team, "", scene, task)
        moment = newest(stage, lambda m: all(state.startswith("ACTIVE") for state in m.states) and m.pos_m.any())
        assert moment.pos_m.shape == (2, 3) and (moment.pos_m[:, 2] > 0.3).all()
        assert np.isfinite(moment.plan_m).all()
        place = moment.pos_m[0] + (0.0, 0.0, 0.35)
        newest(stage, lambda m: stage.reaches_robots)
        stage.set_goal(0, place)
        newest(stage, lambda m: np.allclose(m.goal_m[0], place, atol=1e-6))
        newest(stage, lambda m: bool(np.linalg.norm(m.pos_m[0] - place) < 0.15))


def test_the_recording_of_it_shows_the_flight_from_start_to_end(flying, rig):
    folder = Path(rig.files.folder) / "bag"
    flying.wait_for_rows("left", lambda row: row["active"] > 0, 50)
    time.sleep(2.0)  # the recorder writes out once a second
    bag, recording = opened_recording(folder)
    scene, task = scene_of(recording.scenario or "swap_2", len(recording.team))
    stage = RecordedStage(bag, recording, scene, task)
    moments = [stage.moment]
    while (moment := stage.advance()) is not None:
        moments.append(moment)
    times = np.array([moment.time_s for moment in moments])
    assert times[0] == 0.0 and (np.diff(times) > 0).all() and len(moments) > 20
    assert any(all(state.startswith("ACTIVE") for state in moment.states) for moment in moments)
    steps = np.linalg.norm(np.diff([moment.pos_m for moment in moments], axis=0), axis=-1)
    assert np.median(steps) < 0.1, "positions jump"
