"""The page of `robomarl view` in a real browser: buttons, goals by keyboard and by dragging, two tabs, a phone."""

import time

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # a page that software draws needs a quiet machine
WAIT_MS = 60_000


def opened(chromium, address: str, width: int = 1280, height: int = 720):
    """Return a tab with the page, once it has its panel and its picture."""
    tab = chromium.new_page(viewport={"width": width, "height": height})
    tab.goto(address)
    drawn = "() => [...document.querySelectorAll('canvas')].some(canvas => canvas.width > 100)"
    tab.wait_for_function(drawn, timeout=WAIT_MS)
    tab.get_by_text("under test").first.wait_for(timeout=WAIT_MS)
    return tab


def until(holds, seconds: float = 60.0) -> bool:
    """Wait until a function returns True. Returns False if it does not in time."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        if holds():
            return True
        time.sleep(0.05)
    return False


def test_pause_stops_time_and_play_lets_it_go_on(chromium, swap_page):
    tab = opened(chromium, swap_page.address)
    tab.get_by_role("button", name="Pause").click()
    assert until(lambda: not swap_page.page.timeline.playing)
    before = swap_page.page.timeline.moment.time_s
    time.sleep(0.5)
    assert swap_page.page.timeline.moment.time_s == before
    tab.get_by_role("button", name="Play").click()
    assert until(lambda: swap_page.page.timeline.moment.time_s > before)
    tab.close()


def test_a_goal_is_set_from_the_keyboard_and_the_robot_goes_there(chromium, swap_page):
    tab = opened(chromium, swap_page.address)
    place = np.array([0.0, 0.3, 1.3])
    fields = tab.locator("input[type=text]:near(:text('Place [m]'))")
    for index, value in enumerate(place):
        fields.nth(index).fill(f"{value:g}")
        fields.nth(index).press("Tab")
    tab.get_by_role("button", name="Set goal").focus()
    tab.keyboard.press("Enter")
    assert until(lambda: np.allclose(goals_of(swap_page)[0], place, atol=1e-3))
    assert until(lambda: float(np.linalg.norm(swap_page.stage.moment.pos_m[0] - place)) < 0.3)
    tab.close()


def goals_of(served) -> np.ndarray:
    """Return the goals [N, 3] that the simulation has now, shown or not."""
    return np.asarray(served.stage.world.goal_m)[0]


def on_screen(served, place_m: np.ndarray, size: dict[str, int]) -> tuple[float, float]:
    """Return the pixel of a tab that shows a place [3]."""
    (camera,) = (client.camera for client in served.server.get_clients().values())
    ahead = camera.look_at - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, [0, 0, 1.0])
    right /= np.linalg.norm(right)
    offset = place_m - camera.position
    depth = offset @ ahead * np.tan(camera.fov / 2)
    across, up = offset @ right / depth, offset @ np.cross(right, ahead) / depth
    return size["width"] / 2 + across * size["height"] / 2, size["height"] / 2 * (1 - up)


def test_a_goal_is_dragged(chromium, swap_page):
    swap_page.page.timeline.playing = False
    tab = opened(chromium, swap_page.address)
    assert until(lambda: len(swap_page.server.get_clients()) == 1)
    time.sleep(5.0)  # software rendering draws few pictures a second
    goal, robot = goals_of(swap_page)[0], 0
    for reach_m in (0.06, 0.09, 0.12, 0.15, 0.18, 0.21):  # the arrow along x is somewhere on this line
        tab.mouse.move(*on_screen(swap_page, goal + (reach_m, 0, 0), tab.viewport_size))
        time.sleep(0.3)
        tab.mouse.down()
        tab.mouse.move(*on_screen(swap_page, goal + (reach_m + 0.3, 0, 0), tab.viewport_size), steps=8)
        time.sleep(0.5)
        tab.mouse.up()
        if until(lambda: abs(goals_of(swap_page)[robot][0] - goal[0]) > 0.02, 1.0):
            break
    moved = goals_of(swap_page)[robot] - goal
    assert moved[0] > 0.02 and abs(moved[2]) < 0.2, moved
    tab.close()


def test_two_tabs_show_one_flight_and_a_reload_changes_nothing(chromium, swap_page):
    first, second = opened(chromium, swap_page.address), opened(chromium, swap_page.address)
    first.get_by_role("button", name="Pause").click()
    second.get_by_role("button", name="Play").wait_for(timeout=WAIT_MS)
    first.reload()
    first.get_by_role("button", name="Play").wait_for(timeout=WAIT_MS)
    first.close()
    second.close()


def test_a_phone_has_the_panel(chromium, swap_page):
    tab = opened(chromium, swap_page.address, 390, 780)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.close()
