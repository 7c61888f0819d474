"""What PyTorch wrote is computed as PyTorch does; what is more than weights is not read. Needs the extra `torch`."""

import pickle
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.bundle.runtime import load_policy
from robomarl.core.config import UserError
from robomarl.fleet.checks.verify import verify_here
from robomarl.lab.foreign import import_bundle, read_policy
from robomarl.lab.foreign.contract_file import ACTIVATIONS, ContractFile
from robomarl.lab.foreign.network import ACTIVATIONS as JAX_ACTIVATIONS
from robomarl.lab.foreign.policy import ForeignPolicy

torch: Any = pytest.importorskip("torch")
WIDTH, COMMANDS = 35, 4
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def flown(policy: ForeignPolicy, inputs: np.ndarray) -> np.ndarray:
    memory, outputs, apply = tuple(jnp.zeros(shape) for shape in policy.memory), [], jax.jit(policy.apply)
    for row in inputs:
        memory, output = apply(memory, jnp.asarray(row))
        outputs.append(np.asarray(output))
    return np.stack(outputs)


def check(file: Path, contract: ContractFile, source: Any) -> ForeignPolicy:
    """Ours and the reference against the module that was saved, over decisions in a row."""
    policy = read_policy(file, contract)
    inputs = np.random.default_rng(1).normal(size=(30, WIDTH)).astype(np.float32)
    with torch.no_grad():
        truth = np.asarray(source(inputs))
    np.testing.assert_allclose(flown(policy, inputs), truth, atol=1e-5, rtol=0)
    np.testing.assert_allclose(policy.reference(inputs), truth, atol=1e-5, rtol=0)
    return policy


def sequential(*sizes: int, activation: Any = None, last: bool = False) -> Any:
    layers: list[Any] = []
    for a, b in zip(sizes, sizes[1:], strict=False):
        layers += [torch.nn.Linear(a, b), (activation or torch.nn.ELU)()]
    return torch.nn.Sequential(*(layers if last else layers[:-1]))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_pytorchs(name: str):
    x = np.linspace(-30, 30, 601, dtype=np.float32)
    if name == "identity":
        return np.testing.assert_array_equal(JAX_ACTIVATIONS[name](x), x)
    theirs = getattr(torch if name in ("tanh", "sigmoid") else torch.nn.functional, name)(torch.from_numpy(x))
    np.testing.assert_allclose(np.asarray(JAX_ACTIVATIONS[name](jnp.asarray(x))), theirs.numpy(), atol=3e-6, rtol=1e-6)


@pytest.fixture(params=["mlp", "gru", "lstm"])
def rsl(request: pytest.FixtureRequest) -> Any:
    """An actor of rsl_rl itself, with a normalizer that does something."""
    rsl_rl_mlp = pytest.importorskip("rsl_rl.models.mlp_model")
    rsl_rl_rnn, tensordict = pytest.importorskip("rsl_rl.models.rnn_model"), pytest.importorskip("tensordict")
    torch.manual_seed(0)
    obs = tensordict.TensorDict({"policy": torch.zeros(2, WIDTH)}, [2])
    spread = {"class_name": "GaussianDistribution", "init_std": 1.0, "std_type": "scalar"}
    more: dict[str, Any] = {"hidden_dims": [32, 16], "obs_normalization": True, "distribution_cfg": spread}
    kind, model = request.param, rsl_rl_mlp.MLPModel
    if kind != "mlp":
        model = rsl_rl_rnn.RNNModel
        more |= {"rnn_type": kind, "rnn_hidden_dim": 16, "rnn_num_layers": 2}
    actor = model(obs, {"actor": ["policy"]}, "actor", COMMANDS, **more).eval()
    actor.obs_normalizer._mean[:] = torch.randn(1, WIDTH)
    actor.obs_normalizer._std[:] = torch.rand(1, WIDTH) + 0.3
    return actor


def rsl_source(actor: Any) -> Any:
    def fly(inputs: np.ndarray) -> np.ndarray:
        from tensordict import TensorDict  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

        actor.reset()
        rows = [actor(TensorDict({"policy": torch.from_numpy(row[None])}, [1])) for row in inputs]
        return torch.cat(rows).numpy()

    return fly


def test_checkpoints_of_rsl_rl(rsl: Any, tmp_path: Path):
    optimizer = torch.optim.Adam(rsl.parameters())
    saved = {
        "actor_state_dict": rsl.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "iter": 3,
        "infos": None,
    }
    torch.save(saved, tmp_path / "model_300.pt")
    policy = check(tmp_path / "model_300.pt", ContractFile("swap_4", layout="rsl_rl"), rsl_source(rsl))
    assert policy.normalized


def test_torchscript_of_rsl_rl(rsl: Any, tmp_path: Path):
    torch.jit.script(rsl.as_jit()).save(str(tmp_path / "policy.pt"))
    policy = check(tmp_path / "policy.pt", ContractFile("swap_4"), rsl_source(rsl))
    assert len(policy.memory) in (0, 1, 2)


def test_onnx_of_rsl_rl(rsl: Any, tmp_path: Path):
    pytest.importorskip("onnxscript")
    wrapped, file = rsl.as_onnx(verbose=False).eval(), str(tmp_path / "policy.onnx")
    names = {"input_names": wrapped.input_names, "output_names": wrapped.output_names}
    for dynamo in ({"dynamo": False}, {"dynamo": True, "external_data": False, "verbose": False}):
        torch.onnx.export(wrapped, wrapped.get_dummy_inputs(), file, **names, **dynamo)
        check(Path(file), ContractFile("swap_4"), rsl_source(rsl))


def test_agents_of_skrl(tmp_path: Path):
    instantiators = pytest.importorskip("skrl.utils.model_instantiators.torch")
    scalers = pytest.importorskip("skrl.resources.preprocessors.torch")
    spaces = pytest.importorskip("gymnasium.spaces")
    space, box = spaces.Box(-1, 1, (WIDTH,)), spaces.Box(-1, 1, (COMMANDS,))
    network = [{"name": "net", "input": "OBSERVATIONS", "layers": [32, 16], "activations": "elu"}]
    policy = instantiators.gaussian_model(
        observation_space=space, action_space=box, device="cpu", network=network, output="ACTIONS"
    )
    scaler = scalers.RunningStandardScaler(size=space, device="cpu")
    scaler.running_mean[:] = torch.randn(WIDTH)
    scaler.running_variance[:] = torch.rand(WIDTH) + 0.1
    policy.compute({"observations": torch.zeros(1, WIDTH)}, "policy")  # lazy layers learn their sizes
    modules = {"policy": policy.state_dict(), "observation_preprocessor": scaler.state_dict()}
    torch.save(modules, tmp_path / "agent_100.pt")

    def source(inputs: np.ndarray) -> np.ndarray:
        return policy.compute({"observations": scaler(torch.from_numpy(inputs))}, "policy")[0].numpy()

    check(tmp_path / "agent_100.pt", ContractFile("swap_4", layout="skrl"), source)


class CleanPPO(torch.nn.Module):
    """Names of cleanrl's ppo_continuous_action."""

    def __init__(self) -> None:
        super().__init__()
        self.critic = sequential(WIDTH, 64, 64, 1, activation=torch.nn.Tanh)
        self.actor_mean = sequential(WIDTH, 64, 64, COMMANDS, activation=torch.nn.Tanh)
        self.actor_logstd = torch.nn.Parameter(torch.zeros(1, COMMANDS))


class CleanTD3(torch.nn.Module):
    """Names of cleanrl's td3_continuous_action."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = torch.nn.Linear(WIDTH, 32), torch.nn.Linear(32, 32)
        self.fc_mu = torch.nn.Linear(32, COMMANDS)
        self.register_buffer("action_scale", torch.full((COMMANDS,), 0.7))
        self.register_buffer("action_bias", torch.full((COMMANDS,), 0.1))

    def forward(self, x: Any) -> Any:
        x = torch.relu(self.fc2(torch.relu(self.fc1(x))))
        return torch.tanh(self.fc_mu(x)) * self.action_scale + self.action_bias


def test_models_of_cleanrl(tmp_path: Path):
    ppo, td3, contract = CleanPPO(), CleanTD3(), ContractFile("swap_4", layout="cleanrl")
    torch.save(ppo.state_dict(), tmp_path / "ppo.pt")
    check(tmp_path / "ppo.pt", contract, lambda x: ppo.actor_mean(torch.from_numpy(x)).numpy())
    torch.save((td3.state_dict(), {"fc1.weight": torch.zeros(3, 3)}), tmp_path / "td3.pt")  # actor, then critics
    check(tmp_path / "td3.pt", contract, lambda x: td3(torch.from_numpy(x)).numpy())


def test_safetensors(tmp_path: Path):
    safetensors = pytest.importorskip("safetensors.torch")
    ppo = CleanPPO()
    safetensors.save_file(ppo.state_dict(), tmp_path / "ppo.safetensors")
    source = lambda x: ppo.actor_mean(torch.from_numpy(x)).numpy()  # noqa: E731
    check(tmp_path / "ppo.safetensors", ContractFile("swap_4", layout="cleanrl"), source)
    (tmp_path / "bad.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{broken}")
    with pytest.raises(UserError, match="is no sound safetensors file"):
        read_policy(tmp_path / "bad.safetensors", ContractFile("swap_4", layout="cleanrl"))


class Opens:
    """A pickle that writes a file when it is read."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self.file,)


def test_pickles_that_run_something_are_refused(tmp_path: Path):
    trap, contract = tmp_path / "was_here", ContractFile("swap_4", layout="rsl_rl")
    torch.save({"model_state_dict": Opens(trap)}, tmp_path / "zip.pt")
    (tmp_path / "old.pt").write_bytes(pickle.dumps({"actor.0.weight": Opens(trap)}))
    torch.save(CleanPPO(), tmp_path / "module.pt")
    for name in ("zip.pt", "old.pt", "module.pt"):
        with pytest.raises(UserError, match="wants to run .* when it is read, which import never does"):
            read_policy(tmp_path / name, contract)
    assert not trap.exists()
    (tmp_path / "noise.pt").write_bytes(b"noise")
    with pytest.raises(UserError, match=r"noise\.pt: (can't be read as a checkpoint|wants to run)"):
        read_policy(tmp_path / "noise.pt", contract)


class Saves(torch.nn.Module):
    """TorchScript that writes a file."""

    def forward(self, x):  # without types these are tensors
        torch.save(x, "was_here")
        return x


class Branches(torch.nn.Module):
    """Goes another way for other observations."""

    def forward(self, x):  # without types these are tensors
        if bool(x.sum() > 0):
            return x[:, :4]
        return -x[:, :4]


class Loads(torch.nn.Module):
    """TorchScript that reads a file."""

    def forward(self, x):  # without types these are tensors
        return torch.from_file("secret", False, 4)


def test_torchscript_that_is_more_than_a_network_is_refused(tmp_path: Path):
    for module, said in ((Saves(), "its code calls 'save'"), (Loads(), "its code calls 'from_file'")):
        try:
            torch.jit.script(module).save(str(tmp_path / "policy.pt"))
        except RuntimeError:
            continue  # this PyTorch does not compile it
        with pytest.raises(UserError, match=said):
            read_policy(tmp_path / "policy.pt", ContractFile("swap_4"))
    torch.jit.script(Branches()).save(str(tmp_path / "policy.pt"))
    policy = read_policy(tmp_path / "policy.pt", ContractFile("swap_4"))
    with pytest.raises(UserError, match="forward goes another way for other observations"):
        jax.eval_shape(policy.apply, (), jnp.zeros(WIDTH))


def test_weights_that_are_no_numbers_and_missing_layouts_are_named(tmp_path: Path):
    ppo = CleanPPO()
    torch.save(ppo.state_dict(), tmp_path / "ppo.pt")
    with pytest.raises(
        UserError, match="is a state dict, and the contract does not say whose; add layout = one of rsl"
    ):
        read_policy(tmp_path / "ppo.pt", ContractFile("swap_4"))
    ppo.actor_mean[0].weight.data[0, 0] = torch.nan
    torch.save(ppo.state_dict(), tmp_path / "ppo.pt")
    with pytest.raises(UserError, match=r"actor_mean\.0\.weight has numbers that are not finite"):
        read_policy(tmp_path / "ppo.pt", ContractFile("swap_4", layout="cleanrl"))


@pytest.mark.slow
def test_a_checkpoint_becomes_a_bundle_that_flies(rsl: Any, tmp_path: Path):
    """With fields in another order than ours, recorded in the scenario, with the filter's graph."""
    torch.save({"actor_state_dict": rsl.state_dict()}, tmp_path / "model.pt")
    fields = ["neighbours", "body_up", "velocity", "goal_error", "heading_error"]
    (tmp_path / "contract.toml").write_text(
        f'scenario = "swap_4"\nlayout = "rsl_rl"\n[observation]\nfields = {fields}\n'
    )
    bundle, parity = import_bundle(tmp_path / "model.pt", tmp_path / "contract.toml", tmp_path / "mine")
    assert parity <= 1e-5 and "policy_filtered.onnx" in bundle.files
    assert bundle.contract.observation.elements[0].name == "neighbours[0].dx"
    assert load_policy(tmp_path / "mine").name == "mine"
    verdict = verify_here(tmp_path / "mine")
    assert verdict.ok, verdict.problems
