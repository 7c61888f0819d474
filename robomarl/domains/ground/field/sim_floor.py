"""Floor message of the simulator, in place of an overhead system."""

import numpy as np

from robomarl.domains.ground.core.sensed import FloorSensed
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks import task_of
from robomarl.domains.ground.ros.floor import FLOOR
from robomarl.lab.sim.model import TeamWorld
from robomarl.ros.io.messages import Message


def messages(scenario: GroundScenario, world: TeamWorld, stamp_s: float) -> dict[str, Message]:
    """Return the message by the name of the topic; empty if the task's robots receive none."""
    from robomarl.ros.convert import places_from

    seen = task_of(scenario).sensed(scenario, world)
    if not isinstance(seen, FloorSensed):
        return {}
    loads = seen.carries[0]
    robots = np.stack([loads * 0, loads * 0, loads], -1)
    return {FLOOR.name: places_from(np.concatenate([seen.things[0, 0], robots]), stamp_s)}
