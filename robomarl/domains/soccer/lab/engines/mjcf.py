"""The MuJoCo model of a game, built from the scenario and its vehicle file: no number is written
twice.

Everything moves in the plane: robots on two slides and a hinge, the ball on two slides, each with
an actuator. Contacts are MuJoCo's; they bounce as the file says because they are springs with too
little damping, for MuJoCo knows no coefficient of restitution. The carpet is no contact: MuJoCo's
friction cone presses a sliding ball away from the ground (one kicked at 5 m/s jumped 7 cm), so
the engine applies the ball's friction as a force.
"""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for its enumerations and for MjSpec.
import math

import mujoco
import numpy as np

from robomarl.domains.soccer.lab.physics.contact import ROBOT_RESTITUTION
from robomarl.domains.soccer.lab.scenario import SoccerScenario

BALL, ROBOT = 1, 2
"""Bits of the contact filter: bodies that touch the ball, and bodies that touch robots."""
CONTACT_STEPS = 20.0
"""Steps of MuJoCo that a bounce lasts: with 12 its restitution varied by 5 % with the instant that a step falls on."""
FACETS = 96
"""Corners of the disc that the ball meets."""
STIFF = np.array([0.999, 0.999, 0.001, 0.5, 2.0])
"""MuJoCo's `solimp`: contacts are the springs that `spring` works out, and nothing softer."""
BOARD_M = 0.2
"""Thickness of the boards."""


def build_game(scenario: SoccerScenario, looks: bool = False) -> mujoco.MjModel:
    """Compile the model: M robots `robot0`, ... (ours first), the ball `ball`, carpet and boards.

    Args:
        scenario: which vehicle, how many, the field, and the time step.
        looks: add parts that are only there to be seen.
    """
    spec = build_spec(scenario)
    if looks:
        add_looks(spec, scenario)
    return spec.compile()


def build_spec(scenario: SoccerScenario) -> mujoco.MjSpec:
    """Return the model before it is compiled; see `build_game`."""
    spec = mujoco.MjSpec()
    spec.modelname = scenario.name
    spec.option.timestep = 1.0 / scenario.rates.contact_hz
    spec.option.gravity = np.zeros(3)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.worldbody.add_geom(name="carpet", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.5], contype=0, conaffinity=0)
    add_boards(spec, scenario)
    hull = add_hull(spec, scenario)
    for i in range(scenario.players):
        add_robot(spec, scenario, i, hull)
    add_ball(spec, scenario)
    return spec


def add_boards(spec: mujoco.MjSpec, scenario: SoccerScenario) -> None:
    """Add boards along the sides and, but for the goals, the ends; the walls that stop robots also close the goals."""
    area = scenario.field
    end, side, post, thick = area.length_m / 2, area.width_m / 2, area.goal_width_m / 2, BOARD_M / 2
    bounce, stop = spring(scenario, area.restitution), spring(scenario, ROBOT_RESTITUTION)
    for sign in (-1, 1):
        for bits, solref in ((BALL, bounce), (ROBOT, stop)):
            _wall(spec, scenario, (0, sign * (side + thick), end + BOARD_M, thick), bits, solref)
        _wall(spec, scenario, (sign * (end + thick), 0, thick, side), ROBOT, stop)
        for part in (-1, 1):
            box = (sign * (end + thick), part * (post + side) / 2, thick, (side - post) / 2)
            _wall(spec, scenario, box, BALL, bounce)


def _wall(spec: mujoco.MjSpec, scenario: SoccerScenario, box: tuple[float, ...], bits: int, solref: np.ndarray) -> None:
    """A box with (x, y, half length, half width)."""
    high = scenario.robot.body.height_m / 2
    wall = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=[*box[:2], high], size=[*box[2:], high])
    wall.contype, wall.conaffinity, wall.condim, wall.priority = 0, bits, 1, 1
    wall.solref, wall.solimp = solref, STIFF
    wall.rgba = np.array([0.35, 0.3, 0.25, 1.0 if bits == BALL else 0.0])


def add_hull(spec: mujoco.MjSpec, scenario: SoccerScenario) -> str:
    """Add the mesh that the ball meets: a disc with its front cut off flat."""
    radius, face, height = scenario.robot.body.radius_m, scenario.kicker.face_m, scenario.robot.body.height_m
    corner = math.acos(face / radius)
    angles = np.linspace(corner, 2 * math.pi - corner, FACETS)
    rim = radius * np.stack([np.cos(angles), np.sin(angles)], -1)
    points = [[x, y, z] for z in (-height / 2, height / 2) for x, y in rim]
    spec.add_mesh(name="hull", uservert=np.array(points).ravel())
    return "hull"


def add_robot(spec: mujoco.MjSpec, scenario: SoccerScenario, index: int, hull: str) -> None:
    """One robot: a sphere for robots and boards, the hull for the ball.

    In the plane a sphere touches where a cylinder does, but MuJoCo finds its contacts in closed form. Those of a
    cylinder at a long board are searched for, and a wrong one now and then threw a robot with up to 98 m/s.
    """
    body_config, name = scenario.robot.body, f"robot{index}"
    body = spec.worldbody.add_body(name=name, pos=[0, 0, body_config.height_m / 2])
    inertia = body_config.mass_kg * body_config.radius_m**2 / 2
    body.mass, body.inertia = body_config.mass_kg, np.array([inertia] * 3)
    body.ipos, body.iquat, body.explicitinertial = np.zeros(3), np.array([1.0, 0, 0, 0]), True
    add_joints(spec, body, name, ("x", "y", "yaw"))
    disc = body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[body_config.radius_m, 0, 0])
    disc.mass, disc.contype, disc.conaffinity, disc.condim = 0.0, ROBOT, ROBOT, 1
    disc.solref, disc.solimp, disc.group = spring(scenario, ROBOT_RESTITUTION), STIFF, 3
    shell = body.add_geom(name=f"{name}_hull", type=mujoco.mjtGeom.mjGEOM_MESH, meshname=hull)
    shell.mass, shell.contype, shell.conaffinity, shell.condim = 0.0, 0, BALL, 1
    shell.solref, shell.priority, shell.solimp = spring(scenario, scenario.ball.restitution), 1, STIFF


def add_ball(spec: mujoco.MjSpec, scenario: SoccerScenario) -> None:
    """The ball: a sphere that slides in the plane; its spin is the engine's, as no contact changes it."""
    ball = scenario.ball
    body = spec.worldbody.add_body(name="ball", pos=[0, 0, ball.radius_m])
    body.mass, body.inertia = ball.mass_kg, np.array([0.4 * ball.mass_kg * ball.radius_m**2] * 3)
    body.ipos, body.iquat, body.explicitinertial = np.zeros(3), np.array([1.0, 0, 0, 0]), True
    add_joints(spec, body, "ball", ("x", "y"))
    geom = body.add_geom(name="ball", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[ball.radius_m, 0, 0])
    geom.mass, geom.contype, geom.conaffinity, geom.condim = 0.0, BALL, 0, 1
    geom.rgba = np.array([1.0, 0.45, 0.05, 1.0])


def add_joints(spec: mujoco.MjSpec, body: mujoco._specs.MjsBody, name: str, parts: tuple[str, ...]) -> None:
    """Joints in the plane, each with an actuator that makes a force [N] or torque [N m]."""
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    kinds = {"x": (slide, [1, 0, 0]), "y": (slide, [0, 1, 0]), "yaw": (hinge, [0, 0, 1])}
    for part in parts:
        body.add_joint(name=f"{name}_{part}", type=kinds[part][0], axis=kinds[part][1])
        spec.add_actuator(name=f"{name}_{part}", target=f"{name}_{part}", trntype=mujoco.mjtTrn.mjTRN_JOINT)


def spring(scenario: SoccerScenario, restitution: float) -> np.ndarray:
    """[2] MuJoCo's `solref` of a contact with this restitution: minus stiffness and minus damping over mass.

    A mass on a spring that can't pull, of natural frequency w and damping ratio z, leaves with exp(-z w t) of its
    speed, t being when the force ends; z follows by bisection. The bounce lasts `CONTACT_STEPS` steps.
    """
    low, high = 0.0, 0.999
    for _ in range(40):
        ratio = (low + high) / 2
        low, high = (ratio, high) if leaving_speed(ratio)[0] > restitution else (low, ratio)
    frequency = leaving_speed(low)[1] * scenario.rates.contact_hz / CONTACT_STEPS
    return np.array([-(frequency**2), -2 * low * frequency])


def leaving_speed(ratio: float) -> tuple[float, float]:
    """Speed after over speed before a bounce on a spring with this damping ratio, and how long it lasts [1 / w].

    The depth is exp(-z t) sin(d t) / d with d = sqrt(1 - z^2); the force, -(depth + 2 z speed), ends where its speed
    has become negative enough: tan(d t) = -2 z d / (1 - 2 z^2), in the second quadrant or on.
    """
    damped = math.sqrt(1 - ratio**2)
    phase = math.atan2(2 * ratio * damped, 2 * ratio**2 - 1)
    time = phase / damped
    speed = math.exp(-ratio * time) * (math.cos(phase) - ratio / damped * math.sin(phase))
    return -speed, time


def add_looks(spec: mujoco.MjSpec, scenario: SoccerScenario) -> None:
    """Colours, light, and the goals."""
    spec.geom("carpet").rgba = np.array([0.16, 0.42, 0.2, 1.0])
    for i in range(scenario.players):
        ours = i < scenario.count
        spec.geom(f"robot{i}_hull").rgba = np.array([0.1, 0.3, 0.85, 1.0] if ours else [0.95, 0.8, 0.1, 1.0])
    light = spec.worldbody.add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=[0.2, 0.15, -1])
    light.pos, light.diffuse = [0, 0, 5], [0.6] * 3
    spec.stat.center, spec.stat.extent = np.zeros(3), scenario.field.length_m
