"""Crazyflies that share one radio with a limited number of exchanges."""

import numpy as np
import pytest

pytest.importorskip("cflib")
pytest.importorskip("mujoco")

from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.vehicles.corrected.corrector import corrector_of
from robomarl.vehicles.corrected.stream import CorrectedStream
from robomarl_peers.crazyflie.crtp_peer import MOST, SharedRadio
from tests.ros.vehicles.crazyrig import crazyflies

LOG = 5
"""CRTP port of logged values."""


def test_exchanges_are_shared_out_in_turn_and_none_is_made_up():
    radio = SharedRadio(400.0, 4)
    given = np.array([[radio.exchanges(index, step * 0.004) for index in range(4)] for step in range(1, 1001)])
    assert np.abs(given.sum(0) - 400).max() <= 1 and given.max() <= 1
    assert SharedRadio(0.0, 4).exchanges(0, 1.0) == MOST


@pytest.mark.slow
@pytest.mark.parametrize(("radio_hz", "least", "most"), [(600.0, 45, 51), (60.0, 15, 30)])
def test_estimates_come_as_fast_as_the_radio_carries_them(radio_hz: float, least: int, most: int):
    """50 estimates and 10 statuses a second of each of two vehicles."""
    with crazyflies(radio_hz=radio_hz) as rig:
        for link in rig.links:
            link.open()
        assert rig.run(30.0, until=lambda: all(link.sample is not None for link in rig.links))
        rig.run(2.0)
        seen = set()
        for _ in range(100):
            rig.run(0.02)
            seen.add(rig.links[0].sample.vehicle_ms)
        assert least <= len(seen) / 2 <= most


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "packets"), [("firmware", 60), ("firmware_corrected", 110)])
def test_a_corrected_estimate_costs_as_many_packets_again_as_the_estimates(estimator: str, packets: int):
    """Log packets of one vehicle in a second, as docs/crazyflie.md says."""
    with crazyflies() as rig:
        link, logged = rig.links[0], []
        corrector = corrector_of(load_vehicle("crazyflie_21", estimator))
        link.corrected = CorrectedStream(corrector) if corrector else None
        link._cf.packet_received.add_callback(lambda packet: logged.append(packet.port) if packet.port == LOG else None)
        link.open()
        assert rig.run(30.0, until=lambda: link.sample is not None)
        rig.run(2.0)
        logged.clear()
        rig.run(4.0)
        assert len(logged) / 4 == pytest.approx(packets, abs=2)
