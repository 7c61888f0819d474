"""`robomarl eval` and `robomarl check`: what the commands write, and what mistakes say."""

import json
import shutil
from pathlib import Path

import pytest

from robomarl.front import cli
from robomarl.lab.sim.scenario import load_scenario
from tests.lab.evaluate.test_evaluate import FIELDS


@pytest.fixture
def small_scenario(tmp_path: Path) -> str:
    file = tmp_path / "small.toml"
    file.write_text('extends = "swap_4"\ntime_limit_s = 0.2\ncount = 2\n')
    return str(file)


def test_the_command_writes_its_figures(small_scenario: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    out = tmp_path / "figures.json"
    words = ["eval", "baseline", "--scenario", small_scenario, "--episodes", "2", "--perturb", "delay_s=0.02"]
    assert cli.main([*words, "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert set(found) >= FIELDS
    assert (found["policy"], found["scenario"], found["perturb"]) == ("baseline", "small", ["delay_s=0.02"])
    assert "success" in capsys.readouterr().out


def test_a_packed_bundle_flies_as_its_folder_does(small_scenario: str, tmp_path: Path, root: Path):
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", root / "policies" / "swap_4")
    for name in ("swap_4", packed):
        out = tmp_path / f"{Path(name).stem}.json"
        words = ["eval", name, "--scenario", small_scenario, "--episodes", "2", "--json", str(out)]
        assert cli.main(words) == 0
    found, same = (json.loads((tmp_path / f"{stem}.json").read_text()) for stem in ("swap_4", "packed"))
    assert same["position_error_m"] == found["position_error_m"]
    assert same["return_mean"] == found["return_mean"]


def test_the_command_reports_held_out_variations_and_sensitivity(tmp_path: Path, capsys: pytest.CaptureFixture):
    file = tmp_path / "small.toml"
    file.write_text(
        'extends = "swap_4"\ntime_limit_s = 0.2\ncount = 2\n'
        + "".join(f"randomize.{name} = [1.0, 1.0]\n" for name in ("mass_scale", "thrust_scale", "rotor_tau_scale"))
        + "".join(f"randomize.{name} = [0.0, 0.0]\n" for name in ("delay_s", "packet_loss", "gust_m_s"))
        + "randomize.noise_scale = [1.0, 1.0]\n"
    )
    out, plot = tmp_path / "figures.json", tmp_path / "sensitivity.png"
    words = ["eval", "baseline", "--scenario", str(file), "--episodes", "2", "--held-out", "--json", str(out)]
    assert cli.main([*words, "--sensitivity", str(plot), "--sensitivity-episodes", "1"]) == 0
    found = json.loads(out.read_text())
    assert list(found["held_out"]) == list(load_scenario("swap_4").held_out)
    assert set(found["held_out"]["windy"]) >= FIELDS
    assert list(found["sensitivity"]) == ["wind_m_s"]
    assert {"value", "in_training", "success_rate", "success_ci95"} <= set(found["sensitivity"]["wind_m_s"][0])
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert "held out windy" in capsys.readouterr().out


def test_the_command_refuses_a_plot_of_another_kind_before_it_flies(small_scenario: str, tmp_path: Path, capsys):
    words = ["eval", "baseline", "--scenario", small_scenario, "--sensitivity", str(tmp_path / "plot.doc")]
    assert cli.main(words) == 1
    assert "must end in .png or .svg" in capsys.readouterr().err


def test_the_command_pairs_policies(small_scenario: str, tmp_path: Path):
    out = tmp_path / "figures.json"
    words = ["eval", "baseline", "baseline", "--paired", "--scenario", small_scenario, "--episodes", "2"]
    assert cli.main([*words, "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert [row["policy"] for row in found["policies"]] == ["baseline", "baseline"]
    assert found["paired"][0]["success_difference"] == 0.0


def test_pairs_of_two_scenarios_are_refused_before_anybody_flies(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr("robomarl.lab.evaluate.evaluate.evaluate", lambda *_: pytest.fail("somebody flew"))
    assert cli.main(["eval", "swap_4", "passage_4", "--paired"]) == 2
    assert "--paired needs the same episodes for all, not swap_4, passage_4; add" in capsys.readouterr().err


def test_the_command_names_a_mistake(capsys: pytest.CaptureFixture):
    assert cli.main(["eval", "nobody"]) == 1
    assert "robomarl eval: Unknown policy 'nobody'" in capsys.readouterr().err


def test_check_command(small_scenario: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    out = tmp_path / "figures.json"
    words = ["check", small_scenario, "--sims", "fast", "mujoco", "--seconds", "0.3", "--json", str(out)]
    assert cli.main(words) == 0
    found = json.loads(out.read_text())
    assert found["passed"] is True
    assert {"position_diff_m", "attitude_diff_rad", "pairs"} <= set(found)
    assert "the engines agree" in capsys.readouterr().out


def test_the_command_flies_a_row_for_each_estimator(small_scenario: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    words = ["eval", "baseline", "--scenario", small_scenario, "--episodes", "2", "--sim", "fast"]
    both = ["--estimator", "assumed", "--estimator", "firmware"]
    assert cli.main([*words, *both, "--json", str(tmp_path / "figures.json")]) == 0
    assumed, firmware = json.loads((tmp_path / "figures.json").read_text())["policies"]
    assert (assumed["estimator"], firmware["estimator"]) == ("assumed", "firmware")
    assert firmware["active_share"] > assumed["active_share"], "wider bounds leave less to the policy"
    assert "estimator" in capsys.readouterr().out.splitlines()[0]
    assert cli.main([*words, "--estimator", "gps"]) == 1
    assert "crazyflie_21.yaml: has no bounds of the estimator 'gps'; measure them" in capsys.readouterr().err
    assert cli.main(["eval", "soccer_2v2", "--estimator", "gps"]) == 2
    assert "--estimator is not for games" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--held-out"], ["--sensitivity", "plot.png"]])
def test_options_of_episodes_that_succeed_or_fail_are_not_for_games(option: list[str], capsys: pytest.CaptureFixture):
    assert cli.main(["eval", "soccer_2v2", *option]) == 2
    assert f"{option[0]} is not for games; pin a parameter with --perturb" in capsys.readouterr().err


def test_the_campaign_is_flown_with_the_bounds_of_an_estimator(tmp_path: Path):
    figures = tmp_path / "figures.json"
    words = ["prove", "crazyflie_21", "--estimator", "firmware", "--agent-steps", "2000", "--seconds", "2"]
    assert cli.main([*words, "--workers", "1", "--json", str(figures)]) == 0
    assert json.loads(figures.read_text())["estimator"] == "firmware"
