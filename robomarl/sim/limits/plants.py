"""The plants that vehicles are measured on: one vehicle alone on the `mujoco` engine of its scenario."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from robomarl.domains.flight.engines.mujoco import MujocoTeam
from robomarl.domains.flight.world import positions, velocities
from robomarl.domains.soccer.batch import MujocoSoccer
from robomarl.domains.soccer.scenario import SoccerScenario
from robomarl.sim.limits.conditions import Condition
from robomarl.sim.limits.flight import Plant
from robomarl.sim.scenario import Scenario

HIGH_M = 100.0
"""Height of the start: nobody meets the ground."""
FIELD_M = 400.0
"""Length and width of the field: nobody meets the boards."""
FLIES = {"mass_scale": 1.0, "thrust_scale": 1.0, "rotor_tau_scale": 1.0, "wind_m_s": 0.0, "gust_m_s": 0.0}
"""What `Flyers` know of the section `randomize` beside the delay, and what it is where nothing is said."""
CARRIES = {**FLIES, "load_mass_scale": 1.0}
"""The same with a load."""
ROLLS = {"accel_scale": 1.0}
"""The same of `Players`."""


def known_names(scenario: Scenario | SoccerScenario) -> tuple[str, ...]:
    """Parameters of the section `randomize` that change how a vehicle of the scenario follows its commands."""
    if isinstance(scenario, SoccerScenario):
        return (*ROLLS, "delay_s")
    return (*(CARRIES if scenario.load else FLIES), "delay_s")


def make_plant(scenario: Scenario | SoccerScenario, flights: int, seed: int, threads: int = 1) -> Plant:
    """So many vehicles of the scenario, each alone; under a load each with its share of it."""
    kind = Players if isinstance(scenario, SoccerScenario) else Flyers
    return kind(scenario, flights, seed, threads)  # pyright: ignore[reportArgumentType]


class Links:
    """The radio links of E vehicles: their delays may change at every decision."""

    def __init__(self, conditions: Sequence[Condition], dt_s: float, seed: int) -> None:
        """Remember the ranges.

        Args:
            conditions: [E].
            dt_s: the physics' step.
            seed: of delays that change.
        """
        self._ends = np.round(np.array([c.delays_s for c in conditions]).T / dt_s).astype(np.int32)
        self._random = np.random.default_rng(seed)

    @property
    def longest(self) -> int:
        """Sub-steps."""
        return int(self._ends.max())

    def draw(self) -> np.ndarray:
        """[E, 1] sub-steps."""
        return self._random.integers(self._ends[0], self._ends[1] + 1)[:, None].astype(np.int32)


class Flyers:
    """Quadrotors; see `Plant`."""

    def __init__(self, scenario: Scenario, flights: int, seed: int, threads: int) -> None:
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
        """Between two decisions."""
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
            heavier = scenario.load.mass_kg * drawn["load_mass_scale"][:, 0]
            rigid = world.load.rigid._replace(vel=tuple(v[:, 0] for v in vel))  # type: ignore[attr-defined]
            cargo = world.load.cargo._replace(mass_kg=heavier)  # type: ignore[attr-defined]
            world = world._replace(load=world.load._replace(rigid=rigid, cargo=cargo))  # type: ignore[attr-defined]
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


def alone(scenario: Scenario) -> Scenario:
    """The scenario with one vehicle, high up and at rest; under a load, with its share of it straight below."""
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


class Players:
    """Robots of a game, each alone on a wide field with the ball and the others out of its way; see `Plant`."""

    def __init__(self, scenario: SoccerScenario, flights: int, seed: int, threads: int) -> None:
        """Compile the model; see `Flyers`."""
        field = dataclasses.replace(scenario.field, length_m=FIELD_M, width_m=FIELD_M)
        rules = dataclasses.replace(scenario.rules, stuck_s=1e6)  # the ball lies still, and the game goes on
        opponent = dataclasses.replace(scenario.opponent, roles=scenario.opponent.roles[:1])
        wide = dataclasses.replace(
            scenario, count=1, roles=scenario.roles[:1], opponent=opponent, field=field, rules=rules
        )
        self._sim, self._seed = MujocoSoccer(wide, flights, seed, threads), seed

    @property
    def period_s(self) -> float:
        """Between two decisions."""
        return self._sim.scenario.period_s

    def start(self, conditions: Sequence[Condition], vel_m_s: np.ndarray) -> None:
        """Begin anew, away from the ball; the opponent stays where it is."""
        scenario, game = self._sim.scenario, self._sim.reset()
        drawn = values(conditions, ROLLS)
        self._links = Links(conditions, scenario.physics_dt_s, self._seed)
        hidden = game.hidden._replace(accel_scale=drawn["accel_scale"] + 0 * game.hidden.accel_scale)
        robots = game.robots
        away = np.array([FIELD_M / 8, -FIELD_M / 8], np.float32) + 0 * robots.x
        moving = np.array([1.0, 0.0], np.float32) * np.asarray(vel_m_s[:, :2].T, np.float32)[..., None]
        robots = robots._replace(x=away, y=away, vx=moving[0], vy=moving[1], turn=0 * robots.turn)
        queue = (0 * game.queue[0],) * (2 + self._links.longest // scenario.substeps)
        self._sim.set_world(game._replace(robots=robots, hidden=hidden, queue=queue))

    def motion(self) -> tuple[np.ndarray, np.ndarray]:
        """[E, 3] true positions [m] and velocities [m/s]."""
        robots, still = self._sim.world.robots, 0 * self._sim.world.robots.x[:, 0]
        pos, vel = (robots.x[:, 0], robots.y[:, 0], still), (robots.vx[:, 0], robots.vy[:, 0], still)
        return np.stack(pos, -1).astype(float), np.stack(vel, -1).astype(float)

    def step(self, accel_m_s2: np.ndarray, yaw_rate: np.ndarray) -> None:
        """One decision, [E, 3] and [E]."""
        command = np.zeros((len(accel_m_s2), 2, 4))
        command[:, 0, :2], command[:, 0, 2] = accel_m_s2[:, :2], yaw_rate
        game = self._sim.world
        delays = self._links.draw() + 0 * game.hidden.delay_substeps
        self._sim._world = game._replace(hidden=game.hidden._replace(delay_substeps=delays))
        self._sim.step(command)


def values(conditions: Sequence[Condition], defaults: dict[str, float]) -> dict[str, np.ndarray]:
    """[E, 1] of each parameter."""
    return {name: np.array([[c.get(name, d)] for c in conditions], np.float32) for name, d in defaults.items()}
