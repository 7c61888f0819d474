"""What a Crazyflie says of itself that stands against flying it: over cflib's own link, in one sentence."""

import time
from collections.abc import Callable

import pytest

pytest.importorskip("cflib")
pytest.importorskip("mujoco")

from robomarl.core.config import UserError
from robomarl.ros.vehicle_topics.crazyflie_uris import check_uris
from robomarl.vehicles.guard_terms import GuardState
from robomarl_peers.crazyflie.crtp import CrtpServer
from robomarl_peers.crazyflie.crtp_peer import CrtpPeer
from tests.ros.vehicles.crazyrig import CrazyRig, crazyflies
from tests.ros.vehicles.rig import CONNECT_S, PERIOD_S

Spoil = Callable[[CrtpServer], None]


def another_type(server: CrtpServer) -> None:
    server.type_name = "Crazyflie Bolt"


def a_brushless_one(server: CrtpServer) -> None:
    server.type_name = "Crazyflie 2.1 Brushless"


def an_old_protocol(server: CrtpServer) -> None:
    server.protocol = 4


REFUSED: dict[Spoil, str] = {
    another_type: "it is a 'Crazyflie Bolt', and types says Crazyflie 2.1",
    a_brushless_one: "it is a 'Crazyflie 2.1 Brushless', and types says Crazyflie 2.1",
    an_old_protocol: "it speaks version 4 of CRTP, 12 is needed: update its firmware",
}


def comes(rig: CrazyRig, condition: Callable[[], bool]) -> bool:
    """cflib's threads take their time, and the simulation its own."""
    give_up_s = time.monotonic() + CONNECT_S
    while not rig.run(PERIOD_S, until=condition) and time.monotonic() < give_up_s:
        pass
    return condition()


@pytest.mark.slow
@pytest.mark.parametrize("spoil", REFUSED, ids=lambda spoil: spoil.__name__)
def test_it_is_refused_in_one_sentence_and_stays_down(spoil: Spoil):
    with crazyflies() as rig:
        peer = rig.team.peers[0]
        assert isinstance(peer, CrtpPeer)
        spoil(peer.server)
        for link in rig.links:
            link.open()
        assert comes(rig, lambda: rig.flights[1].unfit == "" and REFUSED[spoil] in rig.flights[0].unfit), rig.whys
        rig.run(2.0)
        assert REFUSED[spoil] in rig.flights[0].unfit and rig.flights[0].guard.state is GuardState.WAITING
        assert rig.flights[1].unfit == ""


@pytest.mark.slow
def test_another_type_is_flown_where_any_may_be():
    with crazyflies() as rig:
        peer = rig.team.peers[0]
        assert isinstance(peer, CrtpPeer)
        another_type(peer.server)
        rig.links[0]._types = ()
        rig.links[0].open()
        assert comes(rig, lambda: rig.flights[0].unfit == ""), rig.whys


def test_one_vehicle_is_not_named_for_two_robots():
    with pytest.raises(UserError, match="of b and .* of a are one vehicle, and two adapters can't fly one vehicle"):
        check_uris(("radio://0/80/2M/E7E7E7E701",) * 2, ("a", "b"))
