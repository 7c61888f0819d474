"""`SoccerScenario`: content of a scenario file for a game, and its vehicle."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.hardware.ground import KickerConfig, OmniRobot, TractionConfig
from robomarl.domains.soccer.core.features import ROLES
from robomarl.domains.soccer.lab.sections import (
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
from robomarl.lab.sim.radio import check_radio
from robomarl.lab.sim.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class SoccerScenario(Scenario):
    """One game: two teams of one vehicle type, which needs `traction` and `kicker`."""

    roles: tuple[str, ...]
    """Role of each of our robots."""
    rates: GameRates
    field: PitchConfig
    ball: BallConfig
    eyes: EyesConfig
    pose: PoseConfig
    rules: RulesConfig
    opponent: OpponentConfig
    sees: Sees = "eyes"
    """Knowledge of our team; see `Sees`."""
    randomize: GameRandomize = GameRandomize()

    def __post_init__(self) -> None:
        """Check constraints that one section alone cannot show."""
        super().__post_init__()
        self._check_eyes()
        self._check_drift()
        for key, roles in (("roles", self.roles), ("opponent.roles", self.opponent.roles)):
            if len(roles) != self.count:
                raise ValueError(f"{key} has {len(roles)} entries for {self.count} robots; write one for each.")
            unknown = set(roles) - set(ROLES)
            if unknown:
                raise ValueError(f"{key}: {min(unknown)!r} is not a role; allowed: {', '.join(ROLES)}.")

    def _check_eyes(self) -> None:
        """Check that pictures come with a decision, and not too late for any."""
        self.check_latency("eyes", self.eyes.latency_s)
        if self.eyes.latency_s >= (limit_s := self.radio.max_age_s):
            late = f"eyes.latency_s = {self.eyes.latency_s:g}"
            raise ValueError(f"{late} must be below radio.max_age_s = {limit_s:g}, or no opponent is ever known.")

    def _check_drift(self) -> None:
        """Check that errors of the pose that change slowly are of a team whose sightings do so, too."""
        for key in ("drift_m", "drift_rad"):
            if (value := getattr(self.pose, key)) and self.eyes.tracks is None:
                raise ValueError(
                    f"pose.{key} = {value:g} counts with [eyes.tracks] alone, which is not there; "
                    f"add [eyes.tracks], or remove pose.{key}."
                )

    @cached_property
    def vehicle_config(self) -> OmniRobot:
        """The vehicle file."""
        vehicle = super().vehicle_config
        if not isinstance(vehicle, OmniRobot) or vehicle.kicker is None or vehicle.traction is None:
            raise UserError(
                f"{self.name}.toml: vehicle = {self.vehicle!r} can't play; "
                "name an omnidirectional robot with the sections traction and kicker."
            )
        return vehicle

    @property
    def robot(self) -> OmniRobot:
        """Vehicle of the scenario, as `vehicle_config`."""
        return self.vehicle_config

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
        """M, robots on the field: ours first, then the opponents."""
        return 2 * self.count

    @cached_property
    def all_seeing(self) -> np.ndarray:
        """[M] bool: robots of a team that sees all."""
        return np.repeat([self.sees == "all", self.opponent.sees == "all"], self.count)

    @property
    def rally_steps(self) -> int:
        """Decisions in an episode of training, at most."""
        return round(self.rules.rally_s * self.rates.policy_hz)


def check_scenario(scenario: SoccerScenario, file: str) -> None:
    """Check the scenario against the vehicle, and its sections against each other; raise `UserError` if they
    disagree.
    """
    check_room(scenario, file)
    if scenario.count > 1:
        widest = float(np.hypot(scenario.field.length_m, scenario.field.width_m))
        check_radio(scenario.radio.range_m, widest, "on [field]", file)
    check_roles(scenario.opponent.script, scenario.opponent.roles, file)


def check_room(scenario: SoccerScenario, file: str) -> None:
    """Check that the robots fit on the field, and the ball into the goal.

    Raises:
        UserError: names the size that is too small, and its least value.
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
    from robomarl.domains.soccer.lab.controllers import SCRIPTS

    if script not in SCRIPTS:
        raise UserError(f"{file}: opponent.script = {script!r} is not known; allowed: {', '.join(sorted(SCRIPTS))}.")
    missing = [role for role in SCRIPTS[script] if role not in roles]
    if missing:
        raise UserError(
            f"{file}: opponent.roles = {list(roles)} has no {missing[0]!r}, which the script {script!r} needs; "
            "add it, or name another opponent.script."
        )
