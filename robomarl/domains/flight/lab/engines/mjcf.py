"""The MuJoCo model of a scenario, built from the scenario and its vehicle file: no number is written twice.

Every robot is a free body with the file's mass and inertia, one sphere for contacts, and one site with a
thrust actuator for each rotor, so that MuJoCo itself turns rotor thrusts into force and torque. Actuator
inputs are rotor thrusts in newtons, ordered robot by robot. Looks (arms, rotor discs, colours) have no mass
and no contacts, and are left out unless asked for.
"""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for its enumerations and for MjSpec.

import mujoco
import numpy as np

from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.hardware.vehicle import Vehicle
from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.lab.payload.mjcf import add_load
from robomarl.domains.flight.lab.scenario import FlightScenario

BODY_GROUP = 3
"""Geom group of the contact spheres: MuJoCo's viewers hide it at first."""
OBSTACLE_RGBA = (0.55, 0.42, 0.32, 1.0)


def build_model(scenario: FlightScenario) -> mujoco.MjModel:
    """Compile the scenario's model: N free bodies named `robot0`, `robot1`, ..., and a floor."""
    return build_spec(scenario).compile()


def build_spec(scenario: FlightScenario) -> mujoco.MjSpec:
    """Return the model before it is compiled, for callers that want to add to the model."""
    spec = mujoco.MjSpec()
    spec.modelname = scenario.name
    spec.option.timestep = scenario.physics_dt_s
    spec.option.gravity = np.array([0.0, 0.0, -GRAVITY_M_S2])
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.5])
    for i in range(scenario.count):
        _add_robot(spec, scenario.vehicle_config, i)
    for k, obstacle in enumerate(scenario.arena.obstacles):
        _add_obstacle(spec, obstacle, f"obstacle{k}")
    _add_contact_sensors(spec, scenario)
    if scenario.load and scenario.cables:
        add_load(spec, scenario.load, scenario.cables)
    return spec


def _add_robot(spec: mujoco.MjSpec, vehicle: Vehicle, index: int) -> None:
    name, height = f"robot{index}", 2 * vehicle.body.radius_m
    body = spec.worldbody.add_body(name=name, pos=[4 * height * index, 0, height])
    body.mass = vehicle.body.mass_kg
    body.inertia = np.array(vehicle.body.inertia_kg_m2)
    body.ipos = np.zeros(3)  # unset, MuJoCo takes the body's place in the world for it
    body.iquat = np.array([1.0, 0, 0, 0])
    body.explicitinertial = True
    body.add_freejoint(name=name)
    sphere = body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[vehicle.body.radius_m, 0, 0])
    sphere.mass, sphere.group, sphere.rgba = 0.0, BODY_GROUP, np.array([0.5, 0.5, 0.5, 0.2])
    rotors = vehicle.rotors
    for k, ((x, y), spin) in enumerate(zip(rotors.positions_m, rotors.spin, strict=True)):
        body.add_site(name=f"{name}_rotor{k}", pos=[x, y, 0], size=[0.002] * 3, group=BODY_GROUP)
        motor = spec.add_actuator(name=f"{name}_rotor{k}", target=f"{name}_rotor{k}", trntype=mujoco.mjtTrn.mjTRN_SITE)
        motor.gear = np.array([0, 0, 1, 0, 0, spin * rotors.torque_per_thrust_m])


def _add_obstacle(spec: mujoco.MjSpec, obstacle: Obstacle, name: str) -> None:
    """A body of the world. A box with faces moved outwards has sharp corners here, and round ones in the filter."""
    start, kinds = np.array(obstacle.from_m), mujoco.mjtGeom
    geom = spec.worldbody.add_geom(name=name, rgba=OBSTACLE_RGBA)
    if obstacle.to_m is None:
        geom.type, geom.pos, geom.size = kinds.mjGEOM_SPHERE, start, [obstacle.radius_m, 0, 0]
    elif obstacle.kind == "capsule":
        geom.type, geom.fromto = kinds.mjGEOM_CAPSULE, [*obstacle.from_m, *obstacle.to_m]
        geom.size = [obstacle.radius_m, 0, 0]
    else:
        far = np.array(obstacle.to_m)
        geom.type, geom.pos, geom.size = kinds.mjGEOM_BOX, (start + far) / 2, (far - start) / 2 + obstacle.radius_m


def contact_pairs(scenario: FlightScenario) -> list[tuple[str, str]]:
    """Names of the geoms between which a contact is a collision, in the order of the sensors."""
    solid = [f"obstacle{k}" for k in range(len(scenario.arena.obstacles))]
    return [(f"robot{i}", other) for i in range(scenario.count) for other in (*(f"robot{j}" for j in range(i)), *solid)]


def _add_contact_sensors(spec: mujoco.MjSpec, scenario: FlightScenario) -> None:
    """One reading for each pair: how many contacts MuJoCo found between them."""
    found = 1 << int(mujoco.mjtConDataField.mjCONDATA_FOUND)
    for one, other in contact_pairs(scenario):
        spec.add_sensor(
            name=f"contact_{one}_{other}",
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            objtype=mujoco.mjtObj.mjOBJ_GEOM,
            objname=one,
            reftype=mujoco.mjtObj.mjOBJ_GEOM,
            refname=other,
            intprm=[found, 0, 1],
        )
