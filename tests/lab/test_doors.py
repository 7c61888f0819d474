"""Doors that bodies fit through and references do not."""

import pytest

from robomarl.core.config import UserError
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.front import cli
from robomarl.lab.doors import check_doors, gap_m

LEFT = Obstacle("box", (0.0, 0.25, 0.0), (0.2, 3.0, 1.0), name="left wall")
RIGHT = Obstacle("box", (0.0, -3.0, 0.0), (0.2, -0.25, 1.0), name="right wall")
POST = Obstacle("capsule", (0.5, 0.65, 0.0), (0.5, 0.65, 1.0), radius_m=0.1)
BEAM = Obstacle("box", (-1.0, -1.0, 1.2), (1.0, 1.0, 1.4))


def test_gaps_by_hand():
    """Walls 0.5 m apart; a post beside a wall; a ball diagonal to a corner (3, 4, 5); a beam above."""
    assert gap_m(LEFT, RIGHT) == pytest.approx(0.5)
    assert gap_m(LEFT, POST) == pytest.approx(0.2)
    ball = Obstacle("sphere", (0.2 + 0.3, 0.25 - 0.4, 0.5), radius_m=0.1)
    assert gap_m(LEFT, ball) == pytest.approx(0.4)
    assert gap_m(LEFT, BEAM) == float("inf")


@pytest.mark.parametrize(
    ("radius_m", "kept_m", "is_refused"), [(0.07, 0.26, True), (0.07, 0.24, False), (0.3, 0.4, False)]
)
def test_a_door_is_refused_if_a_body_fits_and_a_reference_does_not(radius_m: float, kept_m: float, is_refused: bool):
    """The last one is too narrow for bodies as well: a wall."""
    if not is_refused:
        return check_doors((LEFT, RIGHT, BEAM), radius_m, kept_m, "here")
    with pytest.raises(
        UserError, match=r"between left wall and right wall is 0.5 m wide.* 0.26 m .* wider than 0.52 m"
    ):
        check_doors((LEFT, RIGHT, BEAM), radius_m, kept_m, "here")


def test_check_refuses_the_slit_for_quadrotors_and_not_the_one_for_soccer_robots(capsys: pytest.CaptureFixture[str]):
    asked = ["--filter", "certificate", "--sims", "fast", "mujoco", "--seconds", "0.2"]
    assert cli.main(["check", "passage_2", *asked]) != 0
    assert "is 0.5 m wide" in capsys.readouterr().err
    assert cli.main(["check", "doorway_2", *asked]) == 0
