"""Laws for rackets of unknown restitution, and posts near the anchors."""

from pathlib import Path

import numpy as np
import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.paths import bundles_dir
from robomarl.core.spec import ObservationSpec
from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.volleyball.lab.controllers import law_of
from robomarl.domains.volleyball.lab.controllers.apex import MOST_M, ApexBumpLaw
from robomarl.domains.volleyball.lab.controllers.passes import PassLaw
from robomarl.domains.volleyball.lab.controllers.strike import BumpLaw, seen_of
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.lab.evaluate.sealed_scenario import opened_from_bundle
from robomarl.lab.sim.law import RememberingLaw, memory_of
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import load_recipe
from robomarl.lab.train.policy_search.structured import gained_law

THROTTLES = slice(15, 19)
"""Elements of the observation: speeds of the four rotors over the largest."""
BALL_Z, BALL_SPEED = 24, 27
"""Elements of the observation: offset in height from the ball to the drone, and the ball's vertical speed."""


def apex_law() -> ApexBumpLaw:
    law = law_of(load_scenario("volley_bump_transfer", VolleyScenario))
    assert isinstance(law, ApexBumpLaw)
    return law


def seen_at(ball_m: float, speed_m_s: float) -> np.ndarray:
    """Observation [1, 28] of an upright drone 2 m up, with the ball above it."""
    obs = np.zeros((1, 28))
    obs[:, 2], obs[:, 14], obs[:, BALL_Z], obs[:, BALL_SPEED] = 2.0, 1.0, 2.0 - ball_m, speed_m_s
    return obs


def test_only_a_law_for_unknown_rackets_has_a_memory():
    known = law_of(load_scenario("volley_bump", VolleyScenario))
    assert isinstance(known, BumpLaw) and not isinstance(known, RememberingLaw)
    assert isinstance(apex_law(), RememberingLaw)


@pytest.mark.parametrize(
    ("before", "now", "learned"), [(0.1, -0.1, 0.2), (-0.1, -0.3, 0.0), (0.3, 0.1, 0.0), (0.0, 0.0, 0.0)]
)
def test_the_law_learns_at_an_apex_alone(before: float, now: float, learned: float):
    """The apex is 0.4 m too low, of which it learns a half; the ball at rest above a start is none."""
    law = apex_law()
    law = law.with_gains(law.gains._replace(learn=0.5, reach_m=3.7))
    height = 3.3 - now * now / (2 * 9.81)
    memory, _ = law.decide(np.array([[before, 0.0]]), seen_at(height, now))
    np.testing.assert_allclose(memory, [[now, learned]], atol=1e-6)


def test_the_correction_moves_the_apex_of_the_next_blow_and_is_bounded():
    law = apex_law()
    for correction in (0.3, -0.3):
        memory, _ = law.decide(np.array([[-1.0, correction]]), seen_at(3.0, -1.2))
        np.testing.assert_allclose(memory[:, 1], correction)
        asked = law.apex(seen_of(np.concatenate([seen_at(3.0, -1.2), memory], -1)))
        np.testing.assert_allclose(asked, law.gains.apex_m + correction)
    memory, _ = law.decide(np.array([[0.1, MOST_M]]), seen_at(1.0, -0.05))
    np.testing.assert_allclose(memory[:, 1], MOST_M)


@pytest.mark.parametrize(("asked_m", "post_m"), [(0.7, 2.0), (2.3, 2.3), (4.0, 3.0)])
def test_posts_stay_within_the_distance_of_the_scenario(asked_m: float, post_m: float):
    law = law_of(load_scenario("volley_bump_pass_near", VolleyScenario))
    assert isinstance(law, PassLaw) and isinstance(law.observation, ObservationSpec)
    obs = np.zeros((2, law.observation.size))
    obs[:, 20] = [2.5, -2.5]  # the drones are at y = 0, and their anchors on both sides
    chosen = law.with_gains(law.gains._replace(home=asked_m))
    np.testing.assert_allclose(chosen.own_y(seen_of(obs)), [-post_m, post_m])


def test_a_law_that_learns_keeps_its_memory_behind_another_command(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text('extends = "volley_bump_rates"\n[randomize]\nrestitution = [0.7, 0.87]\n')
    law = law_of(load_scenario(str(file), VolleyScenario))
    law = law.with_gains(law.gains)
    assert isinstance(law, RememberingLaw) and law.memory_size == 2
    inner, attitude = seen_at(3.2, -0.5), np.array([[1.0, 0, 0, 0, 0, 0, 0]])
    inner[:, THROTTLES] = 0.8
    lifts: list[float] = []
    for correction in (-0.5, 0.5):
        memory = np.array([[-1.0, correction]])
        after, command = law.decide(memory, np.concatenate([attitude, inner], -1))
        wanted = apex_law().decide(memory, inner)
        np.testing.assert_array_equal(after, wanted[0])
        np.testing.assert_allclose(command[:, 0], wanted[1][:, 2] + GRAVITY_M_S2)
        lifts.append(float(command[0, 0]))
    assert lifts[0] < lifts[1], "for a higher apex the drone rises faster before the blow"


WITHOUT_USE = ("volley_3v3",)
"""Bundles that were sealed before their law had a memory, whose gain `hold` is 0: no command depends on it."""
LAW_BUNDLES = sorted({folder.name for folder in bundles_dir().glob("volley_*")} - set(WITHOUT_USE))


@pytest.mark.parametrize("name", LAW_BUNDLES)
def test_the_recipe_of_a_bundle_makes_a_law_with_the_memory_of_the_bundle(name: str):
    bundle = load_bundle(name)
    carried = [state.shape for state in bundle.contract.carries if state.owner == "policy"]
    for scenario in (load_scenario(load_recipe(name)[0].scenario), opened_from_bundle(bundle)):
        assert [memory.shape for memory in memory_of(gained_law(scenario))] == carried
