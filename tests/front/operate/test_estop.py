"""The E-stop of the page: a click in a real browser stops all robots, which real nodes fly."""

import pytest

from robomarl.ros.robot.state_machine import State
from tests.front.operate.conftest import opened
from tests.ros.faultrig import ROBOTS

pytestmark = pytest.mark.ros


def test_a_click_on_the_e_stop_stops_all_robots_and_the_page_shows_who_pressed(chromium, page, flying):
    tab = opened(chromium, f"{page.address}?name=Ann")
    tab.locator("article").filter(has_text="left").get_by_text("ACTIVE").wait_for()
    tab.locator("#estop").click()
    flying.wait_for_state(State.ESTOP, *ROBOTS)
    tab.locator("#estop[aria-pressed=true]").wait_for()
    row = tab.locator(".log > li").filter(has_text="E-STOP pressed by Ann")
    for robot in ROBOTS:  # each robot says by itself that it has stopped
        row.filter(has_text=robot).wait_for()
    assert row.count() == 1 and "ACTIVE → ESTOP" in row.inner_text()
    assert page.stop() == 0
