"""A simulated vehicle whose parameters are refused ends with one sentence."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip("rclpy")


@pytest.mark.parametrize(
    ("module", "node", "scenario"),
    [("flying", "px4_peer_node", "swap_4"), ("ssl.node", "ssl_peer_node", "soccer_2v2")],
)
def test_a_team_of_another_size_than_the_scenario_is_one_sentence(module: str, node: str, scenario: str):
    words = [sys.executable, "-m", f"robomarl_peers.{module}", node, "--ros-args", "-p", f"scenario:={scenario}"]
    found = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert found.returncode != 0
    assert f"{scenario}: is for 4 robots, the team has 1." in found.stderr + found.stdout
    assert "Traceback" not in found.stderr + found.stdout
