"""The tube of the certificate: an attack along an axis, and a proof where the delay is constant."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from benchmarks.certificate.swings import Search, SwingFlight, drawn
from robomarl.core.certificate import figures as figures_module
from robomarl.core.certificate.figures import CertificateFigures, figures_of
from robomarl.core.certificate.state_box import StateBox, anywhere
from robomarl.core.certificate.tracker import Point, track
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.motion import Motion, Predicted
from robomarl.core.filter.params import SafetyParams, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.front.cli import main
from robomarl.front.cli.prove_tube import tube_figures
from robomarl.lab.prove import tube_attack
from robomarl.lab.prove.theorem import Given
from robomarl.lab.prove.tube import Cover, CoverMesh, axis_of, bound_m, largest_command, prove_tube
from robomarl.lab.prove.tube_attack import LATE, POSITION, PUSH, VELOCITY, WISH, Farthest, TubeSearch, farthest

COARSE, SHORT = CoverMesh(400, 20, 4), TubeSearch(robots=60, generations=12, seconds=1.2, seed=1, jitted=False)
LONGER = TubeSearch(robots=60, generations=40, seed=1, jitted=False)


def of(name: str, **safety: float) -> tuple[SafetyParams, CertificateFigures]:
    """Parameters and figures of a vehicle with other assumptions."""
    vehicle = load_any_vehicle(name)
    changed = dataclasses.replace(vehicle, safety=dataclasses.replace(vehicle.safety, **safety))
    params = from_vehicle(changed, 0.02)
    return params, figures_of(params, vehicle.body.radius_m)


class AttackedFlight(SwingFlight):
    """The robot of the benchmarks, which knows nothing of the search, under the choices that a search found along x."""

    def __init__(self, vehicle: str, found: Farthest) -> None:
        """Place two robots far apart, and let them learn their bias for 3 s first."""
        self.found, self.rest, search = found, 150, Search(vehicle, robots=2)
        genes = drawn(np.random.default_rng(0), (1, 2), search.period_s)
        genes["way"] = np.tile([1.0, 0.0, 0.0], (1, 2, 1))
        genes["bias"][:] = 0 if found.bias[0] > 0 else 1
        super().__init__(search, genes)
        self.signals.of = self._signal
        self.signals.wish = self._wish

    def _wish(self, now: object, vel: np.ndarray, step: int) -> np.ndarray:
        return np.pad(5 * self._signal("wish", now, step), ((0, 0), (0, 0), (0, 1)))

    def _signal(self, name: str, now: object, step: int) -> np.ndarray:
        kind = {"pos": POSITION, "vel": VELOCITY, "push": PUSH, "wish": WISH}[name]
        size = self.found.choices[step - self.rest, kind, 0] if step >= self.rest else 0
        return np.tile([float(size), 0.0, 0.0], (1, 2, 1))

    def farthest_m(self) -> float:
        """Fly, and return the farthest that a robot came along x."""
        most = 0.0
        for step in range(self.rest + len(self.found.choices)):
            after = step >= self.rest
            self.genes["late"][:] = 2 if after and self.found.choices[step - self.rest, LATE, 0] > 0 else 3
            self.tick(step)
            if after:
                share, (before, now) = self._lag - int(self._lag), self._points[:2]
                off = self.team.pos - (share * before + (1 - share) * now)
                most = max(most, float(np.abs(off[..., 0]).max()))
        return most


def test_an_attack_in_the_model_is_one_on_the_robot_of_the_benchmarks():
    """Half of the robot's doubt about its bias is gone there, so it comes a little less far, or it starts worse."""
    params, figures = of("crazyflie_21")
    found = farthest(params, figures, SHORT)[0]
    assert found.off_m > figures.learned.half_m[0]
    assert AttackedFlight("crazyflie_21", found).farthest_m() > 0.7 * found.off_m


def test_without_errors_a_robot_stays_where_its_reference_is():
    """The tracked point is the one in the middle of the delay: with another one robots are off."""
    params, figures = of("gritsbot", delay_spread=1.0)
    still = dataclasses.replace(params.safety, position_error_m=0, velocity_error_m_s=0, accel_error_m_s2=0)
    calm = dataclasses.replace(params, safety=dataclasses.replace(still, accel_bias_m_s2=0.0))
    choices = np.ones((80, 5, 3), int) * (1, 0, 0)
    choices[40:, WISH] *= -1
    attack = Farthest(0.0, choices, np.array([1, 1, 0]))
    assert np.abs(tube_attack.replayed(calm, figures, attack)).max() < 1e-3
    late = dataclasses.replace(figures, ahead_s=figures.ahead_s + 0.04)
    assert np.abs(tube_attack.replayed(calm, late, attack)).max() > 1e-3


@pytest.mark.slow
def test_the_attack_is_the_same_in_jax():
    """In single precision, and of another sum's order: the same changes are kept."""
    params, figures = of("crazyflie_21")
    in_jax = farthest(params, figures, dataclasses.replace(SHORT, jitted=True))
    for one, other in zip(farthest(params, figures, SHORT), in_jax, strict=True):
        assert one.off_m == pytest.approx(other.off_m, rel=0.02)


def share_of(vehicle: tuple[SafetyParams, CertificateFigures], search: TubeSearch) -> float:
    """Return the part of its tube that an attack takes a robot away along x."""
    params, figures = vehicle
    return farthest(params, figures, search)[0].off_m / figures.learned.radius_m


def test_without_the_box_of_states_errors_that_alternate_lead_robots_farther(monkeypatch: pytest.MonkeyPatch):
    """The same search, and a robot that follows each estimate, as far as its errors allow."""
    crazyflie = of("crazyflie_21")
    kept = share_of(crazyflie, LONGER)
    found = tube_attack.state_box.narrowed

    def forgetful(c: Constants, box: StateBox, *told: Any) -> StateBox:
        return found(c, anywhere(c, told[0][0] * 0, box.misfits, told[-1]), *told)

    monkeypatch.setattr(tube_attack.state_box, "narrowed", forgetful)
    assert kept < 0.75 and share_of(crazyflie, LONGER) > 1.25 * kept


def test_a_tube_that_knows_no_sway_is_nearly_left(monkeypatch: pytest.MonkeyPatch):
    """Robots with little disturbance and twice the delay of their file: their stiff walls make them sway."""
    assert share_of(of("ssl_omni", delay_s=0.15), LONGER) < 0.75
    monkeypatch.setattr(figures_module, "SWAY", 0.0)
    assert share_of(of("ssl_omni", delay_s=0.15), LONGER) > 0.85


@pytest.mark.parametrize("name", ["ssl_omni", "gritsbot"])
def test_the_proved_bound_is_beyond_every_attack_with_a_constant_delay(name: str):
    params, figures = of(name, delay_spread=1.0)
    proof, (*found, whole) = prove_tube(params, figures, COARSE), farthest(params, figures, SHORT)
    assert whole.off_m < proof.radius_m and all(
        one.off_m < bound_m < 1.5 * figures.learned.half_m[0]
        for one, bound_m in zip(found, proof.bounds_m, strict=True)
    )
    assert proof.radius_m >= math.hypot(*proof.bounds_m)


HOLES = ({"off_m": 0.0, "off_m_s": 0.0}, {"push_m_s2": 0.0})


@pytest.mark.parametrize("hole", HOLES)
def test_a_bound_that_leaves_terms_out_is_below_what_an_attack_reaches(hole: dict[str, float]):
    params, figures = of("ssl_omni", delay_spread=1.0)
    axis = dataclasses.replace(axis_of(params, figures, 0), **hole)
    assert bound_m(axis, COARSE) < farthest(params, figures, SHORT)[0].off_m


def test_a_finer_mesh_has_a_smaller_bound_and_proves_the_tube_of_a_vehicle():
    params, figures = of("gritsbot", delay_spread=1.0)
    coarse, fine = (prove_tube(params, figures, mesh) for mesh in (COARSE, CoverMesh(800, 20, 4)))
    assert fine.radius_m <= coarse.radius_m and fine.holds


def test_nothing_is_proved_where_the_delay_varies_or_no_set_holds_its_image():
    assert prove_tube(*of("gritsbot"), COARSE).radius_m == math.inf
    params, figures = of("gritsbot", delay_spread=1.0)
    pushed = dataclasses.replace(axis_of(params, figures, 0), push_m_s2=1.0)
    assert bound_m(pushed, COARSE) == math.inf


def test_no_command_of_the_tracker_makes_a_robot_faster_than_the_cover():
    """Random errors, speeds, last commands and doubts, by the tracker itself."""
    params, figures = of("crazyflie_21", delay_spread=1.0)
    axis, random, s = axis_of(params, figures, 0), np.random.default_rng(3), params.safety
    c, count, half = figures.tracker, 20000, figures.learned.half_m[0]
    top = np.full(200, 0.6)
    cover = Cover(top, 4 * half / 200, 30)
    slow, fast = cover.speeds()
    bound = largest_command(axis, cover, 2.0)
    row, column = random.integers(0, 200, count), random.integers(0, 30, count)
    part = random.random(count)
    speed = slow[row, column] + part * (fast - slow)[row, column]
    error = cover.low_m[row, 0] + random.random(count) * cover.wide_m + speed * c.step_s / 2
    sides = random.choice([-1, 1], (3, count))
    doubt = random.random(count) * axis.doubt_m_s2
    off = doubt * sides[2] * random.random(count)  # estimate minus bias
    off_m_s = s.velocity_error_m_s * sides[0]
    place = error + s.position_error_m * sides[1] + off_m_s * s.delay_s + off * s.delay_s**2 / 2
    seen, none = speed + off_m_s + off * s.delay_s, np.zeros(count)
    zero = (none, none)
    last = random.uniform(-2, 2, count)
    known = Predicted(
        Motion((place, *zero), (seen, *zero)), (doubt * s.delay_s**2 / 2, *zero), (doubt * s.delay_s, *zero),
        (off, *zero), (doubt, *zero), (last, *zero),
    )  # fmt: skip
    point = Point(*((none, none, none),) * 3)
    command, _ = track(c, known, point, figures.learned.half_m, none == 0, np)
    after, most = speed + c.step_s * command[0], fast[row, column] + c.step_s * bound[row, column]
    assert (after <= most + 1e-9).all()
    assert (after > most - 0.01).mean() > 0.05, "and some are near"


@pytest.mark.parametrize(("radius_m", "refuted"), [(0.03, True), (1.0, False)])
def test_a_tube_that_an_attack_leaves_is_refuted(radius_m: float, refuted: bool, capsys: pytest.CaptureFixture):
    params, figures = of("ssl_omni")
    tube = dataclasses.replace(figures.learned, radius_m=radius_m)
    found = tube_figures(Given(params, 0.09, dataclasses.replace(figures, learned=tube)), SHORT)
    said = capsys.readouterr().out
    assert found["tube_refuted"] == refuted == ("NOT PROVEN" in said)
    assert found["tube_proved_m"] is None and "no bound is proved" in said
    assert found["tube_reached_m"] > figures.learned.half_m[0] > radius_m - 1


def test_the_option_belongs_to_the_certificate(capsys: pytest.CaptureFixture):
    assert main(["prove", "gritsbot", "--tube"]) == 2
    assert "add --filter certificate" in capsys.readouterr().err
    assert main(["prove", "swap_4", "--tube", "--worst", "--filter", "certificate"]) == 2
    assert "leave one out" in capsys.readouterr().err
