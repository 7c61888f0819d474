"""`SoccerScenario`: a file of `sim/scenarios/` whose task is `soccer`, and its vehicle."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from robomarl.config import Count, Positive, UserError
from robomarl.domains.soccer.onboard.features import ROLES
from robomarl.domains.soccer.sections import (
    BallConfig,
    EyesConfig,
    GameRandomize,
    GameRates,
    OpponentConfig,
    PitchConfig,
    PoseConfig,
    RulesConfig,
    Sees,
)
from robomarl.hardware_configs.ground import KickerConfig, OmniRobot, TractionConfig
from robomarl.hardware_configs.vehicle import load_any_vehicle
from robomarl.sim.clock import Clock
from robomarl.sim.radio import RadioConfig, check_radio
from robomarl.sim.scenario import load_scenario, read_scenario

TASK = "soccer"


@dataclass(frozen=True)
class SoccerScenario(Clock):
    """One game: two teams of the same vehicle. Made by `load_soccer`."""

    version: Literal[1]
    """Version of the file's layout."""
    task: Literal["soccer"]
    """Leads to the domain."""
    vehicle: str
    """Name or path of the vehicle file; it needs `traction` and `kicker`."""
    count: Count
    """Robots in each team."""
    roles: tuple[str, ...]
    """Role of each of our robots."""
    time_limit_s: Positive
    """Length of a match."""
    rates: GameRates
    field: PitchConfig
    ball: BallConfig
    eyes: EyesConfig
    pose: PoseConfig
    radio: RadioConfig
    rules: RulesConfig
    opponent: OpponentConfig
    sees: Sees = "eyes"
    """What our team knows; see `Sees`."""
    randomize: GameRandomize = GameRandomize()
    held_out: dict[str, dict[str, float]] = dataclasses.field(default_factory=dict)
    """Variations that training never sees: name -> {parameter: value}."""
    name: str = ""
    """The name that it was loaded by."""

    def __post_init__(self) -> None:
        """Check what one section alone cannot show."""
        self._check_latencies()
        for key, roles in (("roles", self.roles), ("opponent.roles", self.opponent.roles)):
            if len(roles) != self.count:
                raise ValueError(f"{key} has {len(roles)} entries for {self.count} robots; write one for each.")
            unknown = set(roles) - set(ROLES)
            if unknown:
                raise ValueError(f"{key}: {min(unknown)!r} is not a role; allowed: {', '.join(ROLES)}.")
        known = set(GameRandomize.__dataclass_fields__)
        for name, values in self.held_out.items():
            if set(values) - known:
                raise ValueError(f"held_out.{name}: {min(set(values) - known)!r} is not a randomized parameter.")

    def _check_latencies(self) -> None:
        """Check that what is seen and heard comes with a decision, and not too late for any."""
        for key, seconds in (("radio", self.radio.latency_s), ("eyes", self.eyes.latency_s)):
            periods = seconds * self.rates.policy_hz
            if abs(periods - round(periods)) > 1e-6:
                raise ValueError(
                    f"{key}.latency_s = {seconds:g} must be a multiple of the decision period, {self.period_s:g} s."
                )
        if self.eyes.latency_s >= (limit_s := self.radio.max_age_s):
            late = f"eyes.latency_s = {self.eyes.latency_s:g}"
            raise ValueError(f"{late} must be below radio.max_age_s = {limit_s:g}, or no opponent is ever known.")

    @cached_property
    def robot(self) -> OmniRobot:
        """The vehicle file."""
        vehicle = load_any_vehicle(self.vehicle)
        if not isinstance(vehicle, OmniRobot) or vehicle.kicker is None or vehicle.traction is None:
            raise UserError(
                f"{self.name}.toml: vehicle = {self.vehicle!r} can't play; "
                "name an omnidirectional robot with the sections traction and kicker."
            )
        return vehicle

    @property
    def vehicle_config(self) -> OmniRobot:
        """The vehicle file, as other scenarios spell it."""
        return self.robot

    @property
    def kicker(self) -> KickerConfig:
        """The vehicle's kicker."""
        assert self.robot.kicker is not None, "checked by `robot`"
        return self.robot.kicker

    @property
    def traction(self) -> TractionConfig:
        """The vehicle's traction."""
        assert self.robot.traction is not None, "checked by `robot`"
        return self.robot.traction

    @cached_property
    def command_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest command, [4] each: acceleration x and y, yaw rate, kick speed."""
        limits = self.robot.limits
        low = (*limits.accel_min_m_s2[:2], -limits.yaw_rate_rad_s, 0.0)
        high = (*limits.accel_max_m_s2[:2], limits.yaw_rate_rad_s, self.kicker.max_speed_m_s)
        return np.array(low, np.float32), np.array(high, np.float32)

    @property
    def players(self) -> int:
        """M, robots on the field: ours first, then the other team's."""
        return 2 * self.count

    @cached_property
    def all_seeing(self) -> np.ndarray:
        """[M] bool: robots of a team that sees all."""
        return np.repeat([self.sees == "all", self.opponent.sees == "all"], self.count)

    @property
    def rally_steps(self) -> int:
        """Decisions in an episode of training, at most."""
        return round(self.rules.rally_s * self.rates.policy_hz)


def is_soccer(name: str) -> bool:
    """Whether the scenario of that name is a game.

    Raises:
        UserError: unknown name or bad TOML.
    """
    return read_scenario(name)[0].get("task") == TASK


def load_soccer(name: str) -> SoccerScenario:
    """Read a game by name (of `sim/scenarios/`) or by the path of a TOML file.

    Raises:
        UserError: unknown name, bad TOML, a wrong key or value, a field too small for the robots or too
            large for the radio, or a team without a role that the opponent's script needs.
    """
    scenario = load_scenario(name)
    if not isinstance(scenario, SoccerScenario):
        raise UserError(f"{Path(name).stem}.toml: task = {scenario.task!r} is no game; name another scenario.")
    return scenario


def check_scenario(scenario: SoccerScenario, file: str) -> None:
    """Check what needs the vehicle, and what sections say against each other; raises `UserError` where it is wrong."""
    check_room(scenario, file)
    if scenario.count > 1:
        widest = float(np.hypot(scenario.field.length_m, scenario.field.width_m))
        check_radio(scenario.radio.range_m, widest, "on [field]", file)
    check_roles(scenario.opponent.script, scenario.opponent.roles, file)


def check_room(scenario: SoccerScenario, file: str) -> None:
    """Check that the robots fit on the field, and the ball into the goal.

    Raises:
        UserError: names what is too small, and what it must be.
    """
    size, ball = 2 * scenario.robot.body.radius_m, 2 * scenario.ball.radius_m
    area, rules = scenario.field, scenario.rules
    lane = size + 2 * ball
    length = 4 * rules.kickoff_m + 2 * (rules.jitter_m + size)
    if area.width_m < scenario.players * lane:
        raise UserError(
            f"{file}: field.width_m = {area.width_m:g} is too small for {scenario.players} robots of {size:g} m; "
            f"it must be at least {scenario.players * lane:g}."
        )
    if area.length_m < length:
        raise UserError(
            f"{file}: field.length_m = {area.length_m:g} is too small for a kick-off at rules.kickoff_m = "
            f"{rules.kickoff_m:g} with robots of {size:g} m; it must be at least {length:g}."
        )
    if not 2 * ball <= area.goal_width_m <= area.width_m - 2 * size:
        raise UserError(
            f"{file}: field.goal_width_m = {area.goal_width_m:g} must be from {2 * ball:g} to "
            f"{area.width_m - 2 * size:g}."
        )


def check_roles(script: str, roles: tuple[str, ...], file: str) -> None:
    """Check that a team has the roles that its script needs.

    Raises:
        UserError: there is no such script, or a role is missing.
    """
    from robomarl.domains.soccer.controllers import SCRIPTS

    if script not in SCRIPTS:
        raise UserError(f"{file}: opponent.script = {script!r} is not known; allowed: {', '.join(sorted(SCRIPTS))}.")
    missing = [role for role in SCRIPTS[script] if role not in roles]
    if missing:
        raise UserError(
            f"{file}: opponent.roles = {list(roles)} has no {missing[0]!r}, which the script {script!r} needs; "
            "add it, or name another opponent.script."
        )
