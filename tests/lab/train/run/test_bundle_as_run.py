"""A shipped bundle is exported anew from itself: the way to take a changed filter into its graph."""

from pathlib import Path

import numpy as np
import pytest

from robomarl.core.bundle.bundle import POLICY_FILE, load_bundle
from robomarl.lab.export import export_bundle
from robomarl.lab.train.run.bundle_as_run import run_of, teams_of
from robomarl.lab.train.run.run_folder import gains_of, sealed_weights


@pytest.mark.slow
@pytest.mark.parametrize("name", ["swap_4", "lift_3"])
def test_a_bundle_exported_anew_has_the_same_network(name: str, tmp_path: Path):
    """A network whose critic has seen more since, and a law with gains, which has none."""
    before = load_bundle(name)
    export_bundle(run_of(name), tmp_path / name, name, before.contract.team_size)
    after = load_bundle(tmp_path / name)
    assert after.files[POLICY_FILE] == before.files[POLICY_FILE]
    of_then, now = before.contract.training, after.contract.training
    assert (now.seed, now.commit, now.versions) == (of_then.seed, of_then.commit, of_then.versions)
    assert after.contract.observation == before.contract.observation
    weights, kept = sealed_weights(before, name), sealed_weights(after, name)
    assert [n for n in kept if "actor" in n] == [n for n in weights if "actor" in n]
    assert all(np.array_equal(value, weights[n]) for n, value in kept.items())
    assert bool(gains_of(kept)) == (name == "lift_3")


def test_teams_of_a_bundle_are_kept_and_a_run_has_none(tmp_path: Path):
    """`crowd` was trained in teams of two to eight, and flies in larger ones; its scenario has eight."""
    assert teams_of("crowd") == load_bundle("crowd").contract.team_size == (2, 64)
    assert teams_of(str(tmp_path)) is None
