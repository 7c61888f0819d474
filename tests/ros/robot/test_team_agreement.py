"""Who differs is named, and nobody flies with strangers."""

import math

import pytest

from robomarl.ros.robot.heartbeat import Heartbeat
from robomarl.ros.robot.state_machine import State
from robomarl.ros.robot.team_agreement import Announcement, TeamAgreement

TEAM = ("a", "b", "c")


def said(name: str, **other) -> Announcement:
    seat = (TEAM.index(name), State.READY)
    plain = Announcement(name, "f" * 64, "swap_4, schema 1", "crazyflie_21", *seat, robomarl="0.1.0", handover_m=1.2)
    return plain._replace(**other)


def agreement(*heard: Announcement) -> TeamAgreement:
    made = TeamAgreement(said("a"), TEAM, 3.0)
    for announcement in heard:
        made.hear(announcement, 10.0)
    return made


def texts(made: TeamAgreement, steady_s: float = 11.0) -> list[str]:
    return [str(problem) for problem in made.problems(steady_s)]


def test_a_team_that_agrees_passes():
    assert texts(agreement(said("b"), said("c"))) == []


@pytest.mark.parametrize(
    ("other", "text"),
    [
        ({"bundle_id": "0" * 64}, "c: flies bundle 000000000000, this robot ffffffffffff"),
        ({"contract": "swap_4, schema 2"}, "c: follows contract swap_4, schema 2, this robot swap_4, schema 1"),
        ({"robomarl": "9.9"}, "c: runs robomarl 9.9, this robot 0.1.0"),
        ({"robomarl": ""}, "c: runs robomarl (untold), this robot 0.1.0"),
        ({"handover_m": 1.5}, "c: climbs to 1.5 m before its policy takes over, this robot to 1.2 m"),
        ({"handover_m": math.nan}, "c: climbs to nan m before its policy takes over, this robot to 1.2 m"),
        ({"vehicle": "big"}, "c: is a big, this robot a crazyflie_21"),
        ({"index": 7}, "c: says that its index is 7; in this robot's team it is 2"),
    ],
)
def test_who_differs_is_named(other: dict, text: str):
    assert texts(agreement(said("b"), said("c", **other))) == [text]


def test_two_robots_with_one_index_are_named_both():
    found = texts(agreement(said("b"), said("c", index=1)))
    assert "c: and b both have index 1" in found


def test_a_missing_index_is_named_and_a_robot_that_went_quiet_is_missing():
    assert texts(agreement(said("b"))) == ["c: has not announced itself; nobody has index 2 of the team"]
    assert len(texts(agreement(said("b"), said("c")), 13.5)) == 2


def test_only_who_flew_is_missed():
    made = agreement(said("b", state=State.ACTIVE), said("c"))
    silent = {"b": 0.0, "c": 99.0}
    made.takes_off()
    assert made.lost_mates(silent, 1.0) == []
    assert made.lost_mates({"b": 1.5, "c": 0.0}, 1.0) == ["b"]
    made.hear(said("b", state=State.STANDBY), 12.0)  # its node was killed and started again
    assert made.lost_mates(silent, 1.0) == ["b"]
    made.hear(said("b", state=State.HOLD), 12.5)
    assert made.lost_mates(silent, 1.0) == []


def test_the_heartbeat_is_of_one_monitor():
    heartbeat = Heartbeat(1.0)
    assert "no heartbeat" in str(heartbeat.problems(0.0)[0])
    heartbeat.hear("x", False, 10.0)
    assert heartbeat.alive(11.0) and not heartbeat.alive(11.1)
    assert heartbeat.problems(10.5) == []
    heartbeat.hear("y", False, 10.5)
    assert "2 monitors" in str(heartbeat.problems(10.6)[0])
    heartbeat.hear("y", False, 12.0)  # the first one was replaced
    assert heartbeat.problems(12.0) == []


def test_what_was_pressed_stays_pressed_when_its_monitor_dies():
    heartbeat = Heartbeat(1.0)
    heartbeat.hear("x", True, 10.0)
    heartbeat.hear("y", False, 15.0)
    assert heartbeat.pressed(15.0)
    assert "is pressed" in str(heartbeat.problems(15.0)[0])
    heartbeat.hear("y", True, 16.0)  # the robots told it
    heartbeat.hear("y", False, 17.0)  # an operator released it there
    assert not heartbeat.pressed(17.0)


def test_a_press_by_another_than_a_monitor_counts_and_permits_nothing():
    heartbeat = Heartbeat(1.0)
    heartbeat.hear_press("button", False, 10.0)
    assert not heartbeat.alive(10.0)
    assert "no heartbeat" in str(heartbeat.problems(10.0)[0])
    heartbeat.hear("monitor", False, 10.0)
    heartbeat.hear_press("button", True, 10.0)
    heartbeat.hear("monitor", False, 10.1)
    assert heartbeat.pressed(10.1), "a monitor that knows of no press must not take one back"
    assert [str(problem) for problem in heartbeat.problems(10.1)] == ["monitor: the E-stop is pressed"]
    heartbeat.hear_press("joystick", False, 10.2)
    assert heartbeat.pressed(10.2), "only the publisher that pressed releases"
    heartbeat.hear_press("button", False, 10.3)
    assert not heartbeat.pressed(10.3)


def test_a_press_that_is_not_repeated_ends_so_that_robots_can_be_reset():
    heartbeat = Heartbeat(1.0)
    for at_s in (10.0, 11.0, 12.0):
        heartbeat.hear_press("button", True, at_s)
        assert heartbeat.pressed(at_s + 0.99), "repeated once a second, it holds"
    assert not heartbeat.pressed(15.0)


def test_who_falls_back_is_told_from_who_has_not_joined_yet():
    """A mate that holds counts once it has carried with this robot, and LAND counts more than HOLD."""
    made = agreement(said("b", state=State.HOLD))
    made.takes_off()
    assert made.mates_fallback() is None  # it has not been activated again yet
    for state in (State.BLEND, State.ACTIVE):
        made.hear(said("b", state=state), 11.0)
        made.hear(said("c", state=state), 11.0)
        assert made.mates_fallback() is None
    made.hear(said("b", state=State.HOLD), 12.0)
    assert made.mates_fallback() is State.HOLD
    made.hear(said("c", state=State.LAND), 12.0)
    assert made.mates_fallback() is State.LAND
    made.takes_off()
    assert made.mates_fallback() is None


def unlike(*heard: Announcement) -> TeamAgreement:
    """A certified team in which robot c has another vehicle."""
    own = said("a", contract="swap_4, schema 1, certificate 01234567 at 50 Hz")
    made = TeamAgreement(own, TEAM, 3.0, {"c": "carrier_600"})
    for announcement in heard:
        made.hear(announcement, 10.0)
    return made


def test_robots_of_unlike_vehicles_agree_on_the_certificate_and_on_nothing_else_of_their_bundles():
    like = said("b", contract="swap_4, schema 1, certificate 01234567 at 50 Hz")
    other = {
        "bundle_id": "0" * 64,
        "contract": "carriers, schema 3, certificate 01234567 at 50 Hz",
        "vehicle": "carrier_600",
    }
    assert texts(unlike(like, said("c", **other))) == []
    assert texts(unlike(like, said("c", **{**other, "contract": "carriers, schema 3, certificate 7 at 25 Hz"}))) == [
        "c: follows contract certificate 7 at 25 Hz, this robot certificate 01234567 at 50 Hz"
    ]
    assert texts(unlike(like, said("c", **{**other, "vehicle": "crazyflie_21"}))) == [
        "c: is a crazyflie_21, in this robot's team it is a carrier_600"
    ]
    assert texts(unlike(said("b", **other), said("c", **other)))[0] == "b: is a carrier_600, this robot a crazyflie_21"
