"""One simulated PX4 autopilot and its adapter on a real socket, without a plant: what it senses is given."""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.autopilot.flight import AutopilotConfig, GuardedAutopilot
from robomarl.vehicles.guarded import TickInput
from robomarl.vehicles.mavlink.addresses import Address
from robomarl.vehicles.mavlink.link import MavlinkLink
from robomarl_peers.px4.mavlink_wire import MavlinkWire
from robomarl_peers.px4.team import BODY, Px4Peer, in_ned
from robomarl_peers.px4.vehicle import Px4Vehicle
from tests.ros.vehicles.rig import PERIOD_S, RULES, VEHICLE

REST = Estimate(np.array([1.0, 2.0, 0.07]), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3), np.zeros(3))
UP = np.array([0.0, 0.0, 9.81])
SYSTEM = 7
_WIRES = itertools.count()


class Wire:
    """Both ends, in lock step."""

    @property
    def there(self) -> MavlinkWire:
        """The vehicle's end."""
        assert isinstance(self.peer.wire, MavlinkWire)
        return self.peer.wire

    def __init__(self, peer: Px4Peer, link: MavlinkLink) -> None:
        self.peer, self.link, self.now_s = peer, link, 0.0
        self.flight = GuardedAutopilot(link, VEHICLE, AutopilotConfig(RULES))
        link.clock = lambda: self.now_s

    def step(self, own: Estimate = REST, force_m_s2: np.ndarray = UP, command: np.ndarray | None = None) -> None:
        """One period; `own` in ENU, the force in FLU."""
        self.now_s += PERIOD_S
        rows = in_ned(Estimate(*(part[None] for part in own)))
        self.peer.step(self.now_s, Estimate(*(part[0] for part in rows)), BODY @ force_m_s2)
        self.flight.tick(TickInput(command), self.now_s)

    def settle(self, seconds: float = 3.0) -> str:
        """On the ground; why it may not fly then."""
        for _ in range(round(seconds / PERIOD_S)):
            self.step()
        return self.flight.unfit


@contextmanager
def wired(expected: int = SYSTEM, opened: bool = True) -> Iterator[Wire]:
    """`expected` is MAV_SYS_ID of the fleet file; the vehicle has `SYSTEM`."""
    host = f"127.{80 + os.getpid() % 150}.{251 + next(_WIRES) % 4}.1"
    address = Address(host, 14540, True, expected)
    there = MavlinkWire(address, Px4Vehicle(0.7), SYSTEM)
    link = MavlinkLink(address, PERIOD_S, VEHICLE.on_command_loss)
    try:
        if opened:
            link.open()
        yield Wire(Px4Peer(there), link)
    finally:
        link.close()
        there.close()
