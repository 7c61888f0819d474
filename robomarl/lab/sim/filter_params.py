"""Assumptions of the safety filter in a scenario: one answer for evaluation, export and training."""

from robomarl.core.filter.params import SafetyParams
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of


def safety_params(scenario: Scenario, least_team: int | None = None) -> SafetyParams:
    """Return the parameters of every robot's filter.

    Args:
        scenario: vehicle, rate and surroundings.
        least_team: robots of the smallest team that may start; by default the scenario's. All its
            robots have to be received.

    Raises:
        UserError: commands are of a kind that the filter does not know.
    """
    return simulation_of(scenario).filter_params(scenario, (least_team or scenario.count) - 1)
