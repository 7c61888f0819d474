"""What a Crazyswarm2 server says or lacks so that its vehicle must not be flown, each said in one sentence."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")
pytest.importorskip("cflib")

from robomarl.core.config import UserError
from robomarl.ros.io.node_base import publisher
from robomarl.ros.settings import CrazyswarmSettings
from robomarl.ros.vehicle_topics import crazyswarm as topics
from robomarl.ros.vehicle_topics.ros_address import RosAddress
from robomarl.vehicles.crazyswarm.seats import addresses_of
from robomarl.vehicles.guard_terms import GuardState
from tests.ros.vehicles.crazyrig import SwarmRig, swarm

Spoil = Callable[[SwarmRig, Any], None]


def no_server(rig: SwarmRig, peer: Any) -> None:
    rig.peer.destroy_service(peer.services.pop(topics.ARM))


def no_rates(rig: SwarmRig, peer: Any) -> None:
    peer._due[topics.RATES] = 1e9


def no_status(rig: SwarmRig, peer: Any) -> None:
    peer._due[topics.STATUS] = 1e9


def other_frame(rig: SwarmRig, peer: Any) -> None:
    peer.frame = "odom"


def other_rates(rig: SwarmRig, peer: Any) -> None:
    peer.told_rates = slice(3)


def second_adapter(rig: SwarmRig, peer: Any) -> None:
    name = topics.FULL_STATE.of("", peer._namespace)
    rig.other = publisher(rig.peer, topics.FULL_STATE, name)  # type: ignore[attr-defined]


def battery(rig: SwarmRig, peer: Any) -> None:
    peer.faults.add("battery")


REFUSED: dict[Spoil, str] = {
    no_server: "nobody serves /cf0/arm: is crazyflie_server there?",
    no_rates: "nobody says /cf0/rates; add it to custom_topics with gyro.x, gyro.y, gyro.z, acc.x, acc.y, acc.z",
    no_status: "nobody says /cf0/status; add it to default_topics",
    other_frame: "its odom is in frame 'odom'; 'cf0' or 'world' is read",
    other_rates: "/cf0/rates has 3 values; name ('gyro.x', 'gyro.y'",
    second_adapter: "/peer sends /cf0/cmd_full_state too; stop one of the two",
    battery: "the battery is low",
}


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.usefixtures("foreign_messages")
@pytest.mark.parametrize("spoil", REFUSED, ids=lambda spoil: spoil.__name__)
def test_it_is_refused_in_one_sentence_and_stays_down(spoil: Spoil):
    with swarm() as rig:
        peer: Any = rig.team.peers[0]
        spoil(rig, peer)
        for link in rig.links:
            link.open()
        rig.run(3.0)
        why = rig.links[0].problem or rig.flights[0].unfit
        assert why.startswith(REFUSED[spoil]) and "\n" not in why
        assert rig.states[1] is GuardState.READY, rig.whys
        rig.run(1.0, lambda index, sample: np.array([0.0, 0.0, 1.0, 0.0]) if index == 0 else None)
        assert rig.states[0] is GuardState.WAITING and rig.highest_m[0] < 0.09
        assert rig.flights[0].unfit


def test_addresses_are_the_vehicles_names():
    named = CrazyswarmSettings(team=("a", "b"), uris=("ros:/cf231", "ros:/cf5"))
    assert addresses_of(named) == [RosAddress("/cf231"), RosAddress("/cf5")]
    simulated = CrazyswarmSettings(team=("a", "b"), sim=True, base="/lab")
    assert addresses_of(simulated) == [RosAddress("/lab/a/cf"), RosAddress("/lab/b/cf")]
    with pytest.raises(UserError, match="is named 2 times; two adapters can't fly one vehicle"):
        addresses_of(CrazyswarmSettings(team=("a", "b"), uris=("ros:/cf1", "ros:/cf1")))
    with pytest.raises(UserError, match="1 URIs for 2 robots"):
        addresses_of(CrazyswarmSettings(team=("a", "b"), uris=("ros:/cf1",)))
    with pytest.raises(UserError, match="of b must be ros:/NAMESPACE"):
        addresses_of(CrazyswarmSettings(team=("a", "b"), uris=("ros:/cf1", "radio://0/80")))
