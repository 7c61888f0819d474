"""What export refuses to write, and what `verify` finds."""

import json
from pathlib import Path

import onnx
import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.bundle.runtime import read_golden
from robomarl.core.config import UserError
from robomarl.fleet.checks.isolated_check import verify_bundle
from robomarl.front.cli import main
from robomarl.front.cli.export import Args, flown, flown_command
from robomarl.lab import export
from robomarl.lab.export import export_bundle, files
from robomarl.lab.export.figures import add_figures
from robomarl.lab.export.graph import to_onnx
from robomarl.lab.export.record import Recorded
from tests.core.bundle.conftest import TinyRun
from tests.core.bundle.sealing import copy, reseal


@pytest.fixture
def recorded(sealed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Export takes its sequences from the bundle that is there: compiling the environment takes long."""
    known = read_golden(load_bundle(sealed))
    monkeypatch.setattr(export, "record", lambda facts: Recorded(known.views, known.obs, known.action))


@pytest.mark.usefixtures("recorded")
def test_export_writes_nothing_when_the_graph_differs(tiny_run: TinyRun, tmp_path: Path, monkeypatch):
    def wrong(*function):
        model = onnx.load_from_string(to_onnx(*function))
        next(n for n in model.graph.node if n.op_type == "Tanh").op_type = "Erf"
        return model.SerializeToString()

    monkeypatch.setattr(files, "to_onnx", wrong)
    with pytest.raises(UserError, match=r"ONNX and JAX differ: action \S+ is off by .*nothing was written"):
        export_bundle(tiny_run, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_export_leaves_other_folders_alone(tiny_run: TinyRun, tmp_path: Path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UserError, match="other things"):
        export_bundle(tiny_run, tmp_path)
    with pytest.raises(UserError, match="is a file"):
        export_bundle(tiny_run, tmp_path / "thesis.tex")


@pytest.mark.usefixtures("recorded")
def test_export_replaces_a_bundle(tiny_run: TinyRun, sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    (folder / "policy.onnx").write_text("old")
    assert export_bundle(tiny_run, folder).id == load_bundle(sealed).id, "the same run gives the same bundle"
    assert [p.name for p in tmp_path.iterdir()] == ["copy"]


def test_figures_are_in_the_sealed_card_and_beside_it(sealed: Path, tmp_path: Path):
    folder, figures = copy(sealed, tmp_path), {"sim": "mujoco", "episodes": 3, "seed": 0, "filter": "full"}
    figures |= {"success_rate": 0.995, "hover_accel_std_m_s2": 0.2101, "hover_tilt_rad": None, "hover_error_m": 0.0234}
    add_figures(folder, figures, "robomarl eval copy --episodes 3")
    bundle, said = load_bundle(folder), json.loads((folder / "eval.json").read_text())
    assert said["id"] == bundle.id != load_bundle(sealed).id and said["filter_full"] == figures
    card = bundle.files["README.md"].decode()
    for words in (
        "3 episodes on `mujoco`, filter full",
        "| success | 99.5 % |",
        "deviation | 0.21 m/s^2 |",
        "| 2.34 cm |",
    ):
        assert words in card
    assert "tilt" not in card.split("## Conditions")[0]
    assert verify_bundle(folder, timed=False).ok


def test_figures_are_flown_where_the_options_say(sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    how = Args(folder, episodes=1, scenario="swap_8", seed=3)
    flown("tiny", how)(folder)
    said = json.loads((folder / "eval.json").read_text())
    assert said["command"] == "robomarl eval tiny --scenario swap_8 --episodes 1 --seed 3"
    figures = said["filter_full"]
    assert [figures[key] for key in ("scenario", "seed", "episodes", "robots")] == ["swap_8", 3, 1, 8]
    assert "--" not in flown_command("tiny", Args(folder, episodes=1)).replace("--episodes", "")


def test_verify_replays_the_filter(sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    reseal(folder, lambda data: data["safety"].update(min_mates=5))  # nobody hears so many: it brakes
    (problem,) = verify_bundle(folder, timed=False).problems
    assert "command acceleration." in problem and "is off by" in problem


def test_verify_finds_sidecars_of_another_bundle(sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    (folder / "eval.json").write_text('{"id": "other"}')
    assert "eval.json does not name this bundle" in verify_bundle(folder, timed=False).problems[0]
    (folder / "eval.json").write_text(f'{{"id": "{load_bundle(sealed).id}"}}')
    assert verify_bundle(folder, timed=False).ok


def test_verify_says_what_is_wrong(sealed: Path, tmp_path: Path, capsys):
    figures = tmp_path / "figures.json"
    assert main(["verify", str(sealed), "--json", str(figures)]) == 0
    said = json.loads(figures.read_text())
    assert said["ok"] and said["id"] == load_bundle(sealed).id and said["problems"] == []
    assert 0 <= said["parity_max"] <= 1e-5 and 0 < said["latency_p50_us"] <= said["latency_p99_us"]
    folder = copy(sealed, tmp_path)
    (folder / "policy.onnx").write_text("")
    assert main(["verify", str(folder), "--json", str(figures)]) == 1
    said = json.loads(figures.read_text())
    assert not said["ok"] and "policy.onnx" in said["problems"][0]
    assert "policy.onnx" in capsys.readouterr().out
