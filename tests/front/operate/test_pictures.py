"""The parts of the page that need no browser: map, cards, log, goals, gate."""

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("nicegui")

from robomarl.core.config import UsageError
from robomarl.front.operate.cards import card_html
from robomarl.front.operate.gate import COOKIE, Gate, is_local
from robomarl.front.operate.log_table import log_html
from robomarl.front.operate.map_picture import MapMarks, frame_of, ground_svg, moving_svg, robot_at
from robomarl.front.operate.operators import Operators
from robomarl.front.operate.order_panel import checks_html
from robomarl.front.operate.server import ServerOptions, token_for
from robomarl.front.operate.visit import beyond
from robomarl.front.operate.words import MARKS
from robomarl.lab.scene.scene import Primitive, RobotShape, Scene, SceneMoment
from robomarl.ros.desk.event_log import EventLog, FieldEvent
from robomarl.ros.desk.member import TeamMember
from robomarl.ros.preflight.seen import CheckRow
from robomarl.ros.robot.health import ERROR, OK

SHAPE = RobotShape((Primitive("sphere", (0.1, 0, 0)),), (0.2, 0.2, 0.4))
SCENE = Scene(
    names=("left", "<right>"), colours=((255, 0, 0), (0, 0, 255)), looks=(SHAPE, SHAPE), low_m=(-2, -1, 0),
    high_m=(2, 1, 2), period_s=0.1, solids=(Primitive("box", (0.5, 0.5, 1.0), (1.0, 0.0, 0.5)),),
)  # fmt: skip
MOMENT = SceneMoment(0.0, np.array([[-1.0, 0.5, 1.0], [1.5, -0.5, 0.0]]), np.tile([1.0, 0, 0, 0], (2, 1)))


def test_a_point_of_the_map_is_the_place_that_is_drawn_there():
    frame = frame_of(SCENE)
    x, y = frame.at(np.array([0.7, -0.4]))
    assert frame.place_m(x, y) == pytest.approx((0.7, -0.4))
    assert robot_at(frame, MOMENT, *frame.at(np.array([-1.02, 0.52]))) == 0
    assert robot_at(frame, MOMENT, x, y) is None


def test_map_draws_what_was_received_and_escapes_names():
    frame = frame_of(SCENE)
    drawn = moving_svg(SCENE, frame, MOMENT, MapMarks(levels=(OK, ERROR)))
    assert "left" in drawn and "✖ &lt;right&gt;" in drawn and "<right>" not in drawn
    assert "left" not in moving_svg(SCENE, frame, MOMENT, MapMarks(levels=(None, OK)))
    assert ground_svg(SCENE, frame).count("<rect") == 3


def test_goals_outside_the_arena_name_axis_and_limits():
    assert beyond(SCENE, np.array([0.0, 0.0, 1.0])) == ""
    assert "y = 1.5 m, and it reaches from -1 to 1 m" in beyond(SCENE, np.array([0.0, 1.5, 1.0]))
    assert "three numbers" in beyond(SCENE, np.array([0.0, math.nan, 1.0]))


def test_card_shows_cause_and_figures_and_emphasizes_what_is_wrong():
    shown = card_html(TeamMember("left", "robot", "LAND", ERROR, "lost <right>", 0.2, margin_m=-0.05, battery_v=3.1234))
    assert "✖" in shown and "LAND" in shown and "lost &lt;right&gt;" in shown
    assert '<dd class="strong">-0.05&nbsp;m</dd>' in shown and "3.12&nbsp;V" in shown


def test_log_shows_newest_first_and_only_what_is_serious_if_asked():
    log = EventLog()
    log.add(FieldEvent(1.0, "opened", level=OK))
    log.add(FieldEvent(2.0, "is silent", "left", ERROR))
    shown = log_html(log.rows, serious_only=False)
    assert shown.index("is silent") < shown.index("opened")
    assert "opened" not in log_html(log.rows, serious_only=True)
    assert "Nothing" in log_html([], serious_only=False)


def test_checks_that_failed_come_first():
    rows = (CheckRow("left", "clock", True, "fine"), CheckRow("", "E-stop", False, "is pressed"))
    shown = checks_html(rows)
    assert shown.index("is pressed") < shown.index("fine")


def test_levels_differ_in_symbol_and_word_so_that_colour_is_not_needed():
    assert len({mark.symbol for mark in MARKS.values()}) == len({mark.word for mark in MARKS.values()}) == len(MARKS)


def test_other_addresses_need_a_token_and_a_short_one_is_refused():
    assert token_for(ServerOptions()) == "" and len(token_for(ServerOptions(host="0.0.0.0"))) >= 16
    assert is_local("::1") and not is_local("192.168.0.2") and not is_local("robots.lab")
    with pytest.raises(UsageError, match="at least 8"):
        token_for(ServerOptions(token="short"))


def status_of(gate: Gate, query: str = "", kind: str = "http", **headers: str) -> int:
    """Return the status of the gate's answer to a request; 0 for a web socket that it closes."""
    sent: list[dict] = []

    async def send(message: dict) -> None:
        sent.append(message)

    async def receive() -> dict:
        return {"type": "http.request"}

    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "path": "/", "query_string": query.encode(), "headers": given, "client": ("10.0.0.9", 1)}
    with ThreadPoolExecutor(1) as alone:  # the driver of a browser may have an event loop in this thread
        alone.submit(asyncio.run, gate({**scope, "method": "GET"}, receive, send)).result()  # type: ignore[arg-type]
    return sent[0].get("status", 0)


async def let_in(scope, receive, send) -> None:
    """An application that answers 200."""
    await send({"type": "http.response.start", "status": 200, "headers": []})


def test_gate_of_this_machine_refuses_foreign_names_and_sites():
    gate = Gate(let_in, "", lambda address: None)
    assert status_of(gate, host="127.0.0.1:8090") == status_of(gate, host="[::1]:8090") == 200
    assert status_of(gate, host="evil.example:8090") == 403
    assert status_of(gate, host="localhost:8090", origin="http://evil.example") == 403
    assert status_of(gate, host="localhost:8090", origin="http://localhost:8090") == 200
    assert status_of(gate, kind="websocket", host="localhost:8090", origin="http://evil.example") == 0


def test_gate_with_a_token_lets_in_who_has_it_and_reports_who_guesses():
    refused: list[str] = []
    gate = Gate(let_in, "a long token", refused.append)
    assert status_of(gate, host="robots:1") == 401 and refused == []
    assert status_of(gate, "token=guess", host="robots:1") == 401 and refused == ["10.0.0.9"]
    assert status_of(gate, "token=a%20long%20token", host="robots:1") == 303
    assert status_of(gate, host="robots:1", cookie=f'{COOKIE}="a long token"') == 200
    assert status_of(gate, host="robots:1", cookie=f"{COOKIE}=other") == 401
    assert status_of(gate, kind="websocket", host="robots:1") == 0


def test_operators_see_the_others_that_are_here():
    operators = Operators()
    operators.join("a", "Ann", "10.0.0.1")
    ben = operators.join("b", "", "10.0.0.2")
    assert [other.name for other in operators.others("a")] == [ben.name] == ["operator 1"]
    assert operators.named("a", "") == "Ann (10.0.0.1)" and "10.0.0.3" in operators.named("gone", "10.0.0.3")
    ben.here = False
    assert operators.others("a") == []
