# pyright: reportAttributeAccessIssue=false
"""An adapter whose process stood still: the silence that its vehicle has felt counts, not what waits in the queue."""

import numpy as np
import pytest

from robomarl.core.hardware.sections import CommandLossConfig
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion.reference import Reference
from robomarl.vehicles.guard_terms import Deed, GuardRules, GuardStatus
from robomarl.vehicles.guard_terms import GuardState as S
from robomarl.vehicles.guarded import FlightConfig, GuardedVehicle, TickInput, VehicleSays
from robomarl.vehicles.samples import StateSample

RULES = GuardRules(CommandLossConfig(hover_after_s=0.25, land_after_s=2.0))
CARRIES = GuardRules(CommandLossConfig(0.25, 2.0, motors_off_after_s=1.0))
DT_S = 0.02


class Hovering(GuardedVehicle):
    """In the air, commanded, with a sound vehicle that is heard at every moment; what it is told goes nowhere."""

    def __init__(self, rules: GuardRules) -> None:
        super().__init__(Heard(), load_vehicle("crazyflie_21"), FlightConfig(rules))
        self.guard = GuardStatus(S.FLYING)

    def tick(self, heard: TickInput, now_s: float) -> GuardStatus:
        place = Estimate(np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3), np.zeros(3))
        self._link.sample, self._link.heard_s = StateSample(place, now_s, int(now_s * 1000)), now_s
        return super().tick(heard, now_s)

    def say_nothing(self, now_s: float) -> GuardStatus:
        """A tick before what the vehicle said has been read."""
        return super().tick(TickInput(np.zeros(4)), now_s)

    def _says(self, now_s: float) -> VehicleSays:
        return VehicleSays(armed=True, flies=True)

    def _tell(self, deed: Deed) -> None:
        pass

    def _send(self, reference: Reference) -> None:
        pass

    def _again(self, deed: Deed, now_s: float) -> bool:
        return False


class Heard:
    sample: StateSample | None = None
    heard_s = 0.0
    force_m_s2 = None


@pytest.mark.parametrize(
    ("away_s", "rules", "states"),
    [
        (0.3, RULES, [S.HOLDING, S.FLYING]),
        (1.0, RULES, [S.HOLDING, S.FLYING]),
        (5.0, RULES, [S.LANDING, S.LANDING]),
        (9.0, RULES, [S.LANDING, S.LANDING]),
        (5.0, CARRIES, [S.KILLED, S.KILLED]),
    ],
)
def test_an_adapter_that_stood_still_judges_the_silence_before_it_reads_commands(
    away_s: float, rules: GuardRules, states: list[S]
):
    """The newest command is fresh when it wakes; its vehicle has had none for as long as it was away."""
    flight = Hovering(rules)
    flight.tick(TickInput(np.zeros(4)), 10.0)
    flight.tick(TickInput(np.zeros(4)), 10.0 + DT_S)
    assert flight.guard.state is S.FLYING
    found, now_s = [flight.tick(TickInput(np.zeros(4)), 10.0 + DT_S + away_s).state], 10.0 + DT_S + away_s
    for _ in range(40):
        now_s += DT_S
        flight.tick(TickInput(np.zeros(4)), now_s)
    assert [*found, flight.guard.state] == states


def test_a_command_that_waited_for_an_adapter_is_as_old_as_it_is():
    flight = Hovering(RULES)
    flight.tick(TickInput(np.zeros(4)), 10.0)
    flight.tick(TickInput(np.zeros(4), waited_s=1.0), 11.1)
    flight.tick(TickInput(), 11.12)
    assert flight.seen.command_age_s == pytest.approx(1.02)
    assert flight.guard.state is S.HOLDING


def test_an_absence_is_no_loss_of_the_pose_but_one_that_lasts_after_it_is():
    flight = Hovering(RULES)
    flight.tick(TickInput(np.zeros(4)), 10.0)
    found = [flight.say_nothing(10.4 + DT_S * tick) for tick in range(round(RULES.pose_s / DT_S) + 2)]
    assert {status.state for status in found[:-2]} == {S.HOLDING}
    assert (found[-1].state, found[-1].why) == (S.LANDING, "the pose is lost")
