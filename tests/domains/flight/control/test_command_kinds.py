"""What a carrier can be commanded: each kind against values worked out by hand, and who refuses which."""

# pyright: reportArgumentType=false

import dataclasses
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import Vehicle, load_vehicle
from robomarl.domains.flight.core.control.command_kinds import FLOWN, CommandConfig
from robomarl.domains.flight.core.control.indi import Reading, control_rotors, rest_control
from robomarl.domains.flight.core.control.mixer import wrench
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.payload import lift
from robomarl.domains.flight.lab.payload.controllers.centralized import LoadPosePolicy
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario

DT_S = 1 / 300
LEVEL = (1.0, 0.0, 0.0, 0.0)
TILTED = (float(np.cos(0.15)), float(np.sin(0.15)), 0.0, 0.0)
RECORDED = (2.562204422888006, 2.5373767085743646, 2.5713648952081756, 2.4043224813886943)
KINDS = (FLOWN, "acceleration", "velocity", "thrust_rates")


@pytest.fixture(scope="module")
def vehicle() -> Vehicle:
    return load_vehicle("carrier_600")


def asked(vehicle: Vehicle, kind: str, command: tuple, quat: tuple = LEVEL, vel: tuple = (0.0, 0.0, 0.0)) -> tuple:
    """Collective thrust over mass and torque that a vehicle at rest makes of a command; no cable pulls."""
    mass = vehicle.body.mass_kg
    reading = Reading(quat, vel, (0.0, 0.0, 0.0), (9.81 * mass / 4,) * 4)
    # Thrust, gravity and the outside add up to nothing: the estimate stays.
    outside = 9.81 * np.array([0.0, 0.0, 1.0]) - 9.81 * np.array([0, *_up(quat)])
    memory = rest_control(reading, tuple(outside.tolist()))
    _, rotors = control_rotors(vehicle, memory, reading, command, DT_S, CommandConfig(kind))
    thrust, torque = wrench(vehicle, rotors, 1.0)
    return thrust / mass, torque


def _up(quat: tuple) -> tuple[float, float]:
    w, x, _, _ = quat
    return -2 * w * x, 1 - 2 * x * x


def test_an_acceleration_without_rates_is_one_with_none(vehicle: Vehicle):
    for quat in (LEVEL, TILTED):
        alone = asked(vehicle, "acceleration", (0.4, -0.3, 0.2), quat)
        assert alone == asked(vehicle, FLOWN, (0.4, -0.3, 0.2, 0.0, 0.0), quat)
    thrust, torque = asked(vehicle, "acceleration", (0.0, 0.0, 1.2))
    assert thrust == pytest.approx(9.81 + 1.2)
    assert torque == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_a_velocity_is_an_acceleration_towards_it(vehicle: Vehicle):
    """3 times the error: 3 * (0.5 - 0.2) upwards; sideways 3 * 1.4 is cut off at the limit of 3."""
    vel = (-0.9, 0.0, 0.2)
    found = asked(vehicle, "velocity", (0.5, 0.0, 0.5), vel=vel)
    thrust, torque = asked(vehicle, "acceleration", (3.0, 0.0, 0.9), vel=vel)
    assert (found[0], *found[1]) == pytest.approx((thrust, *torque), abs=1e-12)
    assert asked(vehicle, "velocity", (0.0, 0.0, 0.5))[0] == pytest.approx(9.81 + 1.5)


def test_thrust_and_rates_go_straight_to_the_rotors(vehicle: Vehicle):
    """Torque is inertia times 25 / s times the error of the rate; nothing levels a vehicle that is tilted."""
    jx, jy, _ = vehicle.body.inertia_kg_m2
    for quat in (LEVEL, TILTED):
        thrust, torque = asked(vehicle, "thrust_rates", (12.0, 0.5, -0.2), quat)
        assert thrust == pytest.approx(12.0)
        assert torque == pytest.approx((jx * 25 * 0.5, jy * 25 * -0.2, 0.0), abs=1e-9)
    level = (0.0, 9.81 * np.sin(0.3), 9.81 * (1 - np.cos(0.3)))  # what pulled at it let go: upright again
    assert asked(vehicle, "acceleration", level, TILTED)[1][0] < -0.05


def test_what_is_flown_has_not_changed(vehicle: Vehicle):
    """Recorded before there were kinds; another machine's exp may differ in the last bit."""
    quat = np.array([0.99, 0.05, 0.06, 0.1])
    quat = tuple((quat / np.linalg.norm(quat)).tolist())
    reading = Reading(quat, (0.1, 0.2, 0.3), (0.1, -0.2, 0.05), (2.4, 2.5, 2.6, 2.3))
    memory = rest_control(reading, (0.0, 0.0, -7.0))
    rotors = ()
    for _ in range(5):
        memory, rotors = control_rotors(vehicle, memory, reading, (0.5, -0.3, 0.2, 0.1, -0.1), DT_S)
    assert rotors == pytest.approx(RECORDED, rel=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_floats_numpy_and_jax_give_the_same(vehicle: Vehicle, kind: str):
    size, config = len(CommandConfig(kind).elements), CommandConfig(kind)
    command, rotors = (0.4, -0.3, 0.2, 0.1, -0.1)[:size], (2.0, 2.1, 2.2, 2.3)
    one = Reading(TILTED, (0.1, 0.2, -0.3), (0.1, 0.0, 0.2), rotors)
    expected = control_rotors(vehicle, rest_control(one, (0.0, 0.1, -5.0)), one, command, DT_S, config)[1]
    for make, exact in ((lambda c: np.full(2, c), 1e-12), (lambda c: jnp.full(2, c), 1e-4)):
        many = Reading(*(tuple(make(c) for c in part) for part in one))
        memory = rest_control(many, tuple(make(c) for c in (0.0, 0.1, -5.0)))
        found = control_rotors(vehicle, memory, many, tuple(make(c) for c in command), DT_S, config)[1]
        np.testing.assert_allclose(np.stack(found)[:, 1], expected, atol=exact)


def scenario(kind: str, **more: float) -> FlightScenario:
    return dataclasses.replace(load_scenario("lift_3"), command=CommandConfig(kind, **more))


def test_limits_and_names_are_those_of_the_kind():
    hover = (0.6017 + 1.4 / 3) / 0.6017 * 9.81
    low, high = scenario("thrust_rates", rate_rad_s=2.0).command_limits
    np.testing.assert_allclose(low, [0.0, -2.0, -2.0], atol=1e-5)
    np.testing.assert_allclose(high, [2 * hover, 2.0, 2.0], rtol=1e-6)
    assert scenario("thrust_rates").rest_command == pytest.approx((hover, 0.0, 0.0))
    low, high = scenario("velocity", speed_m_s=0.7).command_limits
    np.testing.assert_allclose([low, high], [[-0.7] * 3, [0.7] * 3], rtol=1e-6)
    names = [[field.name for field in task_of(s).action(s).fields] for s in map(scenario, KINDS)]
    accelerations = [f"acceleration.{axis}" for axis in "xyz"]
    assert names[:2] == [[*accelerations, "rate.x", "rate.y"], accelerations]
    assert names[2:] == [[f"velocity.{axis}" for axis in "xyz"], ["thrust", "rate.x", "rate.y"]]


@pytest.mark.parametrize(("engine", "kind"), [*(("mujoco", kind) for kind in KINDS), ("fast", "thrust_rates")])
def test_a_team_at_rest_stays_where_it_is(engine: str, kind: str):
    """The command that is in force first holds each vehicle up with its part of the load."""
    flown = scenario(kind)
    team = make_team(flown, engine, 2, 0)
    team.reset()
    command = np.broadcast_to(np.array(flown.rest_command, np.float32), (2, 3, len(flown.rest_command)))
    start = np.array(team.world.body.pos[2])
    for _ in range(15):
        team.step(command)
    np.testing.assert_allclose(team.world.body.pos[2], start, atol=0.03)


def test_who_knows_accelerations_only_says_so():
    other = scenario("velocity")
    for refuse in (safety_params, lift.law, LoadPosePolicy):
        with pytest.raises(UserError, match=r"lift_3.toml: command.kind = 'velocity', but the .* knows"):
            refuse(other)
    assert safety_params(scenario(FLOWN))


def test_the_section_is_read_and_belongs_to_loads(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text('extends = "lift_3"\n[command]\nkind = "thrust_rates"\n')
    assert load_scenario(str(file)).command == CommandConfig("thrust_rates")
    file.write_text('extends = "lift_3"\n[command]\nkind = "torque"\n')
    with pytest.raises(UserError, match=r"mine.toml: command.kind"):
        load_scenario(str(file))
    file.write_text('extends = "swap_4"\n[command]\nkind = "velocity"\n')
    with pytest.raises(UserError, match="where nothing is carried"):
        load_scenario(str(file))
