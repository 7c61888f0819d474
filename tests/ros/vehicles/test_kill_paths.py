"""Real processes of a team die in flight: the vehicle does what is stated, in time, and stands on the ground."""

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")
pytest.importorskip("pymavlink")

from benchmarks.nodes.kill_paths import KILLS, fly

pytestmark = [pytest.mark.ros, pytest.mark.alone, pytest.mark.slow]


@pytest.mark.parametrize("name", ["policy node killed", "adapter killed"])
def test_a_killed_process_of_a_px4_vehicle_ends_on_the_ground(name: str):
    kill = KILLS[name]
    outcome = fly("px4", kill, 1.0)
    assert outcome.ok(kill, "px4"), outcome
