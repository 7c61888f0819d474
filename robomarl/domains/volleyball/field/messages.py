"""Messages of the simulator in place of a referee and a tracking system, of both kinds of volleyball."""

import numpy as np

from robomarl.domains.volleyball.core.sensed import VolleySensed
from robomarl.domains.volleyball.lab import world as of_team
from robomarl.domains.volleyball.lab.match import world as of_match
from robomarl.domains.volleyball.lab.match.scenario import MatchScenario
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.ros import court, match_court
from robomarl.domains.volleyball.ros.tracked_ball import BALL
from robomarl.lab.sim.model import TeamWorld
from robomarl.ros.io.messages import Message


def ball_message(world: TeamWorld, stamp_s: float) -> Message:
    """The ball with the errors of its tracking."""
    from robomarl.ros.convert import places_from

    own: of_team.VolleyOwn = world.own
    seen = np.concatenate([own.ball_pos_m[0], own.ball_vel_m_s[0]]) + own.ball_error[0]
    return places_from(seen.reshape(2, 3), stamp_s)


def court_message(scenario: VolleyScenario, world: TeamWorld, stamp_s: float, in_play: bool) -> Message:
    """Return the referee's message of a court, or of a match."""
    from robomarl.ros.convert import places_from

    if isinstance(scenario, MatchScenario):
        sides = (of_match.sensed(scenario, world, side) for side in (0, 1))
        first, second = (type(one)(*(np.asarray(part)[0] for part in one)) for one in sides)
        rows = match_court.rows_of((first, second), in_play)
    else:
        team = VolleySensed(*(np.asarray(part)[0] for part in of_team.sensed(scenario, world)))
        rows = court.rows_of(team, in_play)
    return places_from(rows, stamp_s)


def messages(scenario: VolleyScenario, world: TeamWorld, stamp_s: float, in_play: bool = True) -> dict[str, Message]:
    """Return the messages by the names of their topics."""
    told = match_court.MATCH_COURT if isinstance(scenario, MatchScenario) else court.COURT
    return {
        told.name: court_message(scenario, world, stamp_s, in_play),
        BALL.name: ball_message(world, stamp_s),
    }
