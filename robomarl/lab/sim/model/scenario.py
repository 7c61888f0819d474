"""`TeamScenario`: common part of every scenario of a `Model`; a kind of team adds its sections to a subclass."""

from dataclasses import dataclass

from robomarl.core.hardware.field import DeploymentConfig
from robomarl.lab.sim.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class TeamScenario(Scenario):
    """Everybody hears everybody, one decision late: `latency_s` of the radio is one period."""

    field: DeploymentConfig = DeploymentConfig()
    """How a test in the field begins."""

    def __post_init__(self) -> None:
        """Check the fields together; raise `ValueError` if `radio.latency_s` is not one period."""
        super().__post_init__()
        if abs(self.radio.latency_s - self.period_s) > 1e-6:
            raise ValueError(f"radio.latency_s = {self.radio.latency_s:g} must be one period, {self.period_s:g} s.")
