"""Way-points behind ROS, without ROS: the referee of the simulated court names them one after the other."""

import numpy as np

from robomarl.core.config import to_dict
from robomarl.core.paths import share_dir
from robomarl.core.view import blank_view
from robomarl.domains.volleyball.core.waiting import waiting
from robomarl.domains.volleyball.field.real_time_court import RallyPhase, RealTimeCourt
from robomarl.domains.volleyball.lab.controllers.shuttle import ShuttleGains, ShuttleLaw
from robomarl.domains.volleyball.lab.model import MODEL
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.ros.court import COURT
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.run.run_folder import LAW
from robomarl.ros.fieldtask import Seat, field_task
from robomarl.ros.io.messages import PoseHistory, TeamSnapshot

POST, FIRST, SECOND = [4.5, 0.0, 2.0], [9.0, 4.5, 2.0], [4.5, 0.0, 2.0]


def test_the_referee_names_the_post_then_each_way_point_and_the_post_again():
    scenario = load_scenario("volley_back_and_forth", VolleyScenario)
    gains = np.load(share_dir() / "policies" / "volley_back_and_forth" / "weights.npz")
    law = ShuttleLaw(scenario, ShuttleGains(*(float(gains[f"{LAW}{name}"]) for name in ShuttleGains._fields)))
    court = RealTimeCourt(MODEL, scenario)
    court.reset(0)
    told: list[list[float]] = []
    for _ in range(1200):
        goal = court.goals[0].pos_m
        if not told or told[-1] != goal.tolist():
            told.append(goal.tolist())
        state = court.truth()
        view = blank_view(0)._replace(goal=court.goals[0])
        view.own.pos_m[:], view.own.vel_m_s[:] = state.pos_m[0], state.vel_m_s[0]
        seen = np.concatenate([view.own.vel_m_s, goal - view.own.pos_m])
        court.command(0, law.act(seen) if court.in_play else waiting(view))
        court.step()
        if court.phase is RallyPhase.OVER:
            break
    reached = int(court.figures(0.0).score)
    assert reached >= 8 and court.figures(0.0).rally_s >= scenario.time_limit_s - 1e-6
    assert court.goals[0].pos_m.tolist() == POST, "back to the post"
    assert told == [POST, *([FIRST, SECOND] * 9)[: reached + 1]]


def test_a_drone_without_a_ball_waits_until_the_referee_begins():
    scenario = load_scenario("volley_back_and_forth", VolleyScenario)
    task = field_task(to_dict(scenario), Seat(0, 1))
    snapshot, view = TeamSnapshot(1000.0, PoseHistory(), ()), blank_view(0)
    assert task.waits(view) is not None, "before the first message"
    for in_play in (0.0, 1.0, 0.0):
        task.sensed({COURT.name: np.array([[in_play, 0, 0], [0, 0.5, 0.5], [0.5, 0.5, 0]])}, snapshot)
        assert (task.waits(view) is None) == bool(in_play)
