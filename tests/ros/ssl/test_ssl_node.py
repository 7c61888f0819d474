"""`ssl_node` drives robots of a simulated league over its packets, and stops them whichever way driving ends."""

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")
pytest.importorskip("google.protobuf")

from robomarl.ros import topics
from tests.ros.ssl.driver import Driver, driving

pytestmark = [pytest.mark.ros, pytest.mark.slow]
BRAKES_S = 0.6
"""From 1 m/s."""


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    with driving() as found:
        yield found


@pytest.fixture(autouse=True)
def moving(driver: Driver) -> None:
    """Every test begins with a robot that moves."""
    driver.drives, driver.pressed = True, False
    driver.fault()
    driver.order("reset")
    assert driver.peer.wait(driver.moves), (driver.says(), driver.peer.lines)


def test_estimates_and_sightings_are_where_things_are(driver: Driver):
    driver.drives = False
    assert driver.stops_within(0.1 + BRAKES_S)
    driver.peer.run(0.5)
    own, true = driver.own, driver.true
    assert own is not None and true is not None
    assert own.pos_m == pytest.approx(true.pos_m[0], abs=0.01)
    assert {"ball", "opponent_0", "opponent_1"} == set(driver.seen)
    assert np.linalg.norm(driver.seen["opponent_1"]) == pytest.approx(
        float(np.linalg.norm(true.pos_m[3] - true.pos_m[0])), abs=0.02
    )


def test_it_stops_when_commands_do_and_goes_on_with_them(driver: Driver):
    driver.drives = False
    assert driver.stops_within(0.1 + BRAKES_S)
    assert driver.peer.wait(lambda: "READY: no command" in driver.says())


def test_the_estop_stops_it_for_as_long_as_it_is_pressed(driver: Driver):
    driver.pressed = True
    assert driver.stops_within(BRAKES_S)
    assert driver.peer.wait(lambda: "STOPPED: the E-stop is pressed" in driver.says())
    driver.peer.run(1.0)
    assert driver.rests() and driver.drives, "commands go on"
    driver.pressed = False
    assert driver.peer.wait(driver.moves)


def test_an_operator_stops_one_robot(driver: Driver):
    driver.order("stop")
    assert driver.stops_within(BRAKES_S)
    assert driver.peer.wait(lambda: "an operator stopped it" in driver.says()) and driver.rests()


def test_a_robot_that_vision_loses_is_stopped_and_named(driver: Driver):
    driver.fault("blue_0=unseen")
    assert driver.stops_within(0.2 + BRAKES_S)
    assert driver.peer.wait(lambda: "blue 0: no pose for" in driver.says())


def test_a_robot_that_the_radio_loses_stops_by_itself(driver: Driver):
    driver.fault("blue_0=deaf")
    assert driver.stops_within(0.5 + BRAKES_S)


def test_a_pattern_that_is_seen_in_a_mirror_is_named(driver: Driver):
    driver.turn_rad_s = 4.0
    driver.fault("blue_0=mirrored")
    assert driver.peer.wait(lambda: "blue 0: turned by" in driver.says()), "at once it is a flip"
    driver.order("reset")
    assert driver.peer.wait(lambda: "it does not turn as it is told" in driver.says()), driver.says()
    assert driver.stops_within(BRAKES_S)
    driver.turn_rad_s = 2.0


def test_a_second_adapter_of_the_robot_is_named(driver: Driver):
    other = driver.peer.sender(topics.ODOMETRY, "/blue_0/odometry")
    assert driver.peer.wait(lambda: "1 others publish /blue_0/odometry" in driver.says())
    assert driver.stops_within(BRAKES_S)
    driver.peer.node.destroy_publisher(other)
