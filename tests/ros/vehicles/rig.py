"""Simulated vehicles and their adapters in one process, without ROS, in lock step: what all kinds share.

Real are the sockets, the packets, the firmware's time-outs, the guard. Time is simulated: a step waits until every
packet of the one before has been read, so that a busy machine changes nothing.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.vehicles.guard_terms import GuardRules, GuardState
from robomarl.vehicles.guarded import GuardedVehicle, TickInput
from robomarl.vehicles.samples import StateSample
from robomarl_peers.driven_team import DrivenTeam

VEHICLE = load_vehicle("crazyflie_21")
RULES = GuardRules(VEHICLE.on_command_loss)
PERIOD_S = 0.02
"""Of commands, of estimates, and of the adapters."""
CONNECT_S = 120.0
Law = Callable[[int, StateSample], np.ndarray | None]
"""(index, what the adapter says of the vehicle) -> command [4], or None: nothing is sent."""


def hover_at(goals_m: np.ndarray) -> Law:
    """Accelerates towards a place of each robot."""

    def law(index: int, sample: StateSample) -> np.ndarray:
        own = sample.estimate
        return np.array([*(2.0 * np.clip(goals_m[index] - own.pos_m, -0.5, 0.5) - 2.5 * own.vel_m_s), 0.0])

    return law


class Rig:
    """A team, its adapters, and what happened so far."""

    BOOT_S = 0.0
    """A vehicle does not hear anything for so long after its start."""

    def __init__(self, team: DrivenTeam, links: Sequence[Any], flights: Sequence[GuardedVehicle]) -> None:
        """Nothing is connected yet."""
        self.team, self.links, self.flights = team, links, flights
        self.pressed, self.adapters_run = False, True
        self.closest_m, self.highest_m = np.inf, np.zeros(len(links))
        for link in links:
            link.clock = lambda: team.now_s

    def run(self, seconds: float, law: Law | None = None, until: Callable[[], bool] = lambda: False) -> bool:
        """Simulated seconds; whether `until` came true."""
        for _ in range(round(seconds / PERIOD_S)):
            for _ in range(round(PERIOD_S / self.team.dt_s)):
                self.team.step()
                self.closest_m = min(self.closest_m, float(self.team.world.closest_m.min()))
            self.highest_m = np.maximum(self.highest_m, self.heights_m)
            self._drain()
            if self.adapters_run:
                self._tick(law)
            if until():
                return True
        return False

    def fly(self, seconds: float = 4.0) -> Law:
        """Take off, to a metre above where they stand; returns the law that holds them there."""
        self.connect()
        law = hover_at(self.team.truth().pos_m + np.array([0.0, 0.0, 1.0]))
        self.run(seconds, law)
        assert self.all_in(GuardState.FLYING)(), self.whys
        return law

    @property
    def whys(self) -> list[tuple[str, str]]:
        """State and reason of all guards."""
        return [(flight.guard.state.name, flight.guard.why) for flight in self.flights]

    def _tick(self, law: Law | None) -> None:
        for index, flight in enumerate(self.flights):
            own = flight.own
            command = law(index, own) if law is not None and own is not None else None
            flight.tick(TickInput(command, self.pressed), self.team.now_s)

    def _drain(self) -> None:
        """Wait until what was sent has been read."""

    @property
    def heights_m(self) -> np.ndarray:
        """True ones [N]."""
        return self.team.truth().pos_m[:, 2]

    @property
    def on_ground(self) -> bool:
        """All stand."""
        return bool((self.heights_m < 0.09).all())

    @property
    def states(self) -> list[GuardState]:
        """Of all guards."""
        return [flight.guard.state for flight in self.flights]

    def all_in(self, *states: GuardState) -> Callable[[], bool]:
        """For `until`."""
        return lambda: all(state in states for state in self.states)

    def connect(self) -> None:
        """Open the links and wait until all may fly."""
        for link in self.links:
            link.open()
        give_up_s = time.monotonic() + CONNECT_S
        while not self.run(PERIOD_S, until=self.all_in(GuardState.READY)):
            assert time.monotonic() < give_up_s, [flight.unfit for flight in self.flights]
        self.run(self.BOOT_S + PERIOD_S)
