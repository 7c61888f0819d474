"""The simulated firmware: set-points, priorities, time-outs, supervisor, and what it answers."""

import struct

import numpy as np
import pytest

from robomarl.ros.io.messages import Estimate
from robomarl_peers.crazyflie.crtp import (
    GENERIC,
    HIGH_LEVEL,
    LINK,
    LOG,
    PARAM,
    PLATFORM,
    SUPERVISOR,
    CrtpServer,
    Packet,
    decoded,
)
from robomarl_peers.crazyflie.firmware import (
    BOOT_S,
    Firmware,
    Setpoint,
    packed_quat,
    unpacked_quat,
)
from robomarl_peers.crazyflie.supervisor import Super, Supervisor

DT_S = 0.004
STILL = Estimate(np.array([0.0, 0.0, 0.5]), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))
FULL = struct.pack("<B9hI3h", 6, 1000, 0, 500, 100, 0, 0, 0, 0, 0, packed_quat(STILL.quat_wxyz), 0, 0, 0)
LAND = struct.pack("<BBff?f", 8, 0, 0.0, 0.0, True, 1.0)
NOTIFY = b"\0" + struct.pack("<I", 0)


class Bench:
    """A firmware that is stepped with one estimate."""

    def __init__(self, auto_arm: bool = True, refuses: bool = False) -> None:
        self.now_s = 0.0
        self.firmware = Firmware(Supervisor(auto_arm, refuses), 0.0)
        self.run(BOOT_S + DT_S)

    def run(self, seconds: float, stream: bytes = b"") -> Setpoint | None:
        found = None
        for _ in range(round(seconds / DT_S)):
            self.now_s += DT_S
            if stream:
                self.firmware.told(Packet(GENERIC, 0, stream))
            found = self.firmware.step(self.now_s, STILL)
        return found

    @property
    def state(self) -> Super:
        return self.firmware.supervisor.state


def test_a_stream_flies_and_its_end_levels_and_locks():
    bench = Bench()
    assert bench.state is Super.READY
    found = bench.run(0.1, FULL)
    assert found is not None and bench.state is Super.FLYING
    np.testing.assert_allclose(found.pos_m, [1.0, 0.0, 0.5])
    np.testing.assert_allclose(found.vel_m_s, [0.1, 0.0, 0.0])
    assert bench.run(0.45) is found
    level = bench.run(0.1)
    assert bench.state is Super.LEVEL and level is not None
    np.testing.assert_allclose(level.pos_m, STILL.pos_m)  # level: nothing pulls to the side
    assert bench.run(1.6) is None and bench.state is Super.LOCKED
    assert bench.run(1.0, FULL) is None, "locked until it is started anew"


def test_a_stream_that_comes_back_flies_on():
    bench = Bench()
    bench.run(0.1, FULL)
    bench.run(1.0)
    assert bench.state is Super.LEVEL
    bench.run(0.1, FULL)
    assert bench.state is Super.FLYING


def test_the_high_level_commander_waits_until_the_stream_is_given_up():
    bench = Bench()
    bench.run(0.1, FULL)
    bench.firmware.told(Packet(HIGH_LEVEL, 0, LAND))
    found = bench.run(0.1)
    assert found is not None and found.vel_m_s[0] == 0.1, "the stream still has it"
    bench.firmware.told(Packet(GENERIC, 1, NOTIFY))
    found = bench.run(0.3)
    assert found is not None and 0.0 < found.pos_m[2] < 0.5 and found.vel_m_s[2] < 0
    assert bench.run(1.0) is None, "at the end of a landing the motors stop"
    bench.run(2.2)
    assert bench.state is Super.READY, "and it does not lock"


def test_a_landing_is_smooth_from_end_to_end():
    bench = Bench()
    bench.firmware.told(Packet(HIGH_LEVEL, 0, LAND))
    route = bench.firmware.route
    assert route is not None
    times = np.linspace(route.began_s, route.began_s + 1.0, 2001)
    pos, vel, accel = (np.array([route.at(t)[i] for t in times])[:, 2] for i in range(3))
    np.testing.assert_allclose(np.gradient(pos, times)[1:-1], vel[1:-1], atol=1e-3)
    np.testing.assert_allclose(np.gradient(vel, times)[1:-1], accel[1:-1], atol=5e-3)
    np.testing.assert_allclose([pos[0], pos[-1], vel[0], vel[-1], accel[0], accel[-1]], [0.5, 0, 0, 0, 0, 0], atol=1e-9)


@pytest.mark.parametrize("command", [b"\x03", b"\x04"])
def test_emergencies_lock(command: bytes):
    bench = Bench()
    bench.run(0.1, FULL)
    bench.firmware.told(Packet(SUPERVISOR, 1, command))
    bench.run(0.9, FULL)
    assert (bench.state is Super.LOCKED) is (command == b"\x03"), "the watchdog waits for a second"
    bench.run(0.2, FULL)
    assert bench.state is Super.LOCKED


def test_a_vehicle_that_has_to_be_armed_waits_for_it():
    bench = Bench(auto_arm=False)
    assert bench.run(0.1, FULL) is None and bench.state is Super.PASSED
    (answer,) = bench.firmware.told(Packet(SUPERVISOR, 1, b"\x01\x01"))
    assert answer.data == b"\x81\x01\x01"
    assert bench.run(0.1, FULL) is not None and bench.state is Super.FLYING
    bench.firmware.told(Packet(SUPERVISOR, 1, b"\x01\x00"))
    bench.run(0.1, FULL)
    assert bench.state is Super.LOCKED, "disarmed in flight"


def test_a_vehicle_that_refuses_says_so():
    bench = Bench(auto_arm=False, refuses=True)
    (answer,) = bench.firmware.told(Packet(SUPERVISOR, 1, b"\x01\x01"))
    assert answer.data == b"\x81\x00\x00" and bench.state is Super.PASSED


def test_attitudes_are_locked_until_their_thrust_was_zero():
    bench, packet = Bench(), struct.pack("<fffH", 10.0, -20.0, 30.0, 40000)
    bench.firmware.told(Packet(3, 0, packet))
    found = bench.run(DT_S)
    assert found is not None and found.pwm == 0
    bench.firmware.told(Packet(3, 0, struct.pack("<fffH", 0, 0, 0, 0)))
    bench.firmware.told(Packet(3, 0, packet))
    found = bench.run(DT_S)
    assert found is not None and found.pwm == 40000
    np.testing.assert_allclose(np.rad2deg(found.roll_pitch_rad), [10.0, 20.0])  # the packet's pitch is nose up
    assert np.rad2deg(found.yaw_rate_rad_s) == pytest.approx(-30.0)  # and its yaw clockwise


def test_quaternions_are_packed_as_cflib_packs_them():
    encoding = pytest.importorskip("cflib.utils.encoding")
    quats = np.random.default_rng(0).normal(size=(200, 4))
    for quat in quats / np.linalg.norm(quats, axis=-1, keepdims=True):
        packed = packed_quat(quat)
        assert packed == encoding.compress_quaternion(np.roll(quat, -1))
        back = unpacked_quat(packed)
        assert abs(float(back @ quat)) > 1 - 1e-5
        np.testing.assert_allclose(np.roll(back, -1), encoding.decompress_quaternion(packed), atol=1e-9)


@pytest.fixture
def server() -> CrtpServer:
    return CrtpServer(
        {"ctrlMel.mass": ("f", 0.029), "stabilizer.controller": ("B", 1)}, {"pm.vbat": "f"}, lambda p: [p]
    )


def test_it_says_who_it_is(server: CrtpServer):
    assert server.answer(Packet(LINK, 1, b"\0"))[0].data.startswith(b"Bitcraze Crazyflie")
    assert server.answer(Packet(PLATFORM, 1, b"\0"))[0].data == b"\0\x0c"
    assert server.answer(Packet(LINK, 0, b"ping"))[0].data == b"ping"
    assert decoded(b"\xff").port == LINK and server.answer(decoded(b"\xff")), "a scan is answered"


def test_parameters_are_listed_read_and_written(server: CrtpServer):
    (info,) = server.answer(Packet(PARAM, 0, b"\x03"))
    assert struct.unpack_from("<BH", info.data) == (3, 2)
    (item,) = server.answer(Packet(PARAM, 0, b"\x02\0\0"))
    assert item.data == b"\x02\0\0\x06ctrlMel\0mass\0"
    server.answer(Packet(PARAM, 2, b"\0\0" + struct.pack("<f", 0.033)))
    (value,) = server.answer(Packet(PARAM, 1, b"\0\0"))
    assert struct.unpack("<HBf", value.data) == (0, 0, pytest.approx(0.033))
    assert server.answer(Packet(PARAM, 1, b"\x09\0"))[0].data == b"\x09\0\x02", "there is none"


def test_log_blocks_come_when_they_are_due(server: CrtpServer):
    server.answer(Packet(LOG, 1, b"\x06\x01\x77\0\0"))
    assert server.due(0.0, lambda: {"pm.vbat": 3.9}) == []
    assert server.answer(Packet(LOG, 1, b"\x03\x01\x02"))[0].data == b"\x03\x01\0"
    (row,) = server.due(1.0, lambda: {"pm.vbat": 3.9})
    assert row.data[:4] == b"\x01" + (1000).to_bytes(3, "little")
    assert struct.unpack("<f", row.data[4:])[0] == pytest.approx(3.9)
    assert server.due(1.01, lambda: {"pm.vbat": 3.9}) == [] != server.due(1.03, lambda: {"pm.vbat": 3.9})


@pytest.mark.parametrize("raw", [b"\x5d", b"\x5d\x03", b"\x2d\x01", b"\x2c\x02", b"\x7c"])
def test_a_packet_that_is_too_short_does_no_harm(server: CrtpServer, raw: bytes):
    server.answer(decoded(raw))
