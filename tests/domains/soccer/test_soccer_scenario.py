"""Soccer scenario files: what they hold, and what is refused, with the numbers."""

from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.scenario_files import read_scenario
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.sim.scenario import load_scenario


@pytest.mark.parametrize(("name", "count"), [("soccer_1v1", 1), ("soccer_2v2", 2), ("soccer_3v3", 3)])
def test_the_scenarios_that_ship_can_be_read(name: str, count: int):
    scenario = load_scenario(name)
    assert isinstance(load_scenario(name), SoccerScenario)
    assert (scenario.count, scenario.players, len(scenario.roles)) == (count, 2 * count, count)
    assert scenario.max_steps * scenario.period_s == pytest.approx(60.0)
    assert scenario.kicker.face_m < scenario.robot.body.radius_m


MISTAKES = {
    "[field]\nwidth_m = 0.9": "field.width_m = 0.9 is too small for 4 robots of 0.18 m; it must be at least 1.064",
    "[field]\nlength_m = 2.0": "field.length_m = 2 is too small for a kick-off at rules.kickoff_m = 0.5",
    "[field]\ngoal_width_m = 0.05": "field.goal_width_m = 0.05 must be from 0.086 to 2.64",
    'roles = ["attacker"]': "roles has 1 entries for 2 robots",
    'roles = ["attacker", "goalie"]': "roles: 'goalie' is not a role; allowed: attacker, keeper, supporter",
    '[opponent]\nroles = ["attacker", "supporter"]': "has no 'keeper', which the script 'keeper' needs",
    '[opponent]\nscript = "tiger"': "opponent.script = 'tiger' is not known; allowed: chaser, keeper",
    'vehicle = "crazyflie_21"': "vehicle = 'crazyflie_21' can't play",
    "[eyes]\nlatency_s = 0.05": "eyes.latency_s = 0.05 must be a multiple of the decision period, 0.04 s",
    "[eyes]\nlatency_s = 1.0": "eyes.latency_s = 1 must be below radio.max_age_s = 0.5, or no opponent is ever known",
    "[radio]\nlatency_s = 1.0": "radio: latency_s = 1 must be below max_age_s = 0.5, or nobody is ever heard",
    "[rates]\ncontact_hz = 250.0": "contact_hz = 250 must be a multiple of physics_hz",
    "[randomize]\npacket_loss = [0.0, 1.5]": "packet_loss = [0.0, 1.5] must end at 1 or below",
    "[pose]\ndrift_m = 0.05": "pose.drift_m = 0.05 counts with [eyes.tracks] alone, which is not there; add",
    "[pose]\ndrift_rad = 0.02": "pose.drift_rad = 0.02 counts with [eyes.tracks] alone, which is not there; add",
    "[held_out]\nodd = { gravity = 1.0 }": "held_out.odd.gravity is not a randomized parameter",
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.items())
def test_mistakes_name_the_key_and_the_numbers(tmp_path: Path, text: str, message: str):
    file = tmp_path / "mine.toml"
    file.write_text(f'extends = "soccer_2v2"\n{text}\n')
    with pytest.raises(UserError) as error:
        load_scenario(str(file))
    assert message in str(error.value)
    assert str(error.value).startswith("mine.toml: ")


def test_a_game_is_no_flight():
    assert read_scenario("soccer_3v3")[0]["count"] == 3
    with pytest.raises(UserError, match="soccer_2v2.toml: task = 'soccer' is another kind of team"):
        load_scenario("soccer_2v2", FlightScenario)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("found", 2.0, "must be"), ("bearing_rad", -0.1, "must be"), ("range", -0.1, "must be")],
)
def test_a_tracker_finds_no_more_than_all_and_deviates_by_no_less_than_0(
    tmp_path: Path, key: str, value: float, message: str
):
    file = tmp_path / "mine.toml"
    values = [0.5] * 5 + [value]
    file.write_text(f'extends = "soccer_2v2_eyes"\n[eyes.tracks.ball]\n{key} = {values}\n')
    with pytest.raises(UserError, match=rf"mine.toml: eyes.tracks.ball.{key}.*{message}"):
        load_scenario(str(file))
