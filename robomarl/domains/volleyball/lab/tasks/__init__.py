"""The tasks of volleyball, by the names that scenario files use."""

from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks.back_and_forth import BACK_AND_FORTH
from robomarl.domains.volleyball.lab.tasks.base import VolleyTask
from robomarl.domains.volleyball.lab.tasks.pair import BUMP_PASS
from robomarl.domains.volleyball.lab.tasks.skill import POST, STRIKE
from robomarl.domains.volleyball.lab.tasks.solo import BUMP, HIT
from robomarl.domains.volleyball.lab.tasks.spike import SPIKE_EASY
from robomarl.domains.volleyball.lab.tasks.spike_hard import SPIKE_HARD

TASKS: dict[str, VolleyTask] = {
    "volley_back_and_forth": BACK_AND_FORTH,
    "volley_hit": HIT,
    "volley_bump": BUMP,
    "volley_bump_pass": BUMP_PASS,
    "volley_spike_easy": SPIKE_EASY,
    "volley_spike_hard": SPIKE_HARD,
    "volley_strike": STRIKE,
    "volley_post": POST,
}


def task_of(scenario: VolleyScenario) -> VolleyTask:
    """The task of a scenario."""
    return TASKS[scenario.task]
