"""Whose poses are whose: exchanged bodies are refused for as long as they are, and honest ones are not."""

import lzma
import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.nodes import exchanged
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.vehicles.mocap.sensed import Quality, SensedPose
from robomarl.vehicles.mocap.team import TeamTracks, tracked_as

VEHICLE = load_any_vehicle("crazyflie_21")
UP = np.array([1.0, 0.0, 0.0, 0.0])
DT_S, AGE_S = 0.01, 0.012
FLIGHTS = sorted(Path(os.environ.get("ROBOMARL_FLIGHTS", "../shared/flights/nanobench")).glob("*.csv.xz"))

SHORT = "B7_oval_slow_rep1.csv.xz"
"""Of the recorded flights one that ends before it takes off."""


class Team:
    """Bodies that hover on a line, and what is told of them."""

    def __init__(self, places_m: tuple[float, ...]) -> None:
        self.names = tuple("abcdefgh"[: len(places_m)])
        self.tracks = TeamTracks(self.names, *tracked_as(VEHICLE))
        self.place_m = {name: np.array([x, 0.0, 1.0]) for name, x in zip(self.names, places_m, strict=True)}
        self.now_s, self.random = 1000.0, np.random.default_rng(0)

    def see(self, seconds: float, **shown: str) -> set[str]:
        """Labels and the bodies that they show; returns the labels of which anything was told."""
        told = set()
        for _ in range(round(seconds / DT_S)):
            self.now_s += DT_S
            for label, body in shown.items():
                pose = SensedPose(self.place_m[body] + self.random.normal(size=3) * 0.0003, UP, self.now_s - AGE_S)
                told |= {label} if self.tracks.take(label, pose, self.now_s) is not None else set()
        return told

    def right(self, seconds: float) -> set[str]:
        """All labels show their own bodies."""
        return self.see(seconds, **{name: name for name in self.names})

    def qualities(self) -> set[Quality]:
        """Of all."""
        return {self.tracks.status(name, self.now_s).quality for name in self.names}


@pytest.mark.parametrize("apart_m", [0.14, 0.2, 0.3, 0.4, 0.6, 1.0, 3.0])
@pytest.mark.parametrize("gap_s", [0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 1.9, 4.0])
def test_two_that_are_exchanged_are_refused_for_as_long_as_they_are(apart_m: float, gap_s: float):
    team = Team((0.0, apart_m))
    assert team.right(0.3) == {"a", "b"}
    team.now_s += gap_s
    assert not team.see(2.0, a="b", b="a")
    assert team.qualities() <= {Quality.JUMPED, Quality.DOUBTED}


@pytest.mark.parametrize("gap_s", [0.0, 0.3, 0.5, 1.5])
def test_three_that_go_round_one_in_anothers_place_and_two_in_one_place(gap_s: float):
    for wrong in ({"a": "b", "b": "c", "c": "a"}, {"a": "b"}, {"a": "b", "b": "b"}):
        team = Team((0.0, 0.35, 0.7))
        team.right(0.3)
        team.now_s += gap_s
        told = team.see(2.0, **wrong)
        assert not {label for label in told if wrong[label] != label}, wrong


def test_after_a_short_exchange_they_are_believed_again_and_others_are_never_doubted():
    team = Team((0.0, 0.5, 3.0))
    team.right(0.3)
    assert team.see(0.2, a="b", b="a", c="c") == {"c"}
    assert team.right(0.3) == {"a", "b", "c"}


def test_a_body_that_comes_back_first_is_believed_once_the_other_is_known_to_be_elsewhere():
    """Both were hidden for so long that each can be at the other's place; then one of them is seen beyond the other."""
    team = Team((0.0, 0.35))
    team.right(0.3)
    for name, x_m in (("a", 0.1), ("b", 0.45)):
        team.place_m[name] = np.array([x_m, 0.0, 1.0])
    team.now_s += 0.36
    assert not team.see(0.02, a="a")
    assert "can be of b as well" in team.tracks.status("a", team.now_s).why
    assert team.right(0.3) == {"a", "b"}


def test_an_operator_resets_what_is_doubted():
    team = Team((0.0, 0.2))
    team.right(0.3)
    team.now_s += 1.0
    assert not team.right(1.0), "nobody can tell them apart"
    assert "its poses can be of b as well" in team.tracks.status("a", team.now_s).why
    team.tracks.reset("a")
    assert "a" in team.right(0.3)
    assert team.right(0.3) == {"a", "b"}, "with the one the other is known"


def test_robots_that_are_not_armed_may_be_carried_and_are_nobodys_rivals():
    team = Team((0.0, 0.2))
    team.right(0.3)
    team.tracks.may_be_carried("b", True)
    team.now_s += 1.0
    assert team.see(0.5, a="a") == {"a"}
    team.place_m["b"] = np.array([5.0, 0.0, 0.0])
    assert team.right(0.5) == {"a", "b"}


def test_what_was_commanded_tells_bodies_apart_that_motion_alone_does_not():
    for known in (False, True):
        team = Team((0.0, 0.3))
        team.right(0.3)
        for k in range(70):
            for name in team.names if known else ():
                team.tracks.command(name, np.zeros(3), 0.0, team.now_s - 0.3 + k * DT_S)
        team.now_s += 0.4
        assert team.right(0.5) == ({"a", "b"} if known else set())


def test_the_attack_finds_nothing():
    """A short one; `python -m benchmarks.nodes.exchanged` is the long one."""
    assert not {name: count for name, count in exchanged.attack(40).items() if count}


@pytest.mark.skipif(not FLIGHTS, reason="the recorded flights are not on this machine")
@pytest.mark.parametrize("hides", [False, True])
def test_nothing_of_recorded_flights_is_refused_for_good(hides: bool):
    """Two of them at a time, a metre apart, with 5 % of poses lost; and hidden for 0.3 s every 2 s."""
    columns = ("t", "px", "py", "pz", "qw", "qx", "qy", "qz")
    random = np.random.default_rng(1)
    for number, path in enumerate(path for path in FLIGHTS if path.name != SHORT):
        with lzma.open(path, "rt") as text:
            head = text.readline().strip().split(",")
            wanted = [head.index(column) for column in columns]
            rows = np.loadtxt(text, delimiter=",", usecols=wanted)[600:1200]
        tracks, longest, told_s = TeamTracks(("a", "b"), *tracked_as(VEHICLE)), 0.0, {}
        for t, *pose in rows[rows[:, 0] - rows[0, 0] > 0.0]:
            for k, name in enumerate(("a", "b")):
                hidden = hides and (t - rows[0, 0] + 0.7 * k * (number % 2)) % 2.0 > 1.7
                if hidden or random.random() < 0.05:
                    continue
                place = np.array(pose[:3]) + np.array([float(k), 0.0, 0.0])
                found = tracks.take(name, SensedPose(place, np.array(pose[3:]), t - AGE_S), t)
                if found is not None:
                    longest = max(longest, t - told_s.get(name, t))
                    told_s[name] = t
        assert min(told_s.values()) > rows[-1, 0] - 0.5, path.name
        assert longest < 1.0, path.name
