"""A load on cables: the mathematics by hand, momentum, energy, length, crossings, starts, and files that are wrong."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportAssignmentType=false
# Vectors are tuples made in comprehensions here, whose length the checker does not know.

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.core.payload.scenario import check_load
from robomarl.domains.flight.core.payload.statics import grip_matrix, skew
from robomarl.domains.flight.lab.payload import dynamics
from robomarl.domains.flight.lab.payload.cables import crossed, turned
from robomarl.domains.flight.lab.payload.start import hanging, outward
from robomarl.domains.flight.lab.payload.state import NEVER_S, CargoParameters, Rigid, attitude, origin
from robomarl.domains.flight.lab.quadrotor import Physics, RigidVehicle, move
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.start import ROBOT_DRAWS, TEAM_DRAWS, num_cells, start_world
from robomarl.lab.sim.scenario import load_scenario

LIFTS = ["lift_3", "lift_4", "lift_6", "recover_3"]


@pytest.fixture(scope="module")
def lift() -> FlightScenario:
    return load_scenario("lift_3")


def start(scenario: FlightScenario, envs: int = 64, seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    shapes = [(envs, scenario.count, ROBOT_DRAWS), (envs, TEAM_DRAWS), (envs, num_cells(scenario))]
    return start_world(scenario, *(random.random(shape) for shape in shapes))


@pytest.mark.parametrize("name", LIFTS)
def test_starts_are_within_the_file_and_carry_the_load(name: str):
    scenario = load_scenario(name)
    world = start(scenario)
    load, box = world.load, scenario.load.start  # type: ignore[union-attr]
    place = origin(load.rigid, load.cargo.com_m)
    assert (place >= np.array(box.low_m) - 1e-6).all()
    assert (place <= np.array(box.high_m) + 1e-6).all()
    gap = np.stack(dynamics.stretch_out(scenario.cables, world.body, load.rigid, load.cargo).distance_m)  # type: ignore[arg-type]
    slack = 1 - scenario.cables.start_slack  # type: ignore[union-attr]
    assert (gap <= load.cargo.length_m + 1e-6).all()
    assert (gap >= slack * load.cargo.length_m - 1e-6).all()
    assert (load.cargo.cut_s == NEVER_S).all()
    assert world.queue[0].shape == (64, scenario.count, 5)


def test_what_is_randomized_of_the_load_is_in_its_range(lift: FlightScenario):
    cargo, ranges, section = start(lift).load.cargo, lift.randomize, lift.load
    points = np.array(lift.cables.load_points_m)  # type: ignore[union-attr]
    shift = np.stack(cargo.point_m, -1) - points
    drawn = {
        "load_mass_scale": cargo.mass_kg / section.mass_kg,  # type: ignore[union-attr]
        "load_com_m": np.hypot(cargo.com_m[0], cargo.com_m[1]),
        "cable_scale": cargo.length_m / lift.cables.length_m,  # type: ignore[union-attr]
        "attachment_m": np.linalg.norm(shift, axis=-1),
    }
    for name, values in drawn.items():
        low, high = getattr(ranges, name)
        assert (values >= low - 1e-6).all(), name
        assert (values <= high + 1e-6).all(), name
        assert np.ptp(values) > 0.5 * (high - low), name


def test_one_vehicle_is_lost_at_its_time(lift: FlightScenario):
    lost = dataclasses.replace(lift, randomize=dataclasses.replace(lift.randomize, cut_s=(2.0, 3.0)))
    cut = start(lost).load.cargo.cut_s
    assert ((cut < NEVER_S).sum(-1) == 1).all()
    assert cut.min() >= 2.0
    assert cut[cut < NEVER_S].max() <= 3.0
    assert len(set((cut < NEVER_S).argmax(-1))) == 3  # any of them


def hand_made(lift: FlightScenario) -> tuple[RigidVehicle, Rigid, CargoParameters]:
    """Two environments, three vehicles anywhere, moving and turning anyhow."""
    random = np.random.default_rng(1)

    def vec(size: int, shape: tuple, scale: float) -> tuple:
        return tuple(random.normal(0, scale, shape) for _ in range(size))

    def unit(shape: tuple) -> tuple:
        quat = np.stack(vec(4, shape, 1.0))
        return tuple(quat / np.linalg.norm(quat, axis=0))

    body = RigidVehicle(
        vec(3, (2, 3), 0.8), unit((2, 3)), vec(3, (2, 3), 0.5), vec(3, (2, 3), 1.0), vec(4, (2, 3), 0.0)
    )
    rigid = Rigid(vec(3, (2,), 0.1), unit((2,)), vec(3, (2,), 0.5), vec(3, (2,), 1.0))
    points = np.array(lift.cables.load_points_m)  # type: ignore[union-attr]
    never, one = np.full((2, 3), NEVER_S), np.ones((2, 3))
    com = (np.zeros(2), np.zeros(2), np.full(2, 0.06))
    return (
        body,
        rigid,
        CargoParameters(np.full(2, 1.4), com, tuple(points[:, i] * one for i in range(3)), 0.5 * one, never, never),
    )


def momenta(
    lift: FlightScenario, body: RigidVehicle, rigid: Rigid, cargo: CargoParameters
) -> tuple[np.ndarray, np.ndarray]:
    """Linear momentum, and angular momentum about the world's origin, of the whole system, [2, 3] each."""
    from robomarl.core.vectors import cross, to_world

    mass, inertia = lift.vehicle_config.body.mass_kg, lift.vehicle_config.body.inertia_kg_m2
    spin = to_world(body.quat, tuple(j * o for j, o in zip(inertia, body.omega, strict=True)))
    turning = to_world(rigid.quat, tuple(j * o for j, o in zip(lift.load.inertia_kg_m2, rigid.omega, strict=True)))  # type: ignore[union-attr]
    linear = [mass * v.sum(-1) + cargo.mass_kg * u for v, u in zip(body.vel, rigid.vel, strict=True)]
    orbit, swing = cross(body.pos, body.vel), cross(rigid.pos, rigid.vel)
    angular = [
        (mass * o + s).sum(-1) + cargo.mass_kg * w + t for o, s, w, t in zip(orbit, spin, swing, turning, strict=True)
    ]
    return np.stack(linear, -1), np.stack(angular, -1)


def coast(
    lift: FlightScenario, seconds: float, dt_s: float, damping: float | None = None
) -> list[tuple[RigidVehicle, Rigid]]:
    """Vehicles without thrust and the load fall together, cables pulling; nothing acts but gravity."""
    body, rigid, cargo = hand_made(lift)
    cables = lift.cables if damping is None else dataclasses.replace(lift.cables, damping_n_s_m=damping)  # type: ignore[type-var]
    assert cables is not None
    assert lift.load is not None
    physics = Physics(np.full((2, 3), lift.vehicle_config.body.mass_kg), np.zeros((2, 3)), np.ones((2, 3)))
    path = [(body, rigid)]
    for _ in range(round(seconds / dt_s)):
        found = dynamics.stretch_out(cables, body, rigid, cargo)
        tension = dynamics.spring_tension(cables, found, cargo, np.ones((2, 3)))
        pull, twist = dynamics.pull_on_load(rigid, found, tension)
        on_vehicles = dynamics.pull_on_vehicles(cables, body, found, tension)
        rigid = dynamics.move_load(lift.load, rigid, cargo, (pull, twist), dt_s)
        body = move(lift.vehicle_config, body, physics, on_vehicles, dt_s)
        path.append((body, rigid))
    return path


def test_cables_change_no_momentum(lift: FlightScenario):
    """Only gravity does: m g t; and about the origin its moment, by the trapezoid over the path of the centre."""
    dt_s, seconds = 2e-4, 0.2
    path, cargo = coast(lift, seconds, dt_s), hand_made(lift)[2]
    (before, turned_before), (after, turned_after) = (momenta(lift, *path[i], cargo) for i in (0, -1))
    mass = 3 * lift.vehicle_config.body.mass_kg + 1.4
    assert after - before == pytest.approx(np.broadcast_to([0, 0, -mass * GRAVITY_M_S2 * seconds], (2, 3)), abs=1e-6)
    vehicle = lift.vehicle_config.body.mass_kg
    centre = np.stack([[vehicle * b.pos[i].sum(-1) + 1.4 * r.pos[i] for i in range(3)] for b, r in path])
    moment = GRAVITY_M_S2 * np.stack([-centre[:, 1], centre[:, 0], 0 * centre[:, 0]], 1)
    expected = ((moment[1:] + moment[:-1]) / 2).sum(0).T * dt_s
    assert turned_after - turned_before == pytest.approx(expected, abs=1e-2)


def energy(lift: FlightScenario, body: RigidVehicle, rigid: Rigid, cargo: CargoParameters) -> np.ndarray:
    """Motion, height and stretch, [2]."""
    mass, inertia = lift.vehicle_config.body.mass_kg, lift.vehicle_config.body.inertia_kg_m2
    total = sum(0.5 * mass * (v**2).sum(-1) for v in body.vel) + sum(0.5 * cargo.mass_kg * v**2 for v in rigid.vel)
    total = total + sum(0.5 * j * (o**2).sum(-1) for j, o in zip(inertia, body.omega, strict=True))
    total = total + sum(0.5 * j * o**2 for j, o in zip(lift.load.inertia_kg_m2, rigid.omega, strict=True))  # type: ignore[union-attr]
    total = total + GRAVITY_M_S2 * (mass * body.pos[2].sum(-1) + cargo.mass_kg * rigid.pos[2])
    found = dynamics.stretch_out(lift.cables, body, rigid, cargo)  # type: ignore[arg-type]
    stretch = np.maximum(found.distance_m - cargo.length_m, 0)
    return total + 0.5 * lift.cables.stiffness_n_m * (stretch**2).sum(-1)  # type: ignore[union-attr]


def test_energy_is_kept_by_springs_and_lost_in_dampers(lift: FlightScenario):
    cargo = hand_made(lift)[2]
    kept = [energy(lift, *at, cargo) for at in coast(lift, 0.15, 1e-4, damping=0.0)[::1500]]
    assert kept[-1] == pytest.approx(kept[0], rel=2e-2)
    lost = np.stack([energy(lift, *at, cargo) for at in coast(lift, 0.15, 2e-4)[::50]])
    assert (np.diff(lost, axis=0) < 1e-2).all()
    assert (lost[-1] < lost[0] - 0.1).all()


def test_a_slack_cable_pulls_nothing_and_a_cut_one_neither(lift: FlightScenario):
    body, rigid, cargo = hand_made(lift)
    cables = lift.cables
    assert cables is not None
    found = dynamics.stretch_out(cables, body, rigid, cargo)
    long = cargo._replace(length_m=found.distance_m + 0.01)
    assert (dynamics.spring_tension(cables, found, long, np.ones((2, 3))) == 0).all()
    short = cargo._replace(length_m=found.distance_m - 0.01)
    still = found._replace(rate_m_s=found.rate_m_s * 0)
    taut = dynamics.spring_tension(cables, still, short, np.array([1.0, 0.0, 1.0]))
    assert taut[:, [0, 2]] == pytest.approx(np.full((2, 2), 0.01 * cables.stiffness_n_m))
    assert (taut[:, 1] == 0).all()


def cross_over(ends: list, later: list) -> bool:
    def parts(lines: list) -> Any:
        found = np.array(lines, float)  # [N, 2, 3]
        return tuple(found[None, :, 0, i] for i in range(3)), tuple(found[None, :, 1, i] for i in range(3))

    return bool(crossed(parts(ends), parts(later))[0])


def test_crossing_is_found_by_hand():
    """One vertical cable from (0, 0, 1) to the ground, one along x at half height that passes it, or misses it."""
    upright = [[0, 0, 1], [0, 0, 0]]
    before, after = [[-1, 0.1, 0.5], [1, 0.1, 0.5]], [[-1, -0.1, 0.5], [1, -0.1, 0.5]]
    assert cross_over([upright, before], [upright, after])
    assert not cross_over([upright, before], [upright, before])
    over = [[[x, y, 1.2] for x, y, _ in line] for line in (before, after)]
    assert not cross_over([upright, over[0]], [upright, over[1]])  # above its end
    beside = [[[x + 3, y, 0.5] for x, y, _ in line] for line in (before, after)]
    assert not cross_over([upright, beside[0]], [upright, beside[1]])


def test_turns_add_up_over_the_seam():
    angles = np.deg2rad(np.arange(0, 800, 30.0))
    seen = np.arctan2(np.sin(angles), np.cos(angles))
    assert sum(turned(a, b) for a, b in zip(seen, seen[1:], strict=False)) == pytest.approx(angles[-1], abs=1e-9)


@pytest.mark.parametrize("name", LIFTS)
def test_the_grip_holds_the_load_in_any_attitude(name: str):
    scenario = load_scenario(name)
    load, cables = scenario.load, scenario.cables
    assert load is not None
    assert cables is not None
    grip, arms = grip_matrix(load, cables), np.array(cables.load_points_m) - np.array(load.com_m)
    for up in ([0, 0, 1], [0.3, -0.4, math.sqrt(0.75)]):
        pull = grip @ np.array([*up, 1.0])
        assert pull.sum(0) == pytest.approx(load.mass_kg * GRAVITY_M_S2 * np.array(up), abs=1e-6)
        moment = sum(skew(arm) @ f for arm, f in zip(arms, pull, strict=True))
        assert moment == pytest.approx(np.zeros(3), abs=1e-9)


def test_hanging_tensions_by_hand(lift: FlightScenario):
    """Points at x = 0.27, 0.27, -0.27: the one alone carries half."""
    assert lift.load is not None
    assert lift.cables is not None
    lift_n = 1.4 * GRAVITY_M_S2 * np.array([0.25, 0.25, 0.5]) / math.cos(0.4)
    assert hanging(lift.load, lift.cables) == pytest.approx(lift_n, rel=1e-6)
    assert np.linalg.norm(outward(lift.cables), axis=-1) == pytest.approx(np.ones(3))


def test_the_load_frame_is_not_the_centre_of_mass(lift: FlightScenario):
    world = start(lift, 4)
    load = world.load
    from robomarl.core.geometry import rotate

    com = np.stack(load.cargo.com_m, -1)
    centre = origin(load.rigid, load.cargo.com_m) + rotate(attitude(load.rigid), com)
    assert centre == pytest.approx(np.stack(load.rigid.pos, -1), abs=1e-6)


@pytest.mark.parametrize(
    ("section", "values", "message"),
    [
        ("load", {"mass_kg": 5.0}, r"load.mass_kg = 5 is too heavy: 3 carrier_600 make 75 N, hovering takes 66.76 N .* "
         r"the load may weigh 4.57 kg"),
        ("cables", {"load_points_m": ((0.27, 0.22, 0.14), (0.27, 0.22, 0.141), (-0.27, 0.0, 0.14))},
         r"load_points_m\[0\] and \[1\] coincide \(0.1 cm apart\); put them at least 1 cm apart"),
        ("cables", {"length_m": 0.35}, r"cables.length_m = 0.35 is shorter than the vehicles' keep-out of 0.38 m"),
        ("cables", {"load_points_m": ((0.27, 0.22, 0.14),)}, r"has 1 points for count = 3 vehicles"),
        ("cables", {"stiffness_n_m": 300.0}, r"stretch by 1.5% at their working tension of 4.58 N; 1 % is the most"),
        ("cables", {"stiffness_n_m": 1e5}, r"too stiff for rates.physics_hz = 300"),
    ],
)  # fmt: skip
def test_bad_loads_are_refused_with_numbers(lift: FlightScenario, section: str, values: dict, message: str):
    parts = {"load": lift.load, "cables": lift.cables}
    parts[section] = dataclasses.replace(parts[section], **values)  # type: ignore[type-var]
    with pytest.raises(ValueError, match=message):
        check_load(parts["load"], parts["cables"], lift.vehicle_config, lift.count, lift.physics_dt_s)  # type: ignore[arg-type]


def test_a_heavy_load_is_refused_by_file_and_key(tmp_path: Any):
    file = tmp_path / "heavy.toml"
    file.write_text('extends = "lift_3"\n[load]\nmass_kg = 9.0\n')
    with pytest.raises(UserError, match=r"heavy.toml: load.mass_kg = 9 is too heavy"):
        load_scenario(str(file))


def test_a_vehicle_that_cannot_carry_and_half_a_load_are_named(tmp_path: Any):
    file = tmp_path / "half.toml"
    file.write_text('extends = "swap_4"\n[cables]\nlength_m = 1.0\nstiffness_n_m = 1e3\ndamping_n_s_m = 1.0\n'
                    "load_points_m = [[0, 0, 0]]\n")  # fmt: skip
    with pytest.raises(UserError, match=r"half.toml: load and cables belong together"):
        load_scenario(str(file))
