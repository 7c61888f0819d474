"""The page of a field test as a person uses it: goals, dialogs, two operators, phone, keyboard, a killed server."""

import time
import urllib.error
import urllib.request

import numpy as np
import pytest

from robomarl.ros import convert, topics
from robomarl.ros.io.node_base import Mailbox
from robomarl.ros.robot.state_machine import State
from tests.front.operate.conftest import opened, served
from tests.ros.faultrig import ROBOTS

pytestmark = [pytest.mark.ros, pytest.mark.slow]

CONTRAST = """() => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => rgb.slice(0, 3).map((c) => c / 255)
    .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = (element) => {
    for (; element; element = element.parentElement) {
      const colour = numbers(getComputedStyle(element).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest("svg, script, style")) continue;
    const pair = [light(numbers(getComputedStyle(element).color)), light(ground(element))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) found.push(`${element.textContent.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return found;
}"""
"""Visible texts with a contrast below 4.5 (WCAG AA)."""


def card(tab, robot: str):
    """The card of a robot."""
    return tab.locator("article").filter(has=tab.get_by_role("button", name=robot, exact=True))


def box_of(tab, selector: str) -> dict[str, float]:
    """Place and size of an element on the page."""
    box = tab.locator(selector).bounding_box()
    assert box is not None
    return box


def order(tab, label: str, whom: str = "the whole team") -> None:
    """Give an order, and confirm it."""
    tab.get_by_role("button", name=label, exact=True).click()
    tab.get_by_role("alertdialog").get_by_role("button", name=f"{label} {whom}").click()


def test_a_goal_by_click_is_sent_after_it_is_confirmed_and_flown_to(chromium, page, flying):
    goals = Mailbox(flying.node, topics.GOAL, topics.GOAL.of("left"), convert.goal_to)
    places = Mailbox(flying.node, topics.ODOMETRY, topics.ODOMETRY.of("left"), convert.odometry_to)
    tab = opened(chromium, page.address)
    tab.get_by_role("button", name="left", exact=True).click()
    box = box_of(tab, ".map")
    tab.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.25 * box["height"])
    tab.get_by_text("it is not sent yet").wait_for()
    assert goals.latest() is None
    tab.get_by_role("button", name="Send goal").click()
    sent: list[np.ndarray] = []

    def arrived() -> bool:
        sent.extend(goal.pos_m for goal, _ in goals.take())
        newest = places.latest()
        return bool(sent) and newest is not None and float(np.linalg.norm(newest[0].pos_m - sent[0])) < 0.2

    flying.wait(arrived, "left at the goal that was clicked")
    chosen = [float(tab.locator(".goal input").nth(k).input_value() or "nan") for k in range(3)]
    assert np.isnan(chosen).all(), "the sent goal is still offered"
    goals.destroy()
    places.destroy()


def test_hold_acts_at_once_and_land_after_its_dialog_for_one_robot(chromium, page, flying):
    tab = opened(chromium, page.address)
    tab.get_by_role("button", name="left", exact=True).click()
    tab.get_by_role("button", name="Hold", exact=True).click()
    flying.wait_for_state(State.HOLD, "left")
    tab.get_by_role("button", name="Land", exact=True).click()
    tab.get_by_role("button", name="Cancel").click()
    tab.get_by_role("alertdialog").wait_for(state="hidden")
    assert flying.rows["left"][-1]["state"] == State.HOLD
    order(tab, "Land", "left")
    flying.wait_for_state(State.LAND, "left")
    tab.get_by_text("Land: carried out by left.").wait_for()


def test_preflight_arm_and_activate_bring_a_team_into_the_air(chromium, page, flying):
    tab = opened(chromium, page.address)
    tab.locator("#estop").click()
    flying.wait_for_state(State.ESTOP, *ROBOTS)
    flying.console.reset()
    order(tab, "Reset")
    card(tab, "left").get_by_text("READY").wait_for()
    card(tab, "right").get_by_text("READY").wait_for()
    tab.get_by_role("button", name="Preflight").click()
    tab.locator(".checks tr").first.wait_for()
    assert tab.locator(".checks tr").count() > 20
    tab.get_by_role("button", name="Close").click()
    order(tab, "Arm")
    tab.get_by_text("Arm: carried out by the whole team.").wait_for()
    order(tab, "Activate")
    flying.wait_for_state(State.ACTIVE, *ROBOTS)


def test_two_operators_see_each_other_and_a_reload_changes_nothing_in_flight(chromium, page, flying):
    ann, ben = (opened(chromium, f"{page.address}?name={name}") for name in ("Ann", "Ben"))
    ann.locator(".people").get_by_text("Ben").wait_for()
    ben.get_by_role("button", name="Land", exact=True).click()
    ann.locator(".people").get_by_text("asks: Land the whole team?").wait_for()
    ben.get_by_role("button", name="Cancel").click()
    flying.forget()
    ann.reload()
    card(ann, "left").get_by_text("ACTIVE").wait_for()
    flying.wait_for_rows("left", lambda row: row["state"] == State.ACTIVE, 50)
    assert all(row["state"] == State.ACTIVE for name in ROBOTS for row in flying.rows[name])
    ben.close()
    ann.get_by_text("Also here: nobody").wait_for()


def test_a_phone_has_everything_within_its_width_and_the_e_stop_first(chromium, page, flying):
    tab = opened(chromium, page.address, 390, 780)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.mouse.wheel(0, 3000)
    box = box_of(tab, "#estop")
    assert 0 <= box["y"] < 100 and box["height"] >= 64 and box["width"] > 300
    shown = "[...document.querySelectorAll('button')].filter((button) => button.checkVisibility())"
    assert min(tab.evaluate(f"{shown}.map((button) => button.getBoundingClientRect().height)")) >= 36


def test_keyboard_alone_holds_and_stops_even_with_a_dialog_open(chromium, page, flying):
    tab = opened(chromium, page.address)
    labels = []
    for _ in range(30):
        tab.keyboard.press("Tab")
        labels.append(tab.evaluate("document.activeElement.innerText"))
        if labels[-1] == "Hold":
            break
    assert labels[0].startswith("E-STOP"), "the E-stop is first"
    assert labels[-1] == "Hold"
    tab.keyboard.press("Enter")
    flying.wait_for_state(State.HOLD, *ROBOTS)
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.get_by_role("alertdialog").wait_for()
    assert tab.evaluate("document.activeElement.innerText") == "Cancel"
    tab.keyboard.press("Shift+Space")
    flying.wait_for_state(State.ESTOP, *ROBOTS)


def test_the_e_stop_is_above_dialogs(chromium, page, flying):
    tab = opened(chromium, page.address)
    tab.get_by_role("button", name="Land", exact=True).click()
    tab.get_by_role("alertdialog").wait_for()
    tab.locator("#estop").click()
    flying.wait_for_state(State.ESTOP, *ROBOTS)


def test_a_slow_link_shows_the_team_and_stops_it(chromium, page, flying):
    tab = opened(chromium, page.address)
    slow = {"offline": False, "latency": 400, "downloadThroughput": 30_000, "uploadThroughput": 30_000}
    tab.context.new_cdp_session(tab).send("Network.emulateNetworkConditions", slow)
    tab.reload()
    card(tab, "left").get_by_text("ACTIVE").wait_for()
    tab.locator("#estop").click()
    flying.wait_for_state(State.ESTOP, *ROBOTS)


def test_contrast_of_every_text_is_aa(chromium, page, flying):
    tab = opened(chromium, page.address)
    assert tab.evaluate(CONTRAST) == []
    tab.locator("#estop").click()
    tab.locator("#estop[aria-pressed=true]").wait_for()
    assert tab.evaluate(CONTRAST) == []


def test_a_killed_server_changes_nothing_in_flight_and_the_page_says_that_it_is_alone(chromium, flying):
    with served(flying) as doomed:
        tab = opened(chromium, doomed.address)
        flying.forget()
        doomed.process.kill()
        tab.get_by_text("No connection").wait_for()
        flying.wait_for_rows("left", lambda row: row["state"] == State.ACTIVE, 100)
        assert all(row["state"] == State.ACTIVE for name in ROBOTS for row in flying.rows[name])


def test_a_server_with_a_token_refuses_pages_orders_and_sockets_without_it(chromium, flying):
    with served(flying, "--host", "0.0.0.0", "--token", "let me in please") as guarded:
        port = guarded.address.split(":")[2].split("/")[0]
        address = f"http://127.0.0.1:{port}"
        for path, data in (("/", None), ("/estop", b""), ("/?token=wrong", None), ("/_nicegui_ws/socket.io/", None)):
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(address + path, data)
        flying.wait_for_rows("left", lambda row: row["state"] == State.ACTIVE, 20)
        tab = opened(chromium, f"{address}/?token=let%20me%20in%20please&name=Ann")
        assert "token" not in tab.url and "name=Ann" in tab.url
        tab.get_by_text("wrong token from 127.0.0.1").wait_for()


def test_ctrl_c_ends_the_server_while_a_page_is_open(chromium, flying):
    with served(flying) as ending:
        opened(chromium, ending.address)
        begun_s = time.monotonic()
        assert ending.stop() == 0
        assert time.monotonic() - begun_s < 20
