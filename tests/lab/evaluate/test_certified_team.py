"""Certified teams in `eval`: robots that fly in their tubes never begin anew, however fast."""

import pytest

from robomarl.lab.certified import CertifiedTeam
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.evaluate.resolve import resolve_policy


def test_a_team_that_flies_fast_keeps_its_pacts(monkeypatch: pytest.MonkeyPatch):
    """Compared is where the reference is now: a lead later it is 0.34 m farther on, at 1.27 m/s."""
    whole, begun = CertifiedTeam._begun_again, []

    def watched(self, view, now_s, known):
        found = whole(self, view, now_s, known)
        begun.append(found is not known)
        return found

    monkeypatch.setattr(CertifiedTeam, "_begun_again", watched)
    policy, scenario = resolve_policy("swap_4")
    found = evaluate(policy, scenario, EvalConfig(episodes=4, filter="certificate", progress=False))
    assert found.figures["success_rate"] == 1.0 and len(begun) > 200 and not any(begun)


@pytest.mark.parametrize("name", ["navigation", "passage_4"])
def test_robots_that_drive_arrive_however_slow_they_are(name: str):
    """A `gritsbot` drives 0.135 m/s: with an error of 0.1 m/s between references one of eight teams arrived."""
    policy, scenario = resolve_policy(name)
    found = evaluate(policy, scenario, EvalConfig(episodes=8, filter="certificate", progress=False))
    assert found.figures["success_rate"] >= (1.0 if name == "navigation" else 0.4)
