"""`TeamAgreement`: a team that differs in its bundle is not activated, and is told which robot
differs. No ROS.

Every robot announces itself (`announce`): bundle, contract, vehicle, index, state. `TeamAgreement`
compares its teammates' announcements with its own.
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from robomarl.ros.robot.inbox import Problem
from robomarl.ros.robot.state_machine import MOVING, State

JOINED = MOVING - {State.HOLD, State.LAND}
"""A robot in these does its share."""


class Announcement(NamedTuple):
    """A robot's announcement of itself."""

    robot: str
    bundle_id: str
    contract: str
    """Name and schema of the bundle's contract; of a certified robot with the mark of its figures."""
    vehicle: str
    index: int
    state: State
    why: str = ""
    """Reason for its HOLD, LAND, STOP or ESTOP."""
    ordered: bool = False
    """An operator did."""
    robomarl: str = ""
    """Version that it runs: its filter and its rules."""
    handover_m: float = 0.0
    """Altitude at which its policy takes over; robots with different altitudes would take over above or below each
    other.
    """
    gave_up: tuple[str, ...] = ()
    """Teammates with a loss that brought the robot into HOLD or LAND."""


class TeamAgreement:
    """Agreement of one robot with its team."""

    def __init__(
        self, own: Announcement, team: tuple[str, ...], patience_s: float, vehicles: Mapping[str, str] | None = None
    ) -> None:
        """Start without an announcement.

        Args:
            own: this robot.
            team: names of all robots, in the order of their indices.
            patience_s: age [s] beyond which an announcement is of a robot that is not there any more.
            vehicles: vehicles of teammates that have another one than this robot, by their names.
        """
        self._unlike = dict(vehicles or {})
        self.own, self._team, self._patience_s = own, team, patience_s
        self._heard: dict[str, tuple[Announcement, float]] = {}
        self._flown: set[str] = set()
        self._joined: set[str] = set()
        self._given_up: dict[str, str] = {}
        """Robots that a team-mate gave up in flight, and which one did."""

    def hear(self, said: Announcement, steady_s: float) -> None:
        """An announcement arrived on the topic of the robot that it names.

        A loss that it tells counts for this robot too, once: otherwise a silence about as long as the limit, which each
        robot judges at its own ticks, would divide the team.
        """
        before = self._heard[said.robot][0].gave_up if said.robot in self._heard else ()
        if said.robot in self._flown:
            self._given_up |= {name: said.robot for name in said.gave_up if name not in before}
        self._heard[said.robot] = said, steady_s
        if said.state in MOVING:
            self._flown.add(said.robot)
        if said.state in JOINED:
            self._joined.add(said.robot)

    def state_of(self, robot: str) -> State | None:
        """Return the state that a teammate announced last, or None."""
        return self._heard[robot][0].state if robot in self._heard else None

    def takes_off(self) -> None:
        """Note that this robot begins to fly: teammates that leave from now on are missed."""
        self._flown = {name for name, (said, _) in self._heard.items() if said.state in MOVING}
        self._joined = {name for name, (said, _) in self._heard.items() if said.state in JOINED}
        self._given_up = {}

    def given_up(self) -> dict[str, str]:
        """Robots that a team-mate has given up since this robot began to fly, this one included; and which one did."""
        return self._given_up

    def mates_fallback(self) -> State | None:
        """HOLD or LAND if a team-mate that carried with this robot does that now; LAND counts more."""
        states = {self.state_of(name) for name in self._joined}
        return next((state for state in (State.LAND, State.HOLD) if state in states), None)

    def lost_mates(self, silent_s: dict[str, float], patience_s: float) -> list[str]:
        """Team-mates that flew with this robot and don't any more.

        Args:
            silent_s: per team-mate, how long its state has not been heard.
            patience_s: longer than this, and it is lost.
        """
        return [name for name in self._flown if silent_s[name] > patience_s or self.state_of(name) not in MOVING]

    def problems(self, steady_s: float) -> list[Problem]:
        """Everything in which the team does not agree; one sentence for each robot that differs."""
        found = []
        for name in self._team:
            if name == self.own.robot:
                continue
            said, heard_s = self._heard.get(name, (None, -math.inf))
            if said is None or steady_s - heard_s > self._patience_s:
                index = self._team.index(name)
                found.append(Problem(name, f"has not announced itself; nobody has index {index} of the team"))
            elif text := self._difference(said):
                found.append(Problem(name, text))
        return [*found, *self._doubles()]

    def _difference(self, said: Announcement) -> str:
        own, unlike = self.own, self._unlike.get(said.robot)
        if said.vehicle != (unlike or own.vehicle):
            wanted = f"in this robot's team it is a {unlike}" if unlike else f"this robot a {own.vehicle}"
            return f"is a {said.vehicle}, {wanted}"
        if said.bundle_id != own.bundle_id and not unlike:
            return f"flies bundle {said.bundle_id[:12]}, this robot {own.bundle_id[:12]}"
        theirs, ours = (_marked(one.contract) if unlike else one.contract for one in (said, own))
        if theirs != ours:
            return f"follows contract {theirs}, this robot {ours}"
        if said.robomarl != own.robomarl:
            return f"runs robomarl {said.robomarl or '(untold)'}, this robot {own.robomarl}"
        if said.handover_m != own.handover_m:
            return f"climbs to {said.handover_m:g} m before its policy takes over, this robot to {own.handover_m:g} m"
        if said.index != self._team.index(said.robot):
            return f"says that its index is {said.index}; in this robot's team it is {self._team.index(said.robot)}"
        return ""

    def _doubles(self) -> Iterable[Problem]:
        by_index = {self.own.index: self.own.robot}
        for name, (said, _) in self._heard.items():
            other = by_index.setdefault(said.index, name)
            if other != name:
                yield Problem(name, f"and {other} both have index {said.index}")


def _marked(contract: str) -> str:
    """The mark of a certified robot's figures: all that robots of unlike vehicles have in common."""
    return contract.rpartition(", ")[2]
