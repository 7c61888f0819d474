"""A Crazyflie's estimates are corrected as they come in, as they would be offline, and never over a hole."""

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("rclpy")

from robomarl.core.config import UserError
from robomarl.core.geometry import quat_from_yaw, quat_multiply, rotate, rotation_matrix, yaw_of
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io.fast_messages import odometry_reader
from robomarl.ros.io.messages import Estimate
from robomarl.ros.topics import ODOMETRY
from robomarl.vehicles.conversion.frames import quat_from_roll_pitch_yaw
from robomarl.vehicles.corrected.corrector import (
    EstimateCorrector,
    corrector_of,
    corrector_text,
    load_corrector,
    motion_of,
    refuse_corrector,
    width,
)
from robomarl.vehicles.corrected.stream import CLOCK_MS, CorrectedStream
from robomarl.vehicles.samples import StateSample
from robomarl.vehicles.vehicle_node import VehicleSeat
from tests.ros.vehicles.rig import Law

BACK_S = (0.0, 0.05, 0.1, 0.3)
START_MS = CLOCK_MS - 300  # the clock begins again on the way


def random_corrector(seed: int = 0) -> EstimateCorrector:
    weights = 0.02 * np.random.default_rng(seed).normal(size=(width(len(BACK_S)) + 1, 6))
    rows = tuple(map(tuple, weights.tolist()))
    return EstimateCorrector(1, "crazyflie_21", "firmware", BACK_S, rows, 9.0, 9.0, "drawn", ("none",), "", {})


def flown(seconds: float = 1.5, hz: int = 100, turned_rad: float = 0.0) -> list[tuple[StateSample, np.ndarray]]:
    """Estimates of one flight and its accelerometer, all turned about z."""
    turn, rows = quat_from_yaw(np.float64(turned_rad)), []
    for k in range(round(seconds * hz)):
        s = k / hz
        pos, vel = np.array([np.sin(2 * s), np.cos(3 * s), s]), np.array([2 * np.cos(2 * s), -3 * np.sin(3 * s), 1.0])
        tilt = quat_from_roll_pitch_yaw(np.array([0.3 * np.sin(4 * s), 0.2 * np.cos(5 * s), 0.4 * s]))
        omega, force = np.array([np.cos(4 * s), s, 0.4]), np.array([0.1 * s, np.sin(s), 9.8 + np.cos(6 * s)])
        own = Estimate(rotate(turn, pos), quat_multiply(turn, tilt), rotate(turn, vel), omega)
        rows.append((StateSample(own, s, (START_MS + round(1000 * s)) % CLOCK_MS), force))
    return rows


def streamed(stream: CorrectedStream, rows: list[tuple[StateSample, np.ndarray]]) -> list[Estimate | None]:
    """What the stream has for each row; None: nothing of that row."""
    found = []
    for sample, force in rows:
        stream.take_force(force, sample.vehicle_ms)
        stream.take(sample)
        new = stream.sample is not None and stream.sample.vehicle_ms == sample.vehicle_ms
        assert new == (stream.problem == "")
        found.append(stream.sample.estimate if new and stream.sample else None)
    return found


def test_the_stream_is_the_formula_of_whole_histories():
    corrector, rows = random_corrector(), flown()
    found = streamed(CorrectedStream(corrector), rows)
    assert [one is None for one in found] == [index < 30 for index in range(len(rows))]
    motion = np.stack(
        [
            motion_of(one.pos_m, one.vel_m_s, rotation_matrix(one.quat_wxyz), force, one.omega_rad_s)
            for one, force in ((sample.estimate, force) for sample, force in rows)
        ]
    )
    for index, (one, (sample, _)) in enumerate(zip(found, rows, strict=True)):
        if one is None:
            continue
        past = motion[[index - round(100 * back_s) for back_s in BACK_S]]
        velocity, place = corrector.errors(past, yaw_of(sample.estimate.quat_wxyz))
        np.testing.assert_allclose(one.vel_m_s, sample.estimate.vel_m_s + velocity, atol=1e-9)
        np.testing.assert_allclose(one.pos_m, sample.estimate.pos_m + place, atol=1e-9)
        assert np.linalg.norm(velocity) > 1e-3 and one.omega_rad_s is sample.estimate.omega_rad_s


def test_another_heading_turns_the_correction_and_changes_nothing_else():
    before, after = (streamed(CorrectedStream(random_corrector()), flown(turned_rad=turn)) for turn in (0.0, 2.0))
    turn = quat_from_yaw(np.float64(2.0))
    for one, other in zip(before[30:], after[30:], strict=True):
        assert one is not None and other is not None
        np.testing.assert_allclose(rotate(turn, one.vel_m_s), other.vel_m_s, atol=1e-12)
        np.testing.assert_allclose(rotate(turn, one.pos_m), other.pos_m, atol=1e-12)


def test_corrections_are_no_longer_than_any_that_was_seen():
    corrector, rows = replace(random_corrector(), most_m_s=0.01, most_m=0.02), flown()
    for one, (sample, _) in list(zip(streamed(CorrectedStream(corrector), rows), rows, strict=True))[30:]:
        assert one is not None
        assert np.linalg.norm(one.vel_m_s - sample.estimate.vel_m_s) <= 0.01 + 1e-12
        assert np.linalg.norm(one.pos_m - sample.estimate.pos_m) <= 0.02 + 1e-12


@pytest.mark.parametrize(("lost", "whole"), [(9, True), (10, False)])
def test_a_hole_begins_the_history_again(lost: int, whole: bool):
    """Up to 0.1 s lies between two rows of a whole history; none is given before it is full again."""
    rows = flown(2.0)
    del rows[60 : 60 + lost]
    stream = CorrectedStream(random_corrector())
    found = streamed(stream, rows)
    assert [one is None for one in found[30:]] == [not whole and 60 <= index < 90 for index in range(30, len(found))]


def test_estimates_without_an_accelerometer_or_out_of_order_are_not_corrected():
    rows, stream = flown(), CorrectedStream(random_corrector())
    streamed(stream, rows[:60])
    kept = stream.sample
    for sample, _ in rows[60:70]:
        stream.take(sample)
    assert stream.problem == "its history begins again: the accelerometer is silent"
    assert stream.sample is not None and stream.sample.vehicle_ms == rows[64][0].vehicle_ms != kept
    stream = CorrectedStream(random_corrector())
    streamed(stream, rows[:60])
    streamed(stream, rows[40:41])
    assert stream.problem == "its history begins again: a hole of -0.19 s"


def test_estimates_at_50_hz_with_losses_are_corrected_alike():
    rows = flown()
    whole = streamed(CorrectedStream(random_corrector()), rows)
    kept = [index for index in range(0, len(rows), 2) if index % 14]
    some = streamed(CorrectedStream(random_corrector()), [rows[index] for index in kept])
    pairs = [(whole[index], one) for index, one in zip(kept, some, strict=True) if one is not None]
    assert len(pairs) > 40
    for one, other in pairs:
        assert one is not None
        np.testing.assert_allclose(one.vel_m_s, other.vel_m_s, atol=2e-3)


def test_a_file_is_read_as_it_was_written_and_mistakes_are_one_sentence(tmp_path: Path):
    file, written = tmp_path / "c.json", random_corrector()
    file.write_text(corrector_text(written))
    assert load_corrector(str(file)) == written
    file.write_text(corrector_text(replace(written)).replace('"back_s": [0.0, 0.05, ', '"back_s": [0.0, '))
    with pytest.raises(UserError, match=r"c\.json: weights must be 43 rows of 6 finite numbers"):
        load_corrector(str(file))
    file.write_text("{")
    with pytest.raises(UserError, match=r"c\.json: is no corrector"):
        load_corrector(str(file))
    with pytest.raises(UserError, match="there is no such corrector; .*--corrector"):
        load_corrector("crazyflie_20_firmware")


def vehicle_file(folder: Path, corrector: str) -> str:
    text = Path("hardware_configs/vehicles/crazyflie_21.yaml").read_text()
    file = folder / "crazyflie_21.yaml"
    file.write_text(text.replace("corrector: crazyflie_21_firmware", f"corrector: {corrector}"))
    return str(file)


def test_a_vehicle_whose_corrector_is_missing_or_of_another_is_not_flown(tmp_path: Path):
    assert corrector_of(load_vehicle("crazyflie_21", "firmware")) is None
    ships = corrector_of(load_vehicle("crazyflie_21", "firmware_corrected"))
    assert ships is not None and ships.corrects == "firmware" and ships.back_s[-1] == 0.5
    file = tmp_path / "other.json"
    with pytest.raises(UserError, match=r"other\.json: there is no such corrector"):
        corrector_of(load_vehicle(vehicle_file(tmp_path, str(file)), "firmware_corrected"))
    file.write_text(corrector_text(replace(random_corrector(), vehicle="bee")))
    with pytest.raises(UserError, match=r"estimators\.firmware_corrected\.corrector was fitted to bee"):
        corrector_of(load_vehicle(vehicle_file(tmp_path, str(file)), "firmware_corrected"))
    file.write_text(corrector_text(replace(random_corrector(), corrects="gps")))
    with pytest.raises(UserError, match="corrects the estimator 'gps', which has no bounds there"):
        corrector_of(load_vehicle(vehicle_file(tmp_path, str(file)), "firmware_corrected"))
    with pytest.raises(UserError, match="mocap_node: estimator = 'firmware_corrected' is made by crazyflie_node"):
        refuse_corrector(load_vehicle("crazyflie_21", "firmware_corrected"), "mocap_node")


class SeatRig:
    """Two simulated Crazyflies in their adapter's seats; odometry of the first is heard over ROS."""

    def __init__(self, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
        from rclpy.executors import SingleThreadedExecutor

        from robomarl.vehicles import vehicle_node
        from tests.ros.vehicles.crazyrig import crazyflies
        from tests.ros.vehicles.px4rig import two_nodes

        peer, node = two_nodes(stack)
        self.executor = SingleThreadedExecutor(context=node.context)
        stack.callback(self.executor.shutdown)
        for each in (peer, node):
            self.executor.add_node(each)
        self.rig = stack.enter_context(crazyflies())
        monkeypatch.setattr(vehicle_node, "steady_now_s", lambda: self.rig.team.now_s)
        self._heard = Mailbox(peer, ODOMETRY, ODOMETRY.of("a", ""), odometry_reader("a"))
        self.streams = [CorrectedStream(random_corrector()) for _ in self.rig.links]
        self.seats, self.raw = [], dict[int, Estimate]()
        for name, link, flight, stream in zip("ab", self.rig.links, self.rig.flights, self.streams, strict=True):
            link.corrected = stream
            self.seats.append(VehicleSeat(node, name, link, flight, "crazyflie", stream))
        self.rig._tick = self._tick

    def _tick(self, law: Law | None) -> None:
        for index, (seat, flight) in enumerate(zip(self.seats, self.rig.flights, strict=True)):
            own, tick = flight.own, partial(type(flight).tick, flight)
            command = law(index, own) if law is not None and own is not None else None
            flight.tick = lambda heard, now_s, tick=tick, sent=command: tick(heard._replace(command=sent), now_s)
            seat.tick(True, False)
        self.executor.spin_once(timeout_sec=0.005)
        if (sample := self.rig.links[0].sample) is not None:
            self.raw[sample.vehicle_ms] = sample.estimate

    def heard(self) -> list[Estimate]:
        """Odometry since the last call."""
        for _ in range(20):
            self.executor.spin_once(timeout_sec=0.01)
        return [estimate for (estimate, _), _ in self._heard.take()]


def test_simulated_crazyflies_publish_the_corrected_estimate(monkeypatch: pytest.MonkeyPatch):
    """Through cflib, logs of the accelerometer, the guard, and ROS."""
    pytest.importorskip("cflib")
    pytest.importorskip("mujoco")
    with ExitStack() as stack:
        found = SeatRig(stack, monkeypatch)
        rig, seat, stream = found.rig, found.seats[0], found.streams[0]
        law = rig.fly(3.0)
        told, newest = found.heard(), stream.sample
        assert told and newest is not None
        np.testing.assert_allclose(told[-1].vel_m_s, newest.estimate.vel_m_s, atol=1e-6)
        own = found.raw[newest.vehicle_ms]
        assert np.linalg.norm(own.vel_m_s - newest.estimate.vel_m_s) > 5e-3
        assert np.allclose(own.quat_wxyz, newest.estimate.quat_wxyz)
        assert rig.flights[0].own is rig.links[0].sample, "the guard takes the firmware's own"
        assert seat.entry().message == "FLYING: ok"
        rig.team.peers[0].faults = {"unseen"}
        rig.run(0.2, law)
        rig.team.peers[0].faults = set()
        found.heard()
        rig.run(0.2, law)
        assert not found.heard() and "its history begins again: a hole of 0.2" in seat.entry().message
        rig.run(0.3, law)
        assert found.heard() and seat.entry().message == "FLYING: ok"


def test_a_crazyflie_without_the_kalman_filter_is_refused():
    pytest.importorskip("cflib")
    pytest.importorskip("mujoco")
    from robomarl_peers.crazyflie.crtp_peer import CrtpPeer
    from tests.ros.vehicles.crazyrig import crazyflies
    from tests.ros.vehicles.test_crazyflie_refused import comes

    with crazyflies() as rig:
        peer = rig.team.peers[0]
        assert isinstance(peer, CrtpPeer)
        peer.server.parameters["stabilizer.estimator"] = ("B", 1)
        for link in rig.links:
            link.corrected = CorrectedStream(random_corrector())
            link.open()
        assert comes(rig, lambda: "stabilizer.estimator to 2" in rig.flights[0].unfit), rig.whys


def test_a_packet_that_comes_again_or_late_changes_nothing():
    rows, stream = flown(), CorrectedStream(random_corrector())
    streamed(stream, rows[:60])
    before = stream.sample
    for sample, force in (rows[59], rows[55]):
        stream.take_force(force, sample.vehicle_ms)
        stream.take(sample)
    assert stream.sample is before and stream.problem == ""
    assert all(one is not None for one in streamed(stream, rows[60:70]))


def test_an_estimate_that_jumps_begins_the_history_again():
    """The vehicle's own filter was reset: what it said before belongs to another place."""
    rows, stream = flown(), CorrectedStream(random_corrector())
    streamed(stream, rows[:60])
    moved = [
        (replace(sample, estimate=sample.estimate._replace(pos_m=sample.estimate.pos_m + [0.5, 0, 0])), force)
        for sample, force in rows[60:]
    ]
    found = streamed(stream, moved)
    assert [one is None for one in found[:31]] == [True] * 30 + [False]
