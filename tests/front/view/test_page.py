"""The page of `robomarl view` in a real browser: buttons, two tabs, a reload, a phone."""

import time

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
