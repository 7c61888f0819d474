"""The plant that flying vehicles are measured on: each alone on the `mujoco` engine of its scenario."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from robomarl.domains.flight.lab.engines.mujoco import MujocoTeam
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import positions, velocities
from robomarl.lab.plants.conditions import Condition
from robomarl.lab.plants.plants import Links, values

HIGH_M = 100.0
"""Height [m] of the start, where no vehicle meets the ground."""
FLIES = {"mass_scale": 1.0, "thrust_scale": 1.0, "rotor_tau_scale": 1.0, "wind_m_s": 0.0, "gust_m_s": 0.0}
"""Parameters of the section `randomize` that `Flyers` apply beside the delay, with their default values."""
CARRIES = {**FLIES, "load_mass_scale": 1.0}
"""`FLIES` for vehicles with a load."""


def felt_by_flyers(scenario: FlightScenario) -> tuple[str, ...]:
    """Parameters of the section `randomize` that change how a vehicle follows its commands, the delay left out."""
    return tuple(CARRIES if scenario.load else FLIES)


class Flyers:
    """Quadrotors; see `Plant`."""

    def __init__(self, scenario: FlightScenario, flights: int, seed: int, threads: int) -> None:
        """Compile the model.

        Args:
            scenario: rates, weather, vehicle and load are its own.
            flights: E.
            seed: of gusts and of delays that change.
            threads: of MuJoCo.
        """
        self._team = MujocoTeam(alone(scenario), flights, seed, threads)
        self._seed = seed
        self._width = len(self._team.scenario.command_limits[0])

    @property
    def period_s(self) -> float:
        """Time [s] between two decisions."""
        return self._team.scenario.period_s

    def start(self, conditions: Sequence[Condition], vel_m_s: np.ndarray) -> None:
        """Begin anew; the wind blows along x."""
        scenario, world = self._team.scenario, self._team.reset()
        vehicle, drawn = scenario.vehicle_config, values(conditions, CARRIES)
        self._links = Links(conditions, scenario.physics_dt_s, self._seed)
        physics = world.hidden.physics._replace(
            mass_kg=vehicle.body.mass_kg * drawn["mass_scale"],
            thrust_scale=drawn["thrust_scale"],
            rotor_tau_s=vehicle.rotors.time_constant_s * drawn["rotor_tau_scale"],
        )
        calm = 0 * drawn["wind_m_s"]
        hidden = world.hidden._replace(
            physics=physics, wind_m_s=(drawn["wind_m_s"], calm, calm), gust_m_s=drawn["gust_m_s"]
        )
        vel = tuple(np.asarray(vel_m_s.T, np.float32)[:, :, None])
        queue = (world.queue[0],) * (2 + self._links.longest // scenario.substeps)
        world = world._replace(body=world.body._replace(vel=vel), hidden=hidden, queue=queue)
        if scenario.load:
            heavier, load = scenario.load.mass_kg * drawn["load_mass_scale"][:, 0], world.carried
            rigid = load.rigid._replace(vel=tuple(v[:, 0] for v in vel))  # type: ignore[arg-type]
            load = load._replace(rigid=rigid, cargo=load.cargo._replace(mass_kg=heavier))
            world = world._replace(load=load)
            world = world._replace(control=world.control._replace(vel=vel))  # type: ignore[attr-defined]
        self._team.set_world(world)

    def motion(self) -> tuple[np.ndarray, np.ndarray]:
        """[E, 3] true positions [m] and velocities [m/s]."""
        body = self._team.world.body
        return positions(body)[:, 0].astype(float), velocities(body)[:, 0].astype(float)

    def step(self, accel_m_s2: np.ndarray, yaw_rate: np.ndarray) -> None:
        """One decision, [E, 3] and [E]; carriers keep their heading."""
        command = np.zeros((len(accel_m_s2), 1, self._width))
        command[:, 0, :3] = accel_m_s2
        if not self._team.scenario.load:
            command[:, 0, 3] = yaw_rate
        world = self._team.world
        # Only the links change: masses need no second preparation, so the episode is not begun anew.
        self._team._world = world._replace(hidden=world.hidden._replace(delay_substeps=self._links.draw()))
        self._team.step(command)


def alone(scenario: FlightScenario) -> FlightScenario:
    """Return the scenario with one vehicle, high up and at rest; under a load, with its share of the load straight
    below.
    """
    start = dataclasses.replace(scenario.start, jitter_m=0.0, speed_m_s=0.0, height_m=HIGH_M)
    single = dataclasses.replace(scenario, count=1, start=start)
    if scenario.load is None or scenario.cables is None:
        return single
    load, cables, share = scenario.load, scenario.cables, 1 / scenario.count
    top = max(p[2] for p in cables.load_points_m)
    here = dataclasses.replace(load.start, low_m=(0.0, 0.0, HIGH_M), high_m=(0.0, 0.0, HIGH_M), tilt_rad=0.0)
    inertia = tuple(share * j for j in load.inertia_kg_m2)
    com = (0.0, 0.0, load.com_m[2])
    part = dataclasses.replace(
        load,
        mass_kg=share * load.mass_kg,
        inertia_kg_m2=inertia,
        com_m=com,
        start=here,
        drag_n_s_m=share * load.drag_n_s_m,
    )
    hung = dataclasses.replace(
        cables,
        load_points_m=((0.0, 0.0, top),),
        spread_rad=0.0,
        start_slack=0.0,
        start_speed_m_s=0.0,
        start_tilt_rad=0.0,
    )
    return dataclasses.replace(single, load=part, cables=hung)
