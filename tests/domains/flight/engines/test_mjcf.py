"""The compiled MuJoCo model against the vehicle file."""

# pyright: reportAttributeAccessIssue=false
import mujoco
import numpy as np
import pytest

from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.lab.engines.mjcf import build_model
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.sim.scenario import load_scenario

COUNT = 3


@pytest.fixture(scope="module")
def scenario() -> FlightScenario:
    return load_scenario(f"swap_{COUNT}")


@pytest.fixture(scope="module")
def model(scenario: FlightScenario) -> mujoco.MjModel:
    return build_model(scenario)


def test_bodies_are_the_vehicle_file(model: mujoco.MjModel, scenario: FlightScenario):
    body = scenario.vehicle_config.body
    assert (model.nbody, model.nq, model.nv, model.na) == (1 + COUNT, 7 * COUNT, 6 * COUNT, 0)
    for i in range(COUNT):
        found = model.body(f"robot{i}")
        assert found.mass[0] == body.mass_kg
        assert found.inertia == pytest.approx(body.inertia_kg_m2)
        assert np.array_equal(found.ipos, np.zeros(3))
        assert np.array_equal(found.iquat, [1, 0, 0, 0])
        assert model.geom(f"robot{i}").size[0] == body.radius_m


def test_rotors_are_the_vehicle_file(model: mujoco.MjModel, scenario: FlightScenario):
    rotors = scenario.vehicle_config.rotors
    assert model.nu == 4 * COUNT
    for i in range(COUNT):
        for k, (place, spin) in enumerate(zip(rotors.positions_m, rotors.spin, strict=True)):
            site, motor = model.site(f"robot{i}_rotor{k}"), model.actuator(f"robot{i}_rotor{k}")
            assert site.pos == pytest.approx([*place, 0])
            assert motor.id == 4 * i + k
            assert motor.trnid[0] == site.id
            assert motor.gear == pytest.approx([0, 0, 1, 0, 0, spin * rotors.torque_per_thrust_m])
            assert not motor.ctrllimited[0]


def test_world_is_the_scenario(model: mujoco.MjModel, scenario: FlightScenario):
    assert model.opt.timestep == scenario.physics_dt_s
    assert model.opt.gravity == pytest.approx([0, 0, -GRAVITY_M_S2])
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER
    assert model.opt.density == 0


def test_only_spheres_and_floor_touch(model: mujoco.MjModel):
    solid = [model.geom(i).name for i in range(model.ngeom) if model.geom_contype[i] or model.geom_conaffinity[i]]
    assert sorted(solid) == ["floor", "robot0", "robot1", "robot2"]


def lifted(model: mujoco.MjModel, thrust_n: np.ndarray) -> mujoco.MjData:
    """Three metres up, in a row, with the given rotor thrusts, one step's accelerations computed."""
    data = mujoco.MjData(model)
    data.qpos[2::7] = 3.0
    data.ctrl[:] = thrust_n
    mujoco.mj_forward(model, data)
    return data


def test_weight_over_four_hovers(model: mujoco.MjModel, scenario: FlightScenario):
    hover = scenario.vehicle_config.body.mass_kg * GRAVITY_M_S2 / 4
    assert lifted(model, np.full(4 * COUNT, hover)).qacc == pytest.approx(np.zeros(6 * COUNT), abs=1e-9)


@pytest.mark.parametrize("rotor", range(4))
def test_one_rotor_turns_the_body_by_hand(model: mujoco.MjModel, scenario: FlightScenario, rotor: int):
    vehicle = scenario.vehicle_config
    thrust = np.zeros(4 * COUNT)
    thrust[4 + rotor] = 0.05
    acc = lifted(model, thrust).qacc[6:12]
    x, y = vehicle.rotors.positions_m[rotor]
    torque = np.array([y, -x, vehicle.rotors.spin[rotor] * vehicle.rotors.torque_per_thrust_m]) * 0.05
    assert acc[2] == pytest.approx(0.05 / vehicle.body.mass_kg - GRAVITY_M_S2)
    assert acc[3:] == pytest.approx(torque / np.array(vehicle.body.inertia_kg_m2))


def test_contact_sensor_reads_pairs(model: mujoco.MjModel, scenario: FlightScenario):
    data, radius = mujoco.MjData(model), scenario.vehicle_config.body.radius_m
    data.qpos[2::7] = 3.0
    data.qpos[14:17] = data.qpos[7:10] + [1.9 * radius, 0, 0]
    mujoco.mj_forward(model, data)
    found = {model.sensor(i).name: data.sensordata[model.sensor(i).adr[0]] for i in range(model.nsensor)}
    assert found == {"contact_robot1_robot0": 0, "contact_robot2_robot0": 0, "contact_robot2_robot1": 1}
