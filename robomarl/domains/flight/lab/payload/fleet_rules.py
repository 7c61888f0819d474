"""Checks of a fleet's load, before anything is started or sent."""

from robomarl.core.hardware.fleet import Fleet


def check_load(fleet: Fleet) -> None:
    """Read the scenario of a team with a load, which checks the load, and compare the number of robots.

    Raises:
        UserError: too heavy a load, points of attachment that coincide, cables that are too short, or
            a scenario for another number of robots.
    """
    from robomarl.core.config import UserError
    from robomarl.lab.sim.scenario import load_scenario

    scenario = load_scenario(fleet.scenario)
    if scenario.count != len(fleet.robots):
        raise UserError(
            f"Fleet {fleet.name} has {len(fleet.robots)} robots, its scenario {fleet.scenario} is for "
            f"{scenario.count}; name another scenario, or all robots."
        )
