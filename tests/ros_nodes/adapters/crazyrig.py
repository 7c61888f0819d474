"""Simulated Crazyflies and their adapters in one process, without ROS, in lock step.

Real are cflib, its UDP link, the packets, the firmware's time-outs, the guard. Time is simulated: a step waits until
every packet of the one before has been read, so that a busy machine changes nothing.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from robomarl.domains.flight.ros_nodes.crazyflie_peer.firmware import BOOT_S
from robomarl.domains.flight.ros_nodes.crazyflie_peer.team import CrazyflieTeam
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.hardware_configs.vehicle import load_vehicle
from robomarl.ros_nodes.adapters.crazyflie.flight import CrazyflieConfig, GuardedCrazyflie
from robomarl.ros_nodes.adapters.crazyflie.link import CrazyflieLink
from robomarl.ros_nodes.adapters.crazyflie.uris import address_of
from robomarl.ros_nodes.adapters.guard_terms import GuardRules, GuardState
from robomarl.ros_nodes.adapters.guarded import TickInput
from robomarl.ros_nodes.adapters.samples import StateSample
from robomarl.sim.scenario import load_scenario

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


class CrazyRig:
    """A team, its adapters, and what happened so far."""

    def __init__(self, team: CrazyflieTeam, links: list[CrazyflieLink], config: CrazyflieConfig) -> None:
        """Nothing is connected yet."""
        self.team, self.links, self.config = team, links, config
        self.flights = [GuardedCrazyflie(link, VEHICLE, config) for link in links]
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
        """Wait until cflib has read what was sent."""
        time.sleep(0.001)
        for _ in range(1000):
            drivers = [link._cf.link for link in self.links]
            if all(driver is None or driver.in_queue.empty() for driver in drivers):
                return
            time.sleep(0.001)

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
        self.run(BOOT_S + PERIOD_S)


@contextmanager
def crazyflies(scenario: str = "swap_2", auto_arm: bool = True, **config: object) -> Iterator[CrazyRig]:
    """Peers that have been started on the ground, and adapters that are not connected."""
    loaded = load_scenario(scenario, FlightScenario)
    team = CrazyflieTeam(loaded, True)
    uris = [f"udp://127.78.{os.getpid() % 250}.{index + 1}:19850" for index in range(loaded.count)]
    team.connect([address_of(uri) for uri in uris], auto_arm)
    team.reset(0)
    links = [CrazyflieLink(uri, VEHICLE.body.mass_kg, PERIOD_S) for uri in uris]
    setup = {"rules": RULES, **config}
    try:
        yield CrazyRig(team, links, CrazyflieConfig(**setup))  # type: ignore[arg-type]
    finally:
        for link in links:
            link.close()
        team.close()
