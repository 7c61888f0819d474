"""TorchRL trains on our environment, and what comes of it is a bundle. Needs torchrl and pettingzoo."""

import runpy
from pathlib import Path

import pytest

pytest.importorskip("torchrl")
pytest.importorskip("pettingzoo")

from robomarl.core.bundle.bundle import load_bundle

pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore")
def test_the_example_trains_and_its_policy_is_imported(root: Path, tmp_path: Path):
    rewards = runpy.run_path(str(root / "examples" / "torchrl_ppo.py"))["main"](str(tmp_path), 2, 60)
    assert len(rewards) == 2
    contract = load_bundle(tmp_path / "bundle").contract
    assert contract.scenario.content["count"] == 2 and contract.rate_hz == 50
