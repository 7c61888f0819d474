"""`VolleyScenario`: content of a scenario file for drones that play volleyball."""

from dataclasses import dataclass, replace
from functools import cached_property

from robomarl.core.features import NeighbourRule
from robomarl.core.hardware.sections import Vector3
from robomarl.core.hardware.vehicle import Quadrotor, load_vehicle
from robomarl.domains.volleyball.lab.sections import (
    AimConfig,
    BallSensorConfig,
    CommandKind,
    CourtConfig,
    FlyingBallConfig,
    IncomingBallConfig,
    RacketConfig,
    Referee,
    VolleyRandomize,
    VolleyRates,
    VolleyStart,
)
from robomarl.lab.sim.model import TeamScenario


@dataclass(frozen=True, kw_only=True)
class VolleyScenario(TeamScenario):
    """Drones with rackets on their side of a court."""

    rates: VolleyRates
    court: CourtConfig
    start: VolleyStart
    racket: RacketConfig | None = None
    """The racket of every robot; None: no ball is played."""
    ball: FlyingBallConfig | None = None
    """The ball; None: no ball is played."""
    ball_sensor: BallSensorConfig | None = None
    """Tracking of the ball; None: no ball is played."""
    waypoints_m: tuple[Vector3, ...] = ()
    """Places that the robot of `volley_back_and_forth` flies to in turn, world frame."""
    incoming: IncomingBallConfig | None = None
    """Flight of the ball at the start; None: the ball is at rest above the first robot."""
    aim: AimConfig | None = None
    """Target of the hit of `volley_strike`; None in every other task."""
    referee: Referee = "contact"
    """Detection of hits."""
    randomize: VolleyRandomize = VolleyRandomize()
    command: CommandKind = "acceleration"
    """Kind of command."""

    @cached_property
    def vehicle_config(self) -> Quadrotor:
        """The vehicle file; raises `UserError` if the vehicle does not fly."""
        return load_vehicle(self.vehicle, self.estimator or "")

    @property
    def rule(self) -> NeighbourRule:
        """Which mates a policy looks at."""
        rule = self.radio.rule
        return replace(rule, count=min(rule.count, self.count - 1))

    @property
    def robots(self) -> int:
        """M, robots on the court."""
        return self.count

    @property
    def contact_steps(self) -> int:
        """MuJoCo's steps in one sub-step of the attitude controller."""
        return round(self.rates.contact_hz / self.rates.physics_hz)

    @property
    def with_ball(self) -> tuple[RacketConfig, FlyingBallConfig]:
        """Racket and ball of a scenario that has them."""
        assert self.racket and self.ball, "checked: all sections of a game or none, and this task has a game"
        return self.racket, self.ball
