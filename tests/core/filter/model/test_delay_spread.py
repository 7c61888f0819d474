"""`safety.delay_spread`, the shortest over the longest delay: read, checked, combined, and held by the prediction."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.bundle.bundle import CONTRACT_FILE, load_bundle, seal
from robomarl.core.config import UserError
from robomarl.core.filter.filter import SafetyParams
from robomarl.core.filter.model import motion
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.filter.model.motion import NOWHERE, Motion
from robomarl.core.hardware.sections import DELAY_SPREAD
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.paths import vehicles_dir
from tests.core.filter.model.test_motion import flown
from tests.core.filter.views import PARAMS


def spread(share: float | None, params: SafetyParams = PARAMS, **more: float) -> SafetyParams:
    return replace(params, safety=replace(params.safety, delay_spread=share, **more))


def test_a_file_without_it_means_half():
    assert constants_of(spread(None)) == constants_of(spread(DELAY_SPREAD))
    assert constants_of(spread(0.25)).spread_s == pytest.approx(0.75 * PARAMS.safety.delay_s)


def test_a_delay_that_never_changes_costs_nothing():
    c = constants_of(spread(1.0))
    assert (c.spread_s, c.half_s, c.sudden_share) == (0.0, 0.0, 1.0)
    assert constants_of(spread(0.0)).sudden_share < constants_of(spread(None)).sudden_share


@pytest.mark.parametrize("declared", [0.0, 0.25, 0.8])
def test_prediction_error_is_within_its_bound_for_every_delay_that_is_declared(
    declared: float, random: np.random.Generator
):
    params = spread(declared)
    c, own = constants_of(params), Motion((0.1, 0.2, 1.0), (0.0, 0.0, 0.0))
    for share in (declared, (1 + declared) / 2, 1.0):
        commands = random.uniform(-3, 3, (8, 3)).tolist()
        pos, vel = flown(*own, commands, share * params.safety.delay_s, params.period_s)
        found = motion.predict(c, own, commands, (NOWHERE, NOWHERE))
        assert (np.abs(vel - found.motion.vel) <= np.array(found.unsure_m_s) + 1e-9).all()
        assert (np.abs(pos - found.motion.pos) <= np.array(found.unsure_m) + 1e-9).all()


def test_of_a_robot_and_its_bundle_the_shortest_and_the_longest_delay_count():
    assert spread(None).tighten(spread(None)).safety.delay_spread is None
    assert spread(0.8).tighten(spread(0.8)).safety.delay_spread == 0.8
    assert spread(0.8).tighten(spread(None)).safety.delay_spread == DELAY_SPREAD
    safety = spread(0.8, delay_s=0.08).tighten(spread(0.9, delay_s=0.16)).safety
    assert safety.delay_s * safety.shortest_share == pytest.approx(0.8 * 0.08)


def test_a_vehicle_file_gives_it_with_its_source(tmp_path: Path):
    text, file = (vehicles_dir() / "crazyflie_21.yaml").read_text(), tmp_path / "mine.yaml"
    said = text.replace("\nsafety:\n", "\nsafety:\n  delay_spread: 0.7\n")
    assert said != text
    file.write_text(said)
    with pytest.raises(UserError, match="safety.delay_spread has no source"):
        load_any_vehicle(str(file))
    file.write_text(said.replace("\nsources:\n", "\nsources:\n  safety.delay_spread: measured\n"))
    assert load_any_vehicle(str(file)).safety.shortest_share == 0.7
    file.write_text(said.replace("delay_spread: 0.7", "delay_spread: 1.5"))
    with pytest.raises(UserError, match="delay_spread = 1.5 is out of range"):
        load_any_vehicle(str(file))


def test_contracts_that_do_not_say_it_keep_their_bytes():
    bundle = load_bundle("swap_4")
    assert seal(bundle.contract) == bundle.files[CONTRACT_FILE]
