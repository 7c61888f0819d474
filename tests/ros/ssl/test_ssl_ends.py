"""How `ssl_node` begins and ends: refused parameters, another field, killed, told to end."""

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")
pytest.importorskip("google.protobuf")

from robomarl.ros import topics
from tests.ros.ssl.driver import driving, nodes
from tests.ros.vehicles.noderig import started

pytestmark = [pytest.mark.ros, pytest.mark.slow]
BRAKES_S = 0.6
"""From 1 m/s."""


def test_robots_stop_by_themselves_when_the_adapter_dies():
    with driving() as alone:
        alone.peer.processes.kill("/ssl_node")
        assert alone.stops_within(0.5 + BRAKES_S)


def test_robots_are_stopped_when_the_adapter_is_told_to_end():
    with driving() as alone:
        alone.drives = False
        alone.peer.processes.running["/ssl_node"].popen.terminate()
        assert alone.stops_within(BRAKES_S)


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"sim": False, "uris": ["ssl:blue/0"]}, "1 URIs for 4 robots"),
        ({"sim": False, "uris": ["ssl:blue/0", "ssl:blue/1", "ssl:blue/0", "ssl:blue/2"]}, "are both blue 0"),
        ({"vehicle": "turtlebot3_burger"}, "does not play"),
        ({"stamps": "never"}, "stamps = 'never' must be message or arrival"),
    ],
)
def test_parameters_that_can_not_be_are_named(parameters: dict, why: str):
    with started(*nodes(**parameters)[1:]) as peer:
        assert peer.wait(lambda: any(why in line for line in peer.lines)), peer.lines


def test_another_field_is_named_and_its_robots_are_not_ready():
    with started(*nodes(pitch_m=[9.0, 6.0])) as peer:
        assert peer.wait(
            lambda: "vision's field is 4.5 x 3 m, the fleet's scenario is for 9 x 6" in peer.says("blue_0/ssl")
        )
        heard: list = []
        peer.hear(topics.ODOMETRY, "/blue_0/odometry", heard.append)
        peer.run(1.0)
        assert not heard
