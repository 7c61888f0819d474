"""Court message of the simulator to the first team of a match, in place of a tracking system."""

import numpy as np

from robomarl.domains.volleyball.core.match.sensed import MatchSensed
from robomarl.domains.volleyball.lab.match.scenario import MatchScenario
from robomarl.domains.volleyball.lab.match.world import sensed
from robomarl.domains.volleyball.ros.court import rows_from
from robomarl.domains.volleyball.ros.match_court import MATCH_COURT, rows_of
from robomarl.lab.sim.model import TeamWorld
from robomarl.ros.io.messages import Message


def messages(scenario: MatchScenario, world: TeamWorld, stamp_s: float) -> dict[str, Message]:
    """Return the message by the name of the topic."""
    team = MatchSensed(*(np.asarray(part)[0] for part in sensed(scenario, world, 0)))
    return {MATCH_COURT.name: rows_from(rows_of(team), stamp_s)}
