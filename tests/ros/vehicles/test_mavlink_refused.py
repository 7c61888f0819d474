"""What answers behind a robot's name and must not be flown, each said in one sentence; frames that data show."""

import numpy as np
import pytest

pytest.importorskip("pymavlink")
pytest.importorskip("mujoco")

from robomarl.core.config import UserError
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.guard_terms import GuardState
from robomarl.vehicles.guarded import TickInput
from robomarl.vehicles.mavlink.addresses import Address, address_of, simulated_uri
from robomarl.vehicles.mavlink.link import MavlinkLink
from robomarl.vehicles.vehicle_node import UNSUITED, why_unsuited
from tests.ros.vehicles.rig import PERIOD_S, VEHICLE
from tests.ros.vehicles.test_adapter_plausible import flown, force_of
from tests.ros.vehicles.wire import SYSTEM, Wire, wired

LIFT = np.array([0.0, 0.0, 1.0, 0.0])


def test_a_sound_vehicle_is_ready_and_says_how_it_is():
    with wired() as wire:
        assert wire.settle() == "" and wire.flight.guard.state is GuardState.READY
        assert wire.link.figures() == {
            **{"address": f"{wire.link.address.host}:14540", "system": "7", "mode": "MANUAL", "armed": "False"},
            **{"volts": "4.10", "charge": "100 %"},
        }
        own = wire.flight.own
        assert own is not None and own.age_s < 0.05
        np.testing.assert_allclose(own.estimate.pos_m, [1.0, 2.0, 0.07], atol=1e-6)
        assert wire.link.state.clocks.ahead_s == pytest.approx(100.0 + 17.0 * SYSTEM, abs=0.03), "its clock is known"


def kind(wire: Wire) -> None:
    wire.there.server.kind = 10


def old_heartbeat(wire: Wire) -> None:
    wire.there.server.version = 4


def first_framing(wire: Wire) -> None:
    class Raw(bytes):
        pass

    beat = wire.there.server._mavlink.MAVLink_heartbeat_message(2, 12, 1, 1 << 16, 3, 3)
    codec = wire.there.server._mavlink.MAVLink(None, srcSystem=SYSTEM, srcComponent=1)
    wire.there.link.sendto(Raw(beat.pack(codec, force_mavlink1=True)), wire.there.to)


def other_definition(wire: Wire) -> None:
    sound = wire.there._send
    # The checksum of a packet is seeded with its message's definition.
    wire.there._send = lambda raw: sound(raw[:-1] + bytes([raw[-1] ^ 0x55]) if raw[7] == 331 & 0xFF else raw)  # type: ignore[method-assign]


def refuses_streams(wire: Wire) -> None:
    wire.peer.vehicle.commander.parameters["COM_OBL_RC_ACT"] = 0


def waits_long(wire: Wire) -> None:
    wire.peer.vehicle.commander.parameters["COM_FAIL_ACT_T"] = 5.0


def somebody_else(wire: Wire) -> None:
    server = wire.there.server
    server._out.append(server._codec.command_ack_encode(400, 0, 0, 0, 254, 190).pack(server._codec))


def other_frame(wire: Wire) -> None:
    server, ours = wire.there.server, wire.there.server._codec.odometry_encode
    server._codec.odometry_encode = lambda *fields: ours(fields[0], 21, *fields[2:])


def battery(wire: Wire) -> None:
    wire.peer.faults.add("battery")


REFUSED = {
    kind: "it is a rover, and the vehicle file says a quadrotor",
    old_heartbeat: "its HEARTBEAT is of version 4; 3 is read",
    first_framing: "it speaks MAVLink 1, which has no ODOMETRY; set MAV_PROTO_VER to 2",
    other_definition: "a message of it is defined otherwise than ours: invalid MAVLink CRC in msgID 331",
    refuses_streams: "its COM_OBL_RC_ACT is 0: without this adapter it would not land; set it to 4 (land)",
    waits_long: "its COM_OF_LOSS_T and COM_FAIL_ACT_T add up to 5.5 s",
    somebody_else: "system 254 commands it too; stop one of the two",
    other_frame: "its ODOMETRY is in MAV_FRAME 21; MAV_FRAME_LOCAL_NED (1) is read",
    battery: "the battery is low",
}


@pytest.mark.parametrize("wrong", REFUSED, ids=lambda wrong: wrong.__name__)
def test_it_is_refused_in_one_sentence_and_not_armed(wrong):
    with wired() as wire:
        wrong(wire)
        why = wire.settle()
        assert why.startswith(REFUSED[wrong]) and "\n" not in why
        for _ in range(round(1.0 / PERIOD_S)):
            wire.step(command=LIFT)
        assert wire.flight.guard.state is GuardState.WAITING and not wire.peer.vehicle.commander.armed


def test_another_vehicle_behind_the_name_is_named():
    with wired(expected=3) as wire:
        assert wire.settle() == "the vehicle does not answer"
        assert wire.link.problem == f"system {SYSTEM} answers there, and it is to be 3 (MAV_SYS_ID)"


def test_a_second_adapter_of_one_vehicle_is_named():
    with wired() as wire:
        wire.settle()
        second = MavlinkLink(wire.link.address, PERIOD_S, VEHICLE.on_command_loss)
        second.open()
        assert "is there another adapter?" in second.problem
        second.poll()  # and nothing happens
        wire.flight.tick(TickInput(rival="/mavlink_twin"), wire.now_s)
        assert wire.flight.unfit == "/mavlink_twin flies it too; stop one of the two"


def test_a_policy_that_commands_roll_and_pitch_rates_is_not_followed():
    carries = np.array([0.0, 0.0, 0.1, 0.2, 0.0, 0.0])  # as lift_3 does
    assert why_unsuited(carries) == UNSUITED and not why_unsuited(np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.4]))
    with wired() as wire:
        wire.settle()
        wire.flight.tick(TickInput(unsuited=why_unsuited(carries)), wire.now_s)
        assert wire.flight.unfit.endswith("need torque inversion under them; flash another bundle")


def test_position_and_attitude_alone_are_flown_too():
    """ArduPilot has no ODOMETRY."""
    with wired() as wire:
        wire.there.server._makers.pop(331)
        assert wire.settle() == ""
        own = wire.flight.own
        assert own is not None
        np.testing.assert_allclose(own.estimate.quat_wxyz, [1.0, 0, 0, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("", ""),
        ("enu", "NED and FRD are read as ENU and FLU"),
        ("mirrored", "left-handed"),
        ("degrees", "rates are in degrees and read as radians"),
    ],
)
def test_frames_that_a_hand_shows_on_the_ground_are_not_flown(fault: str, why: str):
    """Somebody moves and turns the vehicle, as the checklist says."""
    with wired() as wire:
        wire.settle()
        wire.peer.faults = {fault} - {""}
        track = flown(0, noise=0.3)
        rows = zip(track.pos_m, track.quat_wxyz, track.vel_m_s, track.omega_rad_s, strict=True)
        for row, force in zip(rows, force_of(track), strict=True):
            wire.step(Estimate(*row), force)
        assert why in wire.flight.unfit and bool(why) == bool(wire.flight.unfit)
        if fault:
            wire.step(command=LIFT)
            assert wire.flight.guard.state is GuardState.WAITING
            wire.peer.faults = set()
            wire.flight.tick(TickInput(reset=True), wire.now_s)
            assert wire.settle(1.0) == "", "mended, and reset by an operator"


@pytest.mark.parametrize("uri", ["radio://0/80", "udp://", "udpin://1.2.3.4", "udp://1.2.3.4:5?system=x", "udp://h:0"])
def test_wrong_addresses_are_named(uri: str):
    with pytest.raises(UserError, match="of a must be udp://HOST:PORT"):
        address_of(uri, "a")


def test_addresses():
    assert address_of("udpin://0.0.0.0:14541?system=2", "a") == Address("0.0.0.0", 14541, True, 2)
    assert address_of("udp://10.0.0.2:14550", "a") == Address("10.0.0.2", 14550, False, 0)
    assert address_of(simulated_uri(3, 55), "a") == Address("127.79.55.4", 14540, True, 4)
