"""Check that the robots of a fleet can rest at the goals of its scenario."""

from pathlib import Path

from robomarl.core.config import build
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.scenario_files import read_scenario
from robomarl.domains.flight.lab.scenario import FlightScenario, check_scenario


def check_fleet_goals(fleet: Fleet) -> None:
    """Read the scenario of a team that flies, as `robomarl check` does, on a machine without a simulator too.

    Raises:
        UserError: a key or value of the scenario is wrong, or robots cannot rest at its goals.
    """
    content, file = read_scenario(fleet.scenario)
    check_scenario(build(FlightScenario, {"name": Path(fleet.scenario).stem, **content}, file), file)
