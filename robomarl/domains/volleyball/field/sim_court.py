"""Court message of the simulator, in place of a tracking system."""

import numpy as np

from robomarl.domains.volleyball.core.sensed import VolleySensed
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.world import sensed
from robomarl.domains.volleyball.ros.court import COURT, rows_from, rows_of
from robomarl.lab.sim.model import TeamWorld
from robomarl.ros.io.messages import Message


def messages(scenario: VolleyScenario, world: TeamWorld, stamp_s: float) -> dict[str, Message]:
    """Return the message by the name of the topic."""
    team = VolleySensed(*(np.asarray(part)[0] for part in sensed(scenario, world)))
    return {COURT.name: rows_from(rows_of(team), stamp_s)}
