"""The law of carriers with the interface of a trained policy."""

from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.lab.sim.law import FlownLaw


def law_policy(scenario: FlightScenario) -> FlownLaw:
    """The law of the scenario's task as a policy: `robomarl eval law --scenario lift_3`."""
    task = task_of(scenario)
    assert task.law is not None, "a scenario of carriers has a law"
    return FlownLaw(scenario, task.law(scenario), task.action(scenario), "law")
