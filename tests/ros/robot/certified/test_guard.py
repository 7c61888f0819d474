"""The certificate on robots that exchange messages as bytes: loss, old messages, processes that die and start again."""

import numpy as np
import pytest

from robomarl.core.certificate.reach import RadioReach
from robomarl.core.config import UserError
from robomarl.core.filter.memory import Reason
from robomarl.core.filter.params import Arena, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.view import blank_view
from robomarl.ros.robot.certified.carry import Doubts, TeamSeat
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.certified.words import AddressedWord, TeamWords, told_to
from tests.ros.robot.certified.paper_team import PARAMS, PaperTeam

D_M = 0.4996
"""Distance that references of two Crazyflies keep."""


@pytest.mark.parametrize(("count", "loss"), [(3, 0.0), (4, 0.4)])
def test_a_team_swaps_places(count: int, loss: float):
    team = PaperTeam(count, loss, seed=count)
    team.fly()
    assert team.arrived() and all(robot.agreed for robot in team.robots)
    assert team.references_m >= D_M
    assert team.bodies_m > 0.3


def test_nobody_moves_before_all_have_spoken():
    team = PaperTeam(3, seed=1)
    team.robots[2].alive = False
    start = [robot.pos.copy() for robot in team.robots]
    for _ in range(100):
        team.tick()
    assert all(np.linalg.norm(robot.pos - at) < 0.01 for robot, at in zip(team.robots, start, strict=True))
    team.robots[2].restart()
    for _ in range(100):
        team.tick()
    assert all(np.linalg.norm(robot.pos - at) > 0.3 for robot, at in zip(team.robots, start, strict=True))


@pytest.mark.parametrize("dead", [0, 3], ids=["leads all", "follows all"])
def test_a_process_dies_and_starts_again_in_flight(dead: int):
    team = PaperTeam(4, loss=0.3, seed=5)
    for _ in range(80):
        team.tick()
    assert not team.arrived() and np.linalg.norm(team.robots[dead].vel) > 0.2
    team.robots[dead].alive = False
    for _ in range(60):
        team.tick()
    team.robots[dead].restart()
    team.fly()
    assert team.arrived() and all(robot.agreed for robot in team.robots)
    assert team.references_m >= D_M
    assert team.bodies_m > 0.3


def test_a_team_mate_of_a_new_session_is_agreed_with_anew():
    team = PaperTeam(2, seed=2)
    for _ in range(60):
        team.tick()
    first, second = team.robots
    assert first.agreed and second.agreed
    moving = np.linalg.norm(first.carry.robot.course.vel_m_s)
    assert moving > 0.2
    second.restart()
    data = second.decide(team.now_s + 0.02)
    assert data is not None
    first.hear("r1", data)
    first.decide(team.now_s + 0.02)
    assert not first.agreed, "the other one remembers no pact"
    course = first.carry.robot.course
    for _ in range(3):  # nothing arrives: it brakes along its course
        team.now_s += 0.02
        first.decide(team.now_s + 0.02)
    assert all(np.array_equal(a, b) for a, b in zip(course, first.carry.robot.course, strict=True))


def test_words_of_a_session_that_ended_are_none():
    team = PaperTeam(2, seed=2)
    for _ in range(60):
        team.tick()
    first, second = team.robots
    old = team.said["r1"][-1]
    second.restart()
    for _ in range(60):
        team.tick()
    assert first.agreed
    before = first.carry
    words = first.readers["r1"](old)[0].words
    after = first.guard.hear(before, [told_to(words, "r0")], team.now_s)
    assert after.sessions_s == before.sessions_s and after.heard.number == before.heard.number
    # Nor are those that were meant for the receiver's own session of before: their sender still goes by that pact.
    first.restart()
    young = first.guard.hear(first.carry, [told_to(words, "r0")], team.now_s + 1.0)
    assert young.heard.number[0] == -1 and young.sessions_s[0] == words_session(words)


def words_session(words) -> float:
    told = told_to(words, "r0")
    assert told is not None
    return told.session_s


def test_an_estimate_that_can_not_be_is_a_misfit():
    """Where a robot was flown and commanded leaves 4 cm for its estimate, and it is 10 cm off."""
    team = PaperTeam(2, seed=2)
    for _ in range(60):
        team.tick()
    robot = team.robots[0]
    assert robot.carry.bias.misfits == 0
    robot.pos = robot.pos + np.array([0.1, 0, 0])
    team.tick()
    assert robot.carry.bias.misfits == 1
    team.tick()
    assert robot.carry.bias.misfits == 1, "from then on it is where the estimate says"
    view = blank_view(1)
    away = view._replace(own=view.own._replace(pos_m=robot.pos + 1.0, vel_m_s=np.zeros(3)))
    assert robot.guard.rest(robot.carry, away).bias.misfits == 1, "and a session that begins elsewhere goes on to count"


def test_what_was_sent_at_unknown_times_or_by_another_clock_is_known_as_such():
    """After a gap the robot may be anywhere that its estimate says; a clock that was set takes all times along."""
    team = PaperTeam(2, seed=2)
    for _ in range(60):
        team.tick()
    robot = team.robots[0]
    before, hour = robot.carry.robot.box, 3600.0
    later = robot.guard.clock_jumped(robot.carry, hour).robot.box
    assert np.allclose(later.may_s - before.may_s, hour) and np.isclose(later.at_s - before.at_s, hour)
    resumed = robot.guard.resumed(robot.carry, robot.carry.commands).robot.box
    assert np.isinf(resumed.may_s).all() and (resumed.high_m - resumed.low_m > 1e6).all()


def test_without_an_estimate_the_reference_brakes_and_says_so():
    team = PaperTeam(2, seed=2)
    for _ in range(60):
        team.tick()
    robot = team.robots[0]
    view = blank_view(1)
    lost = view._replace(own=view.own._replace(pos_m=np.full(3, np.nan)))
    course = robot.carry.robot.course
    carry = robot.guard.hear(robot.carry, [None], team.now_s + 0.02)
    after, result = robot.guard(carry, lost, np.array([3.0, 0, 0, 0]))
    assert result.reason is Reason.NON_FINITE and np.isfinite(result.command).all()
    blind, command = robot.guard.blind(carry, view, np.array(1.0))
    assert np.array_equal(command, result.command)
    for found in (after, blind):
        assert all(np.array_equal(a, b) for a, b in zip(course, found.robot.course, strict=True))
    assert np.abs(command[:3]).max() <= max(PARAMS.limits.accel_max_m_s2)


@pytest.mark.parametrize("by_s", [0.5, -0.5, 0.01])
def test_a_clock_that_is_set_makes_the_robot_rest_first(by_s: float):
    team = PaperTeam(2, seed=2)
    for _ in range(60):
        team.tick()
    robot, other = team.robots
    stop = robot.carry.plan.stop_m
    assert np.linalg.norm(robot.vel) > 0.2 and robot.guard.doubts(robot.carry) == Doubts((), False, False)
    robot.carry = robot.guard.clock_jumped(robot.carry, by_s)
    now_s, speeds = team.now_s + by_s, []
    for _ in range(60):
        now_s += 0.02
        robot.decide(now_s)
        other.decide(team.now_s)
        if not robot.guard.doubts(robot.carry).waits:
            break
        speeds.append(np.linalg.norm(robot.vel))
    assert len(speeds) > 5 and speeds[-1] < 0.3 * speeds[0]
    assert np.linalg.norm(robot.pos - stop) < 0.15, "it came to rest where it had told"


def test_it_says_whom_it_waits_for():
    team = PaperTeam(3, seed=1)
    team.robots[2].alive = False
    for _ in range(20):
        team.tick()
    assert team.robots[0].guard.doubts(team.robots[0].carry).unagreed == (1,)
    assert team.robots[1].guard.doubts(team.robots[1].carry).unagreed == (0,)


def test_the_mark_tells_figures_apart():
    one, other = (PaperTeam(2).robots[i].guard.mark for i in range(2))
    assert one == other and len(one) == 8


def test_two_that_start_nearer_than_pacts_allow_part_and_agree():
    """The one that leads the pair moves away from the other one, which rests until they have agreed."""
    team = PaperTeam(2, loss=0.2, seed=4, radius_m=0.21)
    lead, follow = team.robots
    start, nearest = follow.pos.copy(), 9.0
    for _ in range(200):
        if not follow.agreed:
            assert np.linalg.norm(follow.pos - start) < 0.02
        team.tick()
        nearest = min(nearest, team.bodies_m)
    assert lead.agreed and follow.agreed
    assert team.references_m >= D_M
    assert nearest > 0.38 and team.bodies_m > 0.38


@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_robots_of_unlike_vehicles_swap_places(loss: float):
    team = PaperTeam(4, loss, seed=6, radius_m=2.0, other="carrier_600")
    assert len({robot.guard.mark for robot in team.robots}) == 1
    assert team.robots[0].guard.mark != PaperTeam(2).robots[0].guard.mark
    team.fly(1200)
    assert team.arrived() and all(robot.agreed for robot in team.robots)
    assert team.bodies_m > 0.06 + 0.17
    assert team.references_m >= 2 * team.robots[0].guard.figures.learned.room_m


def test_a_robot_with_a_longer_lead_speaks_later():
    """Its words of a decision are said when anchors change for its teammate's reference, too."""
    slow, fast = (load_any_vehicle(name) for name in ("turtlebot3_burger", "ssl_omni"))
    kinds = [(from_vehicle(v, 0.02, Arena((-3, -3, -1), (3, 3, 1))), v.body.radius_m) for v in (slow, fast)]
    robots = [CertifiedRobot(*kinds[i], TeamSeat(i, [1 - i], [kinds[1 - i]])) for i in (0, 1)]
    assert [robot.figures.held_back for robot in robots] == [2, 0] and robots[0].mark == robots[1].mark
    view, carry, courses, said = blank_view(1), robots[0].init(), [], []
    view = view._replace(own=view.own._replace(pos_m=np.zeros(3), vel_m_s=np.zeros(3)))
    for tick in range(6):
        carry = robots[0].hear(robots[0].clock_jumped(carry, 0.001), [None], 100 + 0.021 * tick)
        carry, _ = robots[0](carry, view, np.zeros(4))
        courses.append(carry.robot.course.at_s)
        said.append(robots[0].said(carry))
    assert said[:2] == [None, None]
    told = [told_to(TeamWords(("ssl",), rows), "ssl") for rows in said[2:]]
    assert [one.word.course.at_s for one in told if one] == courses[:4] and len(set(map(float, courses))) == 6


@pytest.mark.parametrize("late_s", [0.0, 0.019])
def test_words_wait_for_as_long_where_decisions_come_late(late_s: float):
    """Every second decision is late, so the next one follows it soon; the lead is 0.03 s longer than the teammate's."""
    slow, fast = (load_any_vehicle(name) for name in ("iris_racket", "crazyflie_21"))
    kinds = [(from_vehicle(v, 0.02, Arena((-6, -6, 0), (6, 6, 4))), v.body.radius_m) for v in (slow, fast)]
    guard = CertifiedRobot(*kinds[0], TeamSeat(0, [1], [kinds[1]]))
    view, carry, decided, waits = blank_view(1), guard.init(), [], []
    view = view._replace(own=view.own._replace(pos_m=np.array([0.0, 0.0, 2.0]), vel_m_s=np.zeros(3)))
    for tick in range(40):
        now_s = 0.02 * tick + 1000 + late_s * (tick % 2)
        carry, _ = guard(guard.hear(carry, [None], now_s), view, np.array([0.3, 0, 0, 0]))
        decided.append((now_s, carry.rows[-1][1]))
        rows = guard.said(carry)
        waits += [now_s - at_s for at_s, one in decided if one is rows]
    assert len(waits) > 35 and min(waits) > 0.03 - 1e-7 and max(waits) < 0.03 + 0.0391


REACH = RadioReach(8.0, 0.4)


def pair(reach: RadioReach | None = REACH) -> list[CertifiedRobot]:
    return [CertifiedRobot(PARAMS, 0.07, TeamSeat(i, [1 - i], (), reach)) for i in (0, 1)]


class Distant:
    """Two robots whose radio is switched on and off; each wants to go along x."""

    def __init__(self, reach: RadioReach | None = REACH) -> None:
        self.guards, self.hears, self.ticks = pair(reach), True, 0
        self.carry = [guard.init() for guard in self.guards]
        self.told: list[AddressedWord | None] = [None, None]

    def fly(self, ticks: int) -> None:
        for _ in range(ticks):
            self.ticks += 1
            said = []
            for i, guard in enumerate(self.guards):
                carry = guard.hear(self.carry[i], [self.told[i]], 100 + 0.02 * self.ticks)
                own = carry.robot.course.pos_m if carry.robot.placed else np.array([3.0 * (2 * i - 1), 0.0, 2.0])
                view = blank_view(1)
                view = view._replace(own=view.own._replace(pos_m=own, vel_m_s=carry.robot.course.vel_m_s))
                self.carry[i], _ = guard(carry, view, np.array([0.0, 1.0, 0.0, 0.0]))
                said.append(guard.said(self.carry[i]))
            for i in (0, 1):
                if self.hears and said[1 - i] is not None:
                    self.told[i] = told_to(TeamWords((f"r{i}",), said[1 - i]), f"r{i}")

    @property
    def numbers(self) -> list[int]:
        return [int(carry.robot.pact.number[0]) for carry in self.carry]

    @property
    def moves(self) -> list[bool]:
        return [bool(np.linalg.norm(carry.robot.course.vel_m_s) > 0.05) for carry in self.carry]


def test_a_robot_that_is_out_of_reach_is_forgotten_and_met_with_a_new_pact():
    team = Distant()
    team.fly(25)
    assert min(team.numbers) > 0 and all(team.moves)
    sessions = [float(carry.pairs_s[0]) for carry in team.carry]
    team.hears = False
    team.fly(19)
    assert min(team.numbers) > 0, "silence is shorter than what is stated"
    team.fly(10)
    assert team.numbers == [0, 0] and all(team.moves), "far robots need no pact"
    assert all(carry.pairs_s[0] > before for carry, before in zip(team.carry, sessions, strict=True))
    assert [carry.session_s for carry in team.carry] == sessions, "other teammates keep their pacts"
    team.hears = True
    team.fly(1)
    began = [float(carry.robot.course.at_s) for carry in team.carry]
    team.fly(2)
    assert [float(carry.robot.course.at_s) for carry in team.carry] == began, "they brake until both have agreed"
    team.fly(20)
    assert min(team.numbers) > 0 and all(team.moves)
    assert not any(carry.too_near.any() for carry in team.carry), "nobody was nearer than the radio's range allows"


def test_where_no_range_is_stated_nobody_is_forgotten():
    team = Distant(None)
    team.fly(25)
    numbers = team.numbers
    team.hears = False
    team.fly(60)
    assert min(numbers) > 0 and min(team.numbers) > 0


def test_a_radio_that_reaches_less_far_is_named():
    """They are 6 m apart, and were not heard for longer than robots within 20 m are."""
    team = Distant(RadioReach(20.0, 0.4))
    team.fly(25)
    team.hears = False
    team.fly(40)
    team.hears = True
    team.fly(2)
    assert [guard.doubts(carry).too_near for guard, carry in zip(team.guards, team.carry, strict=True)] == [(0,), (0,)]
    team.fly(20)
    assert min(team.numbers) > 0 and all(team.moves)
    assert not any(guard.doubts(carry).too_near for guard, carry in zip(team.guards, team.carry, strict=True))


@pytest.mark.parametrize("jump_s", [0.0, 1.0, -1.0])
def test_a_session_listens_for_as_long_where_its_clock_is_set(jump_s: float):
    guard, view = pair()[0], blank_view(1)
    view = view._replace(own=view.own._replace(pos_m=np.array([0.0, 0.0, 2.0]), vel_m_s=np.zeros(3)))
    carry, present = guard.init(), []
    for tick in range(40):
        if tick == 3:
            carry = guard.clock_jumped(carry, jump_s)
        now_s = 1000 + 0.02 * tick + (jump_s if tick >= 3 else 0.0)
        carry, _ = guard(guard.hear(carry, [None], now_s), view, np.zeros(4))
        present.append(bool(carry.present[0]))
    assert 19 <= present.index(False) <= 22 and not any(present[22:]), "0.4 s are 20 decisions"


def test_a_range_that_is_too_short_is_refused_with_the_one_that_would_do():
    with pytest.raises(UserError, match=r"range_m = 4 is too short .* within 0.4 s need \d\.\d\d m"):
        pair(RadioReach(4.0, 0.4))
