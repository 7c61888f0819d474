"""What evaluation says of a load when a vehicle is lost or another controller flies along, and how imitation loses."""

import dataclasses

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.evaluation.score import loss_figures
from robomarl.domains.flight.lab.payload.controllers.centralized import LoadPosePolicy
from robomarl.domains.flight.lab.payload.controllers.mixed_team import MixedTeam, mixed_team
from robomarl.domains.flight.lab.payload.lift import with_losses
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.simulation import law_policy
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.score import start_episodes
from robomarl.lab.evaluate.variations import perturbed
from robomarl.lab.sim.scenario import load_scenario


@pytest.fixture(scope="module")
def lift() -> FlightScenario:
    return load_scenario("lift_3")


def test_kept_means_near_level_and_not_failed():
    scenario = perturbed(load_scenario("lift_4_lost"), ["cut_s=5"])
    done = start_episodes(4)._replace(
        last_m=np.array([0.1, 0.6, 0.1, 0.4]),
        last_rad=np.array([0.1, 0.1, 0.1, 0.5]),
        failed=np.array([False, False, True, False]),
    )
    found = loss_figures(scenario, done)
    assert found["kept_rate"] == 0.5
    assert found["kept_attitude_rate"] == 0.25
    assert found["lost_position_error_m"] == pytest.approx(1.1 / 3)


def test_without_a_loss_there_are_no_such_figures_and_short_episodes_are_refused(lift: FlightScenario):
    assert loss_figures(lift, start_episodes(2)) == {}
    with pytest.raises(UserError, match=r"lift_3: a vehicle is lost at 5 s .* fly a scenario of 15 s or more"):
        loss_figures(perturbed(lift, ["cut_s=5"]), start_episodes(2))


def test_the_last_vehicle_flies_under_the_baseline(lift: FlightScenario):
    """Its commands are those of the baseline for the same views; all others are the law's."""
    mixed = mixed_team(law_policy(lift), perturbed(lift, ["foreign=1"]))
    assert isinstance(mixed, MixedTeam)
    assert not isinstance(mixed_team(law_policy(lift), lift), MixedTeam)
    team = make_team(lift, "fast", 3, 0)
    team.reset()
    sent = []
    for policy in (mixed, law_policy(lift), LoadPosePolicy(lift)):
        pilot = make_pilot(policy, lift, "off")  # type: ignore[arg-type]
        sent.append(pilot.step(pilot.init(team.views()), team.views())[1].command)
    assert np.array_equal(sent[0][:, :2], sent[1][:, :2])
    assert np.array_equal(sent[0][:, 2], sent[2][:, 2])
    assert not np.array_equal(sent[0][:, 2], sent[1][:, 2])


def test_a_lost_vehicle_shows_in_the_figures(lift: FlightScenario):
    """A team that carries on by law, flown for a short while after the cable was cut."""
    short = dataclasses.replace(load_scenario("lift_3_lost"), time_limit_s=10.2)
    settings = EvalConfig("mujoco", 2, filter="off", progress=False)
    found = evaluate(law_policy(short), perturbed(short, ["cut_s=0.1", "foreign=1"]), settings).figures
    assert 0 <= found["kept_rate"] <= 1
    assert found["lost_position_error_m"] is None or found["lost_position_error_m"] > 0.02


def test_imitation_loses_vehicles_of_some_teams_only(lift: FlightScenario):
    taught = with_losses(lift)
    assert taught.randomize.cut_s == (3.0, 40.0)
    swap = load_scenario("swap_4")
    assert with_losses(swap) is swap
    team = make_team(taught, "fast", 64, 0)
    cut = team.reset().load.cargo.cut_s.min(-1)  # type: ignore[attr-defined]
    assert 0.05 < (cut < lift.time_limit_s).mean() < 0.4
    assert (cut >= 3.0).all()
