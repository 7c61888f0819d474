"""Guards of carriers on paper: a lost teammate is forgotten where its team lands, and nobody begins a session aside."""

from collections.abc import Sequence

import numpy as np
import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.core.config.parsed import table_in
from robomarl.core.filter.params import Arena, from_vehicle
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.paths import bundles_dir
from robomarl.core.view import LocalView, blank_view
from robomarl.domains.flight.core.payload.certified_carrier import CertifiedCarrier
from robomarl.ros.robot.certified.carry import RobotCarry, TeamSeat
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.certified.words import AddressedWord, TeamWords, told_to
from robomarl.ros.robot.startup import load_pilot
from robomarl.ros.settings import PolicySettings

VEHICLE = load_vehicle("carrier_600")
PARAMS = from_vehicle(VEHICLE, 0.01, Arena((-5.0, -5.0, 0.1), (5.0, 5.0, 5.0)))
CONTENT = load_bundle(bundles_dir() / "lift_3").contract.scenario.content
NAMES = ("a", "b", "c")
PLACES_M = np.array([[0.6, 0.0, 2.0], [-0.3, 0.55, 2.0], [-0.3, -0.55, 2.0]])
DOWN = np.array([0.0, 0.0, -1.0, 0.0, 0.0])


def guard(index: int, section: str = "load", **changes: float) -> CertifiedRobot:
    """One of three carriers, with other numbers in a section of its scenario."""
    way = CertifiedCarrier(PARAMS, {**CONTENT, section: {**table_in(CONTENT, section), **changes}})
    return CertifiedRobot(
        way.params, VEHICLE.body.radius_m, TeamSeat(index, [(index + 1) % 3, (index + 2) % 3]), way=way
    )


def view_at(place_m: np.ndarray) -> LocalView:
    view = blank_view(2)
    return view._replace(own=view.own._replace(pos_m=place_m.copy()))


def agreed(ticks: int = 40) -> tuple[list[CertifiedRobot], list[RobotCarry], list[TeamWords | None]]:
    """Three guards that rest, have agreed, and what they said last."""
    guards = [guard(i) for i in range(3)]
    carries, said = [one.init() for one in guards], list[TeamWords | None]([None] * 3)
    for tick in range(ticks):
        now_s = 1000.0 + 0.01 * tick
        for i, one in enumerate(guards):
            carry = one.hear(carries[i], told(said, i), now_s)
            carries[i], _ = one(carry, view_at(PLACES_M[i]), np.zeros(5))
        rows = [one.said(carry) for one, carry in zip(guards, carries, strict=True)]
        said = [None if row is None else TeamWords(mates(i), row) for i, row in enumerate(rows)]
    assert all((carry.robot.pact.number > 0).all() for carry in carries)
    return guards, carries, said


def mates(index: int) -> tuple[str, str]:
    return NAMES[(index + 1) % 3], NAMES[(index + 2) % 3]


def told(said: list[TeamWords | None], index: int) -> list[AddressedWord | None]:
    return [told_to(said[NAMES.index(name)], NAMES[index]) for name in mates(index)]


def sinks(
    one: CertifiedRobot, carry: RobotCarry, words: Sequence[AddressedWord | None], gone: tuple[int, ...]
) -> float:
    """How far the reference sinks in 3 s while the words stay as they are."""
    begin = float(carry.robot.course.pos_m[2])
    for tick in range(300):
        carry = one.without(one.hear(carry, words, 1000.4 + 0.01 * tick), gone)
        place = np.array(carry.robot.course.pos_m)
        carry, _ = one(carry, view_at(place), DOWN)
    return begin - float(carry.robot.course.pos_m[2])


@pytest.mark.parametrize("last_word", [True, False])
def test_a_carrier_lands_without_those_that_fly_no_more(last_word: bool):
    """Whether their last words are still there, or a new process of theirs says none."""
    guards, carries, said = agreed()
    words = told(said, 2) if last_word else [None, None]
    held, free = (sinks(guards[2], carries[2], words, gone) for gone in ((), (0, 1)))
    assert free > 3 * held > 0.0


def test_a_carrier_that_is_pulled_aside_begins_no_session_there():
    guards, carries, said = agreed()
    carry = guards[0].hear(carries[0], told(said, 0), 1000.5)
    aside = PLACES_M[0] + np.array([3 * guards[0].figures.unlearned.radius_m, 0.0, 0.0])
    after, _ = guards[0](carry, view_at(aside), np.zeros(5))
    assert after.session_s == carry.session_s and (after.robot.pact.number > 0).all()
    assert guards[0].doubts(after).trip


def test_what_a_load_asks_of_references_is_in_the_mark():
    """Robots that know another load are not READY together."""
    changes = (
        ("load", {}),
        ("load", {"pull_m_s2": 0.2}),
        ("load", {"reference_m_s2": 0.2}),
        ("cables", {"lean_rad": 0.4}),
    )
    assert len({guard(i % 3, section, **change).mark for i, (section, change) in enumerate(changes)}) == 4
    assert guard(0).mark == guard(2).mark


def test_a_node_refuses_a_team_that_is_thrown():
    names, vehicle = tuple(f"robot_{i}" for i in range(3)), "crazyflie_thrust"
    settings = PolicySettings(
        team=names, bundle=str(bundles_dir() / "recover_3"), vehicle=vehicle, filter="certificate"
    )
    with pytest.raises(UserError, match="recover_3.toml: the certificate begins with robots at rest on taut cables"):
        load_pilot(settings)
