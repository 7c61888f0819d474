"""The MuJoCo model of drones with rackets and a ball, built from the scenario and its vehicle file.

Each rotor is a motor at its own place. The racket is a cylinder that touches the ball alone. Its
contact is a spring with too little damping, because MuJoCo knows no coefficient of restitution.
"""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for its enumerations and for MjSpec.
import math

import mujoco
import numpy as np

from robomarl.domains.volleyball.lab.scenario import VolleyScenario

CONTACT_RAD_S = 600.0
"""Natural frequency of the contact's spring [rad/s]: a contact of 5 ms. It is that of steps of 0.5 ms; longer steps get
a softer spring in proportion."""
CONTACT_STEP_S = 0.0005
STIFF = np.array([0.9999, 0.9999, 0.001, 0.5, 2.0])
"""MuJoCo's `solimp`: the contact is the spring that `spring` works out, and nothing softer."""
HALF_M = 0.01
"""Half of the racket's thickness."""
HALVINGS = 50
"""Steps of the search for a damping ratio."""
LITTLE = 1e-8
"""Moment of inertia [kg m^2] of bodies that do not turn."""


def build_model(scenario: VolleyScenario) -> mujoco.MjModel:
    """Compile the model: robots `robot0`, ... on free joints, rotors in order, then the ball on three slides."""
    spec = mujoco.MjSpec()
    spec.modelname = scenario.name
    spec.option.timestep = 1.0 / scenario.rates.contact_hz
    spec.option.gravity = np.array([0.0, 0.0, -9.81])
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    for index in range(scenario.robots):
        add_drone(spec, scenario, index)
    if scenario.ball is not None:
        add_ball(spec, scenario)
    return spec.compile()


def add_drone(spec: mujoco.MjSpec, scenario: VolleyScenario, index: int) -> None:
    """Add one robot with its rotors and its racket."""
    vehicle, rotors = scenario.vehicle_config, scenario.vehicle_config.rotors
    body = spec.worldbody.add_body(name=f"robot{index}")
    body.add_freejoint(name=f"robot{index}")
    body.mass, body.inertia = vehicle.body.mass_kg, np.array(vehicle.body.inertia_kg_m2)
    body.ipos, body.explicitinertial = np.zeros(3), True
    for number, ((x, y), spin) in enumerate(zip(rotors.positions_m, rotors.spin, strict=True)):
        name = f"robot{index}_rotor{number}"
        body.add_site(name=name, pos=[x, y, 0])
        motor = spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_SITE, target=name)
        motor.gear = np.array([0, 0, 1, 0, 0, spin * rotors.torque_per_thrust_m])
    if scenario.racket is not None:
        racket = body.add_geom(name=f"racket{index}", type=mujoco.mjtGeom.mjGEOM_CYLINDER)
        racket.size = np.array([scenario.racket.radius_m, HALF_M, 0])
        racket.pos, racket.mass = np.array([0, 0, scenario.racket.above_m - HALF_M]), 0.0
        racket.contype, racket.conaffinity, racket.condim, racket.priority = 0, 1, 1, 1
        racket.solimp = STIFF


def add_ball(spec: mujoco.MjSpec, scenario: VolleyScenario) -> None:
    """Add the ball, which does not turn, and a sensor of the force on it."""
    assert scenario.ball is not None, "the caller has a ball"
    body = spec.worldbody.add_body(name="ball")
    for number, axis in enumerate(np.eye(3)):
        body.add_joint(name=f"ball{number}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    body.mass, body.inertia, body.explicitinertial = scenario.ball.mass_kg, np.full(3, LITTLE), True
    sphere = body.add_geom(name="ball", type=mujoco.mjtGeom.mjGEOM_SPHERE, mass=0.0)
    sphere.size = np.array([scenario.ball.radius_m, 0, 0])
    sphere.contype, sphere.conaffinity, sphere.condim = 1, 0, 1
    for index in range(scenario.robots):
        spec.add_sensor(
            name=f"distance{index}", type=mujoco.mjtSensor.mjSENS_GEOMDIST, objtype=mujoco.mjtObj.mjOBJ_GEOM,
            objname="ball", reftype=mujoco.mjtObj.mjOBJ_GEOM, refname=f"racket{index}", cutoff=1.0,
        )  # fmt: skip


def spring(scenario: VolleyScenario, restitution: float) -> tuple[float, float]:
    """Return MuJoCo's `solref` of a contact with this restitution: minus its stiffness and minus its damping.

    The contact ends when its force does, so the spring keeps exp(-tan s (pi - 2 s)) of the speed, where
    sin s is its damping ratio (Schwager and Poeschel, Granular Matter 9, 2007).
    """
    wanted, low, high = -math.log(max(min(restitution, 0.999), 0.01)), 0.0, math.pi / 2 - 1e-6
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if math.tan(middle) * (math.pi - 2 * middle) < wanted else (low, middle)
    natural = CONTACT_RAD_S * min(1.0, CONTACT_STEP_S * scenario.rates.contact_hz)
    return -natural * natural, -2 * math.sin(low) * natural
