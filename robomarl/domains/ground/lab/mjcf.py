"""Ground robots in MuJoCo: differential drives on two driven wheels and two that slide, with contact and friction;
omnidirectional robots as bodies with a servo on their velocity in the plane. Robots collide with each other.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.geometry import rotate, yaw_of
from robomarl.core.hardware.vehicle import DifferentialDrive, OmniRobot
from robomarl.core.types import Array
from robomarl.domains.ground.lab.drive import plane_twist, wheel_twist
from robomarl.domains.ground.lab.scenario import GroundScenario, GroundVehicle
from robomarl.lab.sim.model import Mujoco, TeamWorld

V = TypeVar("V", bound=GroundVehicle)

WHEEL_M = 0.016
"""Radius [m] of a driven wheel, of a GRITSBot; the vehicle file limits the speed of the wheel's rim."""
SERVO_S = 0.006
"""Time constant of the wheels' servo loop."""
ARMATURE_KG_M2 = 2e-5
"""Inertia of a motor's rotor behind its gear; without any, the simulated servo loop is not stable."""
OPTIONS = '<option integrator="implicitfast" cone="elliptic" impratio="20"/>'
BODY = 'contype="1" conaffinity="1"'


def robots_of(scenario: GroundScenario) -> Mujoco:
    """The model of a scenario's team."""
    vehicle, period_s = scenario.vehicle_config, scenario.period_s
    if isinstance(vehicle, DifferentialDrive):
        return _team(scenario, vehicle, _wheeled, _wheel_motors, _Wheels(vehicle, period_s))
    return _team(scenario, vehicle, _sliding, _slide_motors, _Slides(vehicle, period_s))


def _team(
    scenario: GroundScenario,
    vehicle: V,
    body: Callable[[V, int], str],
    motors: Callable[[V, int], str],
    bridge: "_Wheels | _Slides",
) -> Mujoco:
    """Return the model of a team, made of the text of each robot's body and motors."""
    floor = '<geom name="floor" type="plane" size="5 5 0.1" contype="2" conaffinity="2" condim="1" friction="0"/>'
    bodies = "".join(body(vehicle, i) for i in range(scenario.count))
    actuators = "".join(motors(vehicle, i) for i in range(scenario.count))
    walls = "".join(map(_obstacle, scenario.arena.obstacles))
    world = f"{OPTIONS}<worldbody>{floor}{walls}{bodies}</worldbody><actuator>{actuators}</actuator>"
    return Mujoco(f"<mujoco>{world}</mujoco>", bridge.joints, bridge.moved, bridge.control)


def _obstacle(obstacle: Obstacle) -> str:
    """Return an obstacle, with contact. A box with faces moved outwards has sharp corners here, and round ones in
    the filter.
    """
    start, far, radius = np.array(obstacle.from_m), np.array(obstacle.to_m or obstacle.from_m), obstacle.radius_m
    words = lambda numbers: " ".join(f"{x:g}" for x in numbers)  # noqa: E731
    if obstacle.kind == "box":
        return f'<geom type="box" pos="{words((start + far) / 2)}" size="{words((far - start) / 2 + radius)}" {BODY}/>'
    if obstacle.kind == "sphere":
        return f'<geom type="sphere" pos="{words(start)}" size="{radius:g}" {BODY}/>'
    return f'<geom type="capsule" fromto="{words((*start, *far))}" size="{radius:g}" {BODY}/>'


def _wheeled(vehicle: DifferentialDrive, i: int) -> str:
    """A cylinder on four balls: two are wheels, and those in front and behind have no friction."""
    body, half = vehicle.body, vehicle.drive.track_m / 2
    share, ahead = body.mass_kg, body.radius_m * 0.6
    hull = (
        f'<geom type="cylinder" size="{body.radius_m} {body.height_m / 2 - 0.005}" mass="{0.8 * share}" '
        f'pos="0 0 {body.height_m / 2 - WHEEL_M + 0.005}" {BODY} friction="0.2"/>'
    )
    ball = f'type="sphere" size="{WHEEL_M}" contype="2" conaffinity="2"'
    casters = "".join(f'<geom {ball} pos="{x} 0 0" mass="{0.02 * share}" condim="1"/>' for x in (ahead, -ahead))
    wheels = "".join(
        f'<body pos="0 {y} 0"><joint name="{side}{i}" type="hinge" axis="0 1 0" armature="{ARMATURE_KG_M2}"/>'
        f'<geom {ball} mass="{0.08 * share}" condim="3" friction="1.5"/></body>'
        for side, y in (("left", half), ("right", -half))
    )
    return f'<body name="robot{i}" pos="{i} 0 {WHEEL_M}"><freejoint/>{hull}{casters}{wheels}</body>'


def _wheel_motors(vehicle: DifferentialDrive, i: int) -> str:
    gain = vehicle.body.mass_kg * WHEEL_M**2 / SERVO_S
    return "".join(f'<velocity joint="{side}{i}" kv="{gain}"/>' for side in ("left", "right"))


def _sliding(vehicle: OmniRobot, i: int) -> str:
    body = vehicle.body
    axes = (("x", "slide", "1 0 0"), ("y", "slide", "0 1 0"), ("yaw", "hinge", "0 0 1"))
    joints = "".join(f'<joint name="{name}{i}" type="{kind}" axis="{axis}"/>' for name, kind, axis in axes)
    hull = f'type="cylinder" size="{body.radius_m} {body.height_m / 2}" mass="{body.mass_kg}"'
    return f'<body pos="0 0 {body.height_m / 2 + 0.01}">{joints}<geom {hull} {BODY}/></body>'


def _slide_motors(vehicle: OmniRobot, i: int) -> str:
    body = vehicle.body
    inertia = body.mass_kg * body.radius_m**2 / 2
    gains = (("x", body.mass_kg), ("y", body.mass_kg), ("yaw", inertia))
    return "".join(f'<velocity joint="{name}{i}" kv="{3 * mass / SERVO_S}"/>' for name, mass in gains)


class _Wheels:
    """Free bodies with two hinges each: qpos is place, attitude and the wheels' angles."""

    def __init__(self, vehicle: DifferentialDrive, period_s: float) -> None:
        self._vehicle, self._period_s, self._half_m = vehicle, period_s, vehicle.drive.track_m / 2

    def joints(self, world: TeamWorld) -> tuple[Array, Array]:
        place = world.pos_m + np.array([0, 0, WHEEL_M])
        rates = np.stack(self._rates(_forward(world), world.omega_rad_s[..., 2]), -1)
        return _flat(place, world.quat_wxyz, rates * 0), _flat(world.vel_m_s, world.omega_rad_s, rates)

    def moved(self, world: TeamWorld, qpos: Array, qvel: Array) -> TeamWorld:
        robots = world.pos_m.shape[-2]
        place, speed = qpos.reshape(-1, robots, 9), qvel.reshape(-1, robots, 8)
        return world._replace(
            pos_m=place[..., :3] - np.array([0, 0, WHEEL_M], np.float32),
            quat_wxyz=place[..., 3:7],
            vel_m_s=speed[..., :3],
            omega_rad_s=speed[..., 3:6],
        )

    def control(self, world: TeamWorld, command: Array) -> Array:
        own = world.own
        twist = wheel_twist(self._vehicle, self._period_s, world, own.command, own.most_m_s)
        return _flat(np.stack(self._rates(*twist), -1))

    def _rates(self, forward: Array, turn: Array) -> tuple[Array, Array]:
        across = turn * self._half_m
        return (forward - across) / WHEEL_M, (forward + across) / WHEEL_M


class _Slides:
    """Bodies on two slides and a hinge: qpos is x, y and heading."""

    def __init__(self, vehicle: OmniRobot, period_s: float) -> None:
        self._vehicle, self._period_s = vehicle, period_s

    def joints(self, world: TeamWorld) -> tuple[Array, Array]:
        yaw, turn = yaw_of(world.quat_wxyz)[..., None], world.omega_rad_s[..., 2:]
        return _flat(world.pos_m[..., :2], yaw), _flat(world.vel_m_s[..., :2], turn)

    def moved(self, world: TeamWorld, qpos: Array, qvel: Array) -> TeamWorld:
        place, speed = (part.reshape(-1, world.pos_m.shape[-2], 3) for part in (qpos, qvel))
        zero, half = place[..., :1] * 0, place[..., 2:] / 2
        return world._replace(
            pos_m=np.concatenate([place[..., :2], zero], -1),
            quat_wxyz=np.concatenate([np.cos(half), zero, zero, np.sin(half)], -1),
            vel_m_s=np.concatenate([speed[..., :2], zero], -1),
            omega_rad_s=np.concatenate([zero, zero, speed[..., 2:]], -1),
        )

    def control(self, world: TeamWorld, command: Array) -> Array:
        own = world.own
        velocity, turn = plane_twist(self._vehicle, self._period_s, world, own.command, own.most_m_s)
        return _flat(velocity, turn[..., None])


def _forward(world: TeamWorld) -> Array:
    ahead = rotate(world.quat_wxyz, np.array([1.0, 0.0, 0.0], np.float32))
    return (world.vel_m_s * ahead).sum(-1)


def _flat(*parts: Array) -> np.ndarray:
    """[E, N, ...] each, robot by robot, as [E, ...]."""
    joined = np.concatenate([np.asarray(part) for part in parts], -1)
    return joined.reshape(len(joined), -1)
