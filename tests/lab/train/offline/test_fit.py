"""From a simulated data set to a run folder; rewards of rows are those of the simulator where estimates are exact."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.flight.lab.evaluation.score import FlightScore
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.front.cli import main
from robomarl.lab.dataset import Dataset, read_dataset
from robomarl.lab.evaluate.episodes import Step
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import OfflineConfig, TrainConfig
from robomarl.lab.train.offline.fit import learn_offline
from robomarl.lab.train.offline.transitions import asked_for, check_fits, rewarded_transitions
from robomarl.lab.train.run.run_folder import load_policy, load_run

GAMMA = 0.99


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """swap_4 for a second, with exact estimates."""
    file = tmp_path_factory.mktemp("scenario") / "short.toml"
    file.write_text('extends = "swap_4"\ntime_limit_s = 1.0\n[randomize]\nnoise_scale = [0.0, 0.0]\n')
    return file


@pytest.fixture(scope="module")
def data(short: Path) -> Dataset:
    file = short.parent / "flights.parquet"
    assert main(["dataset", "--fly", "swap_4", "--scenario", str(short), "--episodes", "3", "--out", str(file)]) == 0
    return read_dataset(file)


def test_the_rows_say_what_was_flown(data: Dataset):
    about, columns = data.about, data.columns
    assert about["bundle"] == "swap_4"
    assert about["simulated"]["episodes"] == 3
    assert data.names("observation")[:2] == ["goal_error.x", "goal_error.y"]
    assert len(columns["tick"]) == 3 * 50 * 4
    assert (columns["observation"][:, :3] == (columns["goal_m"] - columns["pos_m"]).astype(np.float32)).all()
    assert columns["follows"].sum() == 3 * 49 * 4
    assert (np.diff(columns["stamp_s"])[columns["follows"][1:]] > 0.0199).all()


def simulated_rewards(scenario: Path) -> np.ndarray:
    """[T, E, N] of the very flights of the data set, from the true state."""
    policy, read = resolve_policy("swap_4", str(scenario), kind=FlightScenario)
    from robomarl.domains.flight.lab.engines.teams import make_team

    sim, score, pilot = make_team(read, "mujoco", 3, 0), FlightScore(read), make_pilot(policy, read, "full")
    sim.reset()
    carry, found = pilot.init(sim.views()), []
    for _ in range(read.max_steps):
        before = sim.world
        carry, result = pilot.step(carry, sim.views())
        step = Step(before, sim.step(result.command, pilot.plan(carry)), result, np.zeros(3, bool))
        found.append(score.reward(step))
    return np.stack(found)


def test_rewards_of_rows_are_those_of_the_simulator(data: Dataset, short: Path):
    scenario = load_scenario(str(short))
    env = make_env(scenario)
    rows = rewarded_transitions(data, scenario, env.action, {}, GAMMA)
    true = simulated_rewards(short)[:-1]  # nothing follows the last row
    ours = rows.reward.reshape(4, 3, 49).transpose(2, 1, 0)
    assert ours[1:] == pytest.approx(true[1:], abs=1e-4)  # at the first tick no command is known before it
    assert rows.returned.reshape(4, 3, 49)[..., -1] == pytest.approx(rows.reward.reshape(4, 3, 49)[..., -1])
    assert not rows.ended.any()
    assert np.abs(rows.action).max() <= 1


def test_a_mate_whom_nobody_knows_leaves_no_transition(data: Dataset, short: Path):
    columns = dict(data.columns)
    late = (columns["index"] == 2) & (columns["tick"] < 30)
    columns = {name: values[~late] for name, values in columns.items()}
    scenario = load_scenario(str(short))
    action = make_env(scenario).action
    rows = rewarded_transitions(data._replace(columns=columns), scenario, action, {}, GAMMA)
    assert 0 < len(rows.obs) < 3 * 4 * 40  # 0.3 s before its first row it is not known
    assert len(asked_for(data._replace(columns=columns), action).obs) == 3 * (3 * 50 + 20)


def test_a_run_folder_comes_out(data: Dataset, short: Path, tmp_path: Path):
    config = TrainConfig(scenario=str(short), algorithm="bc", offline=OfflineConfig(steps=300, batch=64))
    found = learn_offline(config, load_scenario(str(short)), data.file, tmp_path / "run", quiet=True)
    assert found["transitions"] == 600
    run = load_run(tmp_path / "run")
    assert run.config.offline.data == data.sha256
    policy = load_policy(tmp_path / "run")
    wanted = data.columns["nominal"]
    error = np.abs(policy((), data.columns["observation"])[1] - wanted).mean()
    assert error < 0.5 * np.abs(wanted - wanted.mean(0)).mean()
    assert run.state.obs_range[0] == pytest.approx(data.columns["observation"].min(0))


def test_what_does_not_fit_is_said(data: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    env = make_env(load_scenario("swap_4"))
    about = json.loads(json.dumps(data.about))
    about["observation"][4]["name"] = "wind.x"
    with pytest.raises(UserError, match=r"element 4 of observation is wind\.x, the scenario's is velocity\.y"):
        check_fits(data._replace(about=about), env.observation, env.action)
    assert data.about["actions_each"] == 1
    with pytest.raises(UserError, match="each decision was 4 actions, which can't be learned from rows of one"):
        check_fits(data._replace(about={**data.about, "actions_each": 4}), env.observation, env.action)
    nobody = data._replace(columns={**data.columns, "state": np.full(len(data.columns["tick"]), "HOLD")})
    with pytest.raises(UserError, match="no row is of an active policy"):
        asked_for(nobody, env.action)
    (tmp_path / "a.parquet").write_bytes(b"none")
    with pytest.raises(UserError, match="is no Parquet file"):
        read_dataset(tmp_path / "a.parquet")
    lift = load_scenario("lift_3")
    with pytest.raises(UserError, match="do not say how the load is"):
        rewarded_transitions(data, lift, make_env(lift).action, {}, GAMMA)
    assert main(["train", "swap_4", "--data", str(data.file), "--out", str(tmp_path / "no")]) == 2
    assert main(["train", "--recipe", "swap_4_bc", "--out", str(tmp_path / "no")]) == 2
    said = capsys.readouterr().err
    assert "learns by simulation; make it bc, td3_bc, iql" in said
    assert "learns from a data set; name it with --data FILE" in said
    memory = replace(TrainConfig(algorithm="bc"), network=replace(TrainConfig().network, memory="gru"))
    with pytest.raises(UserError, match="have no memory to start from"):
        learn_offline(memory, load_scenario("swap_4"), data.file, tmp_path / "no")
    assert main(["dataset"]) == 2
    assert "name recordings, or a bundle with --fly" in capsys.readouterr().err
