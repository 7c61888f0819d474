"""The controller under a load: it holds against any force, turns as told, and is one function for all arrays."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportAssignmentType=false
# Vectors are tuples made in comprehensions here, whose length the checker does not know.

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.core.hardware.vehicle import Vehicle, load_vehicle
from robomarl.core.types import GRAVITY_M_S2
from robomarl.core.vectors import to_world, up_axis
from robomarl.domains.flight.core.control.indi import Control, Reading, control_rotors, rest_control
from robomarl.domains.flight.core.control.mixer import wrench
from robomarl.domains.flight.lab.quadrotor import Physics, RigidVehicle, move, rotor_memory, spin_rotors

DT_S = 1 / 300


@pytest.fixture(scope="module")
def vehicle() -> Vehicle:
    return load_vehicle("carrier_600")


def level(vehicle: Vehicle, thrust_n: float) -> RigidVehicle:
    zero = np.zeros(())
    return RigidVehicle((zero,) * 3, (zero + 1, zero, zero, zero), (zero,) * 3, (zero,) * 3, (zero + thrust_n / 4,) * 4)


def reading(body: RigidVehicle) -> Reading:
    return Reading(body.quat, body.vel, body.omega, body.rotors)


def fly(
    vehicle: Vehicle, command: tuple, outside: tuple, seconds: float, scale: float = 1.0
) -> tuple[RigidVehicle, Control]:
    """One vehicle from hover under a constant force [N, world] and torque [N m, body], by hand."""
    body = level(vehicle, vehicle.body.mass_kg * GRAVITY_M_S2)
    control = rest_control(reading(body), (0.0, 0.0, 0.0))
    physics = Physics(np.array(vehicle.body.mass_kg * scale), np.array(1.0), np.array(0.033))
    memory = rotor_memory(physics.rotor_tau_s, DT_S)
    for _ in range(round(seconds / DT_S)):
        control, targets = control_rotors(vehicle, control, reading(body), command, DT_S)
        body = body._replace(rotors=spin_rotors(body.rotors, targets, memory))
        body = move(vehicle, body, physics, outside, DT_S)
    return body, control


STILL = (0.0, 0.0, 0.0, 0.0, 0.0)
NOTHING = (0.0, 0.0, 0.0)


@pytest.mark.parametrize("force", [(0.0, 0.0, -5.0), (2.0, -1.0, -4.0), (0.0, 3.0, 0.0)])
def test_a_steady_force_is_found_and_cancelled(vehicle: Vehicle, force: tuple):
    """After a transient the acceleration is what was asked for, and the estimate is force over mass."""
    before, _ = fly(vehicle, STILL, (force, NOTHING), 1.0)
    after, control = fly(vehicle, STILL, (force, NOTHING), 1.2)
    change = np.array(after.vel) - np.array(before.vel)
    assert change / 0.2 == pytest.approx(np.zeros(3), abs=0.02)
    assert np.array(control.external) == pytest.approx(np.array(force) / vehicle.body.mass_kg, abs=0.02)


def test_a_wrong_mass_is_taken_for_a_force(vehicle: Vehicle):
    before, _ = fly(vehicle, STILL, (NOTHING, NOTHING), 1.0, scale=1.1)
    after, _ = fly(vehicle, STILL, (NOTHING, NOTHING), 1.2, scale=1.1)
    assert (after.vel[2] - before.vel[2]) / 0.2 == pytest.approx(0.0, abs=0.02)


def test_acceleration_is_reached_under_a_pull(vehicle: Vehicle):
    command, pull = (1.5, -1.0, 0.5, 0.0, 0.0), ((0.5, 1.0, -5.0), NOTHING)
    before, _ = fly(vehicle, command, pull, 1.0)
    after, _ = fly(vehicle, command, pull, 1.2)
    change = (np.array(after.vel) - np.array(before.vel)) / 0.2
    assert change == pytest.approx(np.array(command[:3]), abs=0.02)


def test_the_inversion_cancels_a_torque(vehicle: Vehicle):
    """A cable tied off-centre twists: the vehicle stays level under a constant roll and pitch torque."""
    body, control = fly(vehicle, STILL, (NOTHING, (0.05, -0.03, 0.0)), 1.5)
    assert np.array(up_axis(body.quat))[:2] == pytest.approx(np.zeros(2), abs=2e-3)
    expected = np.array([0.05, -0.03]) / np.array(vehicle.body.inertia_kg_m2[:2])
    assert np.array(control.twist) == pytest.approx(expected, rel=0.02)


def test_rates_are_a_feed_forward_of_their_sign(vehicle: Vehicle):
    roll, _ = fly(vehicle, (0.0, 0.0, 0.0, 0.5, 0.0), (NOTHING, NOTHING), 0.15)
    pitch, _ = fly(vehicle, (0.0, 0.0, 0.0, 0.0, 0.5), (NOTHING, NOTHING), 0.15)
    assert roll.omega[0] > 0.02 > abs(roll.omega[1])
    assert pitch.omega[1] > 0.02 > abs(pitch.omega[0])


def test_it_rights_itself_from_upside_down(vehicle: Vehicle):
    body = level(vehicle, 0.0)._replace(quat=(np.array(0.05), np.array(0.9987), np.array(0.0), np.array(0.0)))
    control, physics = rest_control(reading(body), NOTHING), Physics(*(np.array(x) for x in (0.6017, 1.0, 0.033)))
    memory = rotor_memory(physics.rotor_tau_s, DT_S)
    for _ in range(300):
        control, targets = control_rotors(vehicle, control, reading(body), STILL, DT_S)
        body = move(
            vehicle, body._replace(rotors=spin_rotors(body.rotors, targets, memory)), physics, (NOTHING,) * 2, DT_S
        )
    assert up_axis(body.quat)[2] > 0.99


def test_heading_is_turned_to_zero(vehicle: Vehicle):
    half = 0.4
    quat = (np.cos(half), np.array(0.0), np.array(0.0), np.sin(half))
    body = level(vehicle, 5.9)._replace(quat=quat)
    _, targets = control_rotors(vehicle, rest_control(reading(body), NOTHING), reading(body), STILL, DT_S)
    _, torque = wrench(vehicle, targets, np.array(1.0))
    assert torque[2] < -1e-3


def test_numpy_and_jax_give_the_same_and_within_limits(vehicle: Vehicle):
    random = np.random.default_rng(0)

    def draw(size: int, scale: float) -> tuple:
        return tuple(random.normal(0, scale, (4, 3)).astype(np.float32) for _ in range(size))

    quat = np.stack(draw(4, 1.0))
    quat = tuple(quat / np.linalg.norm(quat, axis=0))
    rotors = tuple(np.abs(r) for r in draw(4, 2.0))
    seen = Reading(quat, draw(3, 1.0), draw(3, 1.0), rotors)
    control = Control(draw(3, 1.0), draw(3, 1.0), draw(2, 5.0), draw(2, 5.0), draw(3, 3.0))
    command = draw(5, 1.0)
    kept, targets = control_rotors(vehicle, control, seen, command, DT_S)
    jax_parts = [type(p)(*(tuple(jnp.asarray(c) for c in v) for v in p)) for p in (control, seen)]
    kept2, targets2 = control_rotors(vehicle, *jax_parts, tuple(jnp.asarray(c) for c in command), DT_S)  # type: ignore[arg-type]
    assert np.stack(targets) == pytest.approx(np.stack(targets2), abs=2e-3)
    assert np.stack(kept.external) == pytest.approx(np.stack(kept2.external), abs=2e-3)
    low, high = vehicle.rotors.min_thrust_n, vehicle.rotors.max_thrust_n
    assert (np.stack(targets) >= low - 1e-6).all()
    assert (np.stack(targets) <= high + 1e-6).all()


def test_a_vehicle_without_gains_is_named():
    import dataclasses

    plain = dataclasses.replace(load_vehicle("carrier_600"), carrier=None)
    body = level(plain, 5.0)
    with pytest.raises(ValueError, match="carrier_600' has no section `carrier`"):
        control_rotors(plain, rest_control(reading(body), NOTHING), reading(body), STILL, DT_S)


def test_thrust_points_where_the_body_does(vehicle: Vehicle):
    """Tilted by 90 degrees with a wish to go up, the rotors do not push sideways."""
    quat = (np.sqrt(0.5), np.sqrt(0.5), np.array(0.0), np.array(0.0))
    assert np.array(to_world(quat, (0.0, 0.0, 1.0))) == pytest.approx([0, -1, 0], abs=1e-9)
    body = level(vehicle, 0.0)._replace(quat=quat)
    _, targets = control_rotors(vehicle, rest_control(reading(body), NOTHING), reading(body), STILL, DT_S)
    collective, torque = wrench(vehicle, targets, np.array(1.0))
    assert torque[0] < -0.1  # it turns upright
    assert collective < 14.0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31 - 1))
def test_floats_and_arrays_give_the_same(seed: int):
    """One vehicle on Python's floats, as a companion computer calls it, against arrays; the memory stays floats."""
    vehicle, random = load_vehicle("carrier_600"), np.random.default_rng(seed)
    quat = random.normal(size=4)
    parts = (quat / np.linalg.norm(quat), random.normal(size=3), random.normal(size=3), random.uniform(0.1, 6, 4))
    one = Reading(*(tuple(part.tolist()) for part in parts))
    many = Reading(*(tuple(np.full(2, c) for c in part) for part in parts))
    control, batch = rest_control(one, (0.1, -0.2, -7.0)), rest_control(many, tuple(map(np.array, (0.1, -0.2, -7.0))))
    command = random.uniform(-3, 3, 5)
    for _ in range(3):
        control, rotors = control_rotors(vehicle, control, one, tuple(command.tolist()), 1 / 300)
        batch, wide = control_rotors(vehicle, batch, many, tuple(command), 1 / 300)
        assert all(type(c) is float for part in (*control, rotors) for c in part)
        np.testing.assert_allclose([w[1] for w in wide], rotors, rtol=1e-12, atol=1e-12)
