"""Tracks of teams on `mujoco` whose parameters are known: what identification has to find again."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from robomarl.domains.flight.lab.engines.mujoco import MujocoTeam
from robomarl.domains.flight.lab.engines.mujoco_bodies import MujocoBodies
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.field.track import RobotTrack
from robomarl.lab.evaluate.pilots import make_pilot

ROBOT = ("mass_scale", "thrust_scale", "rotor_tau_scale", "delay_s", "noise_scale", "packet_loss")
TEAM = ("wind_x_m_s", "wind_y_m_s", "gust_m_s")


def draw_planted(scenario: FlightScenario, teams: int, seed: int) -> dict[str, np.ndarray]:
    """Parameters [E, N] of teams: drawn from twice the scenario's ranges of vehicles, of the rest from its own."""
    rng, ranges, shape = np.random.default_rng(seed), scenario.randomize, (teams, scenario.count)
    found = {}
    for name in ROBOT:
        low, high = getattr(ranges, name)
        if name in ("mass_scale", "thrust_scale"):
            low, high = low - (high - low) / 4, high + (high - low) / 4
        found[name] = rng.uniform(low, high, shape)
    found["delay_s"] = np.round(found["delay_s"] / scenario.physics_dt_s) * scenario.physics_dt_s
    size, angle = rng.uniform(*ranges.wind_m_s, (teams, 1)), rng.uniform(0, 2 * np.pi, (teams, 1))
    found["wind_x_m_s"], found["wind_y_m_s"] = size * np.cos(angle), size * np.sin(angle)
    found["gust_m_s"] = rng.uniform(*ranges.gust_m_s, (teams, 1))
    return {name: value + np.zeros(shape) for name, value in found.items()}


def fly_planted(
    scenario: FlightScenario,
    policy: Any,
    planted: dict[str, np.ndarray],
    episodes: int,
    seed: int,
    bodies: Callable[[FlightScenario, int], MujocoBodies] = MujocoBodies,
) -> list[list[RobotTrack]]:
    """The tracks of each team's robots, a flight for each episode; all vehicles stay the same.

    `bodies` makes what moves, from scenario and number of teams.
    """
    longest = max(scenario.randomize.delay_s[1], float(planted["delay_s"].max()))
    roomy = dataclasses.replace(scenario, randomize=dataclasses.replace(scenario.randomize, delay_s=(0.0, longest)))
    teams = len(planted["delay_s"])
    sim, pilot = MujocoTeam(roomy, teams, seed), make_pilot(policy, scenario, "full")
    sim.bodies = bodies(roomy, teams)
    rng = np.random.default_rng(seed)
    found: list[list[RobotTrack]] = [[] for _ in range(teams)]
    for flight in range(episodes):
        world = with_planted(roomy, sim.reset(), planted)
        blown = rng.normal(size=(3, teams, scenario.count)) * planted["gust_m_s"]  # wind blows before a flight
        gusts = blown.astype(np.float32)
        sim.set_world(world._replace(gust_m_s=(gusts[0], gusts[1], gusts[2])))
        for team, tracks in enumerate(_episode(sim, pilot, flight)):
            found[team] += tracks
    return found


def with_planted(scenario: FlightScenario, world: FlightWorld, planted: dict[str, np.ndarray]) -> FlightWorld:
    """The same start with these vehicles and this weather."""
    p = {name: np.asarray(value, np.float32) for name, value in planted.items()}
    vehicle, hidden = scenario.vehicle_config, world.hidden
    physics = hidden.physics._replace(
        mass_kg=vehicle.body.mass_kg * p["mass_scale"],
        thrust_scale=p["thrust_scale"],
        rotor_tau_s=vehicle.rotors.time_constant_s * p["rotor_tau_scale"],
    )
    return world._replace(hidden=hidden._replace(
        physics=physics,
        delay_substeps=np.round(planted["delay_s"] / scenario.physics_dt_s).astype(np.int32),
        noise_scale=p["noise_scale"],
        packet_loss=p["packet_loss"],
        wind_m_s=(p["wind_x_m_s"], p["wind_y_m_s"], 0 * p["wind_x_m_s"]),
        gust_m_s=p["gust_m_s"],
    ))  # fmt: skip


def _episode(sim: MujocoTeam, pilot: Any, flight: int) -> list[list[RobotTrack]]:
    scenario, views = sim.scenario, sim.views()
    carry, rows, sent = pilot.init(views), [], []
    heard = np.zeros((sim.num_envs, scenario.count, 2), int)
    for _ in range(scenario.max_steps):
        views = sim.views()
        own = views.own
        rows.append(np.concatenate([own.pos_m, own.quat_wxyz, own.vel_m_s, own.omega_rad_s], -1).astype(float))
        carry, result = pilot.step(carry, views)
        sent.append(np.asarray(result.command, float))
        sim.step(result.command, pilot.plan(carry))
        fresh = sim.world.air.age_s <= scenario.radio.latency_s + 1e-6
        heard += np.stack([fresh.sum(-1), (~fresh).sum(-1)], -1)
    table, command = np.stack(rows, 2), np.stack(sent, 2)
    time_s = (flight * (scenario.max_steps + 100) + np.arange(scenario.max_steps)) * scenario.period_s
    return [
        [_track(f"robot_{i}", flight, time_s, table[e, i], command[e, i], heard[e, i]) for i in range(scenario.count)]
        for e in range(sim.num_envs)
    ]


def _track(
    name: str, flight: int, time_s: np.ndarray, state: np.ndarray, command: np.ndarray, heard: np.ndarray
) -> RobotTrack:
    pos, quat, vel, omega = np.split(state, [3, 7, 10], axis=-1)
    return RobotTrack(name, flight, time_s, pos, quat, vel, omega, time_s, command, *heard.tolist())
