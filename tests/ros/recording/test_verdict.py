"""The verdict of a replay looks at actions, commands and observations, and says which of them it has seen."""

import math
from typing import Any

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mcap")
pytest.importorskip("matplotlib")

from robomarl.field.replay.figures import ALLOWED, verdict_of
from robomarl.front.report.replay_page import _tiles

SAME = {
    "is_recorded_bundle": True, "bundle": "swap_4 b16d", "problems": [], "whole_share": 1.0,
    **{f"{name}_diff_max": 0.0 for name in ALLOWED}, **{f"{name}s_compared": 2000 for name in ALLOWED},
    "out_of_range_share": 0.0, "filtered_share": 0.4, "min_distance_m": 0.3, "recorded_s": 10.0,
    "real_time_factor": 7.0,
}  # fmt: skip


def verdict(**other: Any) -> tuple[str, bool, str]:
    """Of figures that differ in these from those of a recording without a difference."""
    return tuple(verdict_of({**SAME, **other}))  # type: ignore[return-value]


def none_compared(*names: str) -> dict[str, Any]:
    return {f"{name}s_compared": 0 for name in names} | {f"{name}_diff_max": math.nan for name in names}


def test_no_difference_of_any_kind():
    text, passed, mark = verdict()
    assert (passed, mark) == (True, "good")
    assert text == (
        "The bundle did on the robots what it does here: 2,000 actions, 2,000 commands and 2,000 observations of "
        "swap_4 b16d, no difference in any bit."
    )


@pytest.mark.parametrize("name", ALLOWED)
@pytest.mark.parametrize("size", [1.03, math.inf, math.nan])
def test_each_kind_of_difference_fails(name: str, size: float):
    text, passed, mark = verdict(**{f"{name}_diff_max": size})
    assert (passed, mark) == (False, "bad")
    assert f"{name}s by up to {size:.3g} differ" in text
    assert "no difference" not in text


def test_all_that_is_off_is_said():
    text, passed, _ = verdict(command_diff_max=1.03, observation_diff_max=0.8)
    assert not passed
    assert text.endswith("commands by up to 1.03 and observations by up to 0.8 differ.")


@pytest.mark.parametrize("name", ALLOWED)
def test_rounding_passes_up_to_what_verify_allows(name: str):
    text, passed, _ = verdict(**{f"{name}_diff_max": ALLOWED[name]})
    assert passed and "no more than rounding" in text and "no difference" not in text
    assert not verdict(**{f"{name}_diff_max": 1.01 * ALLOWED[name]})[1]


def test_what_was_not_compared_is_said_and_is_not_green():
    text, passed, mark = verdict(**none_compared("command", "observation"), whole_share=0.0)
    assert (passed, mark) == (True, "warn")
    assert "No commands and observations could be compared: messages or ticks are missing" in text
    assert "2,000 actions of swap_4" in text and "2,000 commands" not in text
    assert "43.0% of the commands" in verdict(whole_share=0.43)[0]
    assert verdict(problems=["x.mcap: can't be read to its end"])[2] == "warn"


def test_nothing_passes_if_nothing_or_no_action_was_compared():
    assert verdict(**none_compared(*ALLOWED), whole_share=math.nan)[:2] == (
        "No tick of a policy is in this recording: there was nothing to compare.",
        False,
    )
    assert not verdict(**none_compared("action"))[1]


def test_another_bundle_may_decide_otherwise():
    text, passed, mark = verdict(is_recorded_bundle=False, action_diff_max=0.5)
    assert (passed, mark) == (True, "warn")
    assert text.startswith("Another bundle than the one that flew: ") and "actions by up to 0.5" in text
    assert not verdict(is_recorded_bundle=False, **none_compared("action"))[1]


@pytest.mark.parametrize(
    ("other", "value", "state"),
    [
        ({}, "0", "good"),
        ({"command_diff_max": 1.03, "observation_diff_max": 0.8}, "0.8", "bad"),
        ({"command_diff_max": 1.03}, "1.03", "bad"),
        (none_compared("command", "observation"), "0", "warn"),
        (none_compared(*ALLOWED), "–", "warn"),
    ],
)
def test_the_tile_of_the_page_says_the_same(other: dict[str, Any], value: str, state: str):
    tile, outside, *_ = _tiles({**SAME, **other, "out_of_range_share": math.nan})
    assert (tile.value, tile.state) == (value, state)
    assert outside.state == ""
