"""Parameters of the mission's node. No ROS here."""

from dataclasses import dataclass

from robomarl.ros.settings import setting


@dataclass(frozen=True)
class MissionSettings:
    """Parameters of `mission_node`."""

    mission: str = setting("", "name or file of the mission")
    team: tuple[str, ...] = setting(("robot0",), "names of all robots in the order of their indices")
    base: str = setting("", "namespace of the team")
    task: str = setting("lift", "of the scenario: it must be one with a load")
    sim: bool = setting(False, "the mission's time is the simulated flight's: a simulator may fall behind the clock")
