"""The page of `robomarl view` in a real browser: buttons, goals by keyboard and by dragging, two tabs, a phone."""

import time

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # a page that software draws needs a quiet machine
WAIT_MS = 180_000


def opened(chromium, address: str, width: int = 1280, height: int = 720):
    """Return a tab with the page, once it has its panel and its picture."""
    tab = chromium.new_page(viewport={"width": width, "height": height})
    tab.goto(address)
    drawn = "() => [...document.querySelectorAll('canvas')].some(canvas => canvas.width > 100)"
    tab.wait_for_function(drawn, timeout=WAIT_MS)
    tab.get_by_text("under test").first.wait_for(timeout=WAIT_MS)
    return tab


def until(holds, seconds: float = 180.0) -> bool:
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
    place = (0.0, 0.3, 1.3)
    tab.get_by_label("Place [m]").focus()
    for value in place:
        tab.keyboard.press("ControlOrMeta+A")
        tab.keyboard.type(f"{value:g}")
        tab.keyboard.press("Tab")  # to the next number, then to the button
    tab.keyboard.press("Enter")
    assert until(lambda: np.allclose(goals_of(swap_page)[0], place, atol=1e-3)), goals_of(swap_page)
    assert until(lambda: distance_of(swap_page, 0, place) < 0.3), distance_of(swap_page, 0, place)
    tab.close()


def goals_of(served) -> np.ndarray:
    """Return the goals [N, 3] that the simulation has now, shown or not."""
    return np.asarray(served.stage.world.goal_m)[0]


def distance_of(served, robot: int, place_m) -> float:
    """Return how far a robot is from a place [3], in metres."""
    return float(np.linalg.norm(served.stage.moment.pos_m[robot] - place_m))


def on_screen(served, place_m: np.ndarray, size: dict[str, int]) -> tuple[float, float]:
    """Return the pixel of the only tab that shows a place [3]."""
    (camera,) = (client.camera for client in served.server.get_clients().values())
    ahead = camera.look_at - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, [0, 0, 1.0])
    right /= np.linalg.norm(right)
    offset = place_m - camera.position
    depth = offset @ ahead * np.tan(camera.fov / 2)
    across, up = offset @ right / depth, offset @ np.cross(right, ahead) / depth
    return size["width"] / 2 + across * size["height"] / 2, size["height"] / 2 * (1 - up)


def drag(tab, begin: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag the mouse from a pixel to a pixel, as slowly as a page that software draws can follow."""
    tab.mouse.move(*begin)
    tab.wait_for_timeout(500)
    tab.mouse.down()
    for share in np.linspace(0.0, 1.0, 9):
        tab.mouse.move(*(float(a + share * (b - a)) for a, b in zip(begin, end, strict=True)))
        tab.wait_for_timeout(100)
    tab.wait_for_timeout(500)
    tab.mouse.up()


def test_a_goal_is_dragged_and_the_robot_goes_there(chromium, swap_page):
    swap_page.page.timeline.playing = False
    tab = opened(chromium, swap_page.address)
    assert until(lambda: len(swap_page.server.get_clients()) == 1)
    begun = goals_of(swap_page)[0].copy()
    arrow = begun + (0.1, 0.0, 0.0)  # on the handle's arrow along x
    for _ in range(5):  # the arrow is drawn some time after the panel
        begin, end = (on_screen(swap_page, arrow + (by, 0, 0), tab.viewport_size) for by in (0.0, 0.4))
        drag(tab, begin, end)
        if until(lambda: goals_of(swap_page)[0][0] > begun[0] + 0.2, 2.0):
            break
    moved = goals_of(swap_page)[0] - begun
    assert moved[0] > 0.2 and np.allclose(moved[1:], 0, atol=1e-3), moved
    place = goals_of(swap_page)[0].copy()
    shown = tab.get_by_label("Place [m]")
    assert until(lambda: abs(float(shown.input_value()) - place[0]) < 0.01)
    assert np.allclose(swap_page.page.timeline.moment.goal_m[0], place)  # though time stands still
    swap_page.page.timeline.playing = True
    assert until(lambda: distance_of(swap_page, 0, place) < 0.2), distance_of(swap_page, 0, place)
    tab.close()


def test_two_tabs_show_one_flight_and_a_reload_changes_nothing(chromium, swap_page):
    first, second = (opened(chromium, swap_page.address, 640, 400) for _ in range(2))  # two are drawn by software
    first.get_by_role("button", name="Pause").click()
    second.get_by_role("button", name="Play").wait_for(timeout=WAIT_MS)
    first.bring_to_front()  # a browser may not draw a tab that is behind
    first.reload()
    first.get_by_role("button", name="Play").wait_for(timeout=WAIT_MS)
    first.close()
    second.close()


def test_a_phone_has_the_panel(chromium, swap_page):
    tab = opened(chromium, swap_page.address, 390, 780)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.close()
