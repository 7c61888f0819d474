"""Makes policies with PyTorch, its exporters and the trainers that build on it: `python torch_corpus.py FOLDER`.

Runs in an environment of its own (see `test_corpus.py`), for these libraries are too large for everybody's. Each policy
is a file, a contract and what the library itself computes on decisions in a row; `index.json` lists them.
"""

# pyright: reportMissingImports=false, reportIndexIssue=false, reportAttributeAccessIssue=false, reportOperatorIssue=false
# PyTorch and Stable-Baselines3 type parts of modules as modules or tensors, whichever it may be.

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnxscript import FLOAT, opset18, script
from torch import nn

WIDTH, ACTIONS, STEPS = 38, 4, 12
INPUTS = np.random.default_rng(1).normal(size=(STEPS, WIDTH)).astype(np.float32)
MAKERS: list[Callable[["Corpus"], None]] = []


class Corpus:
    """The folder that is written."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.index = folder, []

    def file(self, name: str) -> str:
        return str(self.folder / name)

    def read(self, file: str, exporter: str, truth: Any, contract: str = "") -> None:
        """A policy that import has to read: truth is the function of the library or what it gave."""
        with torch.no_grad():
            found = truth(torch.from_numpy(INPUTS)) if callable(truth) else truth
        np.save(self.folder / f"{file}.truth.npy", np.asarray(found, np.float32).reshape(STEPS, -1))
        self.index.append({"file": file, "exporter": exporter, "contract": contract, "said": ""})

    def refused(self, file: str, exporter: str, said: str, contract: str = "") -> None:
        """A policy that import has to refuse, for this reason."""
        self.index.append({"file": file, "exporter": exporter, "contract": contract, "said": said})


def made(maker: Callable[[Corpus], None]) -> Callable[[Corpus], None]:
    MAKERS.append(maker)
    return maker


def mlp(*sizes: int, activation: Any = nn.ELU) -> nn.Sequential:
    pairs = list(zip(sizes, sizes[1:], strict=False))
    layers = [layer for a, b in pairs for layer in (nn.Linear(a, b), activation())]
    return nn.Sequential(*layers[:-1])


def export(module: nn.Module, inputs: tuple, file: str, names: tuple[list[str], list[str]], **more: Any) -> None:
    more = {"dynamo": False, **more}
    torch.onnx.export(module.eval(), inputs, file, input_names=names[0], output_names=names[1], **more)


ROW = torch.zeros(1, WIDTH)
PLAIN = (["obs"], ["actions"])


@made
def onnx_of_pytorch(to: Corpus) -> None:
    for name, activation in (("elu", nn.ELU), ("mish", nn.Mish), ("gelu", nn.GELU), ("softsign", nn.Softsign)):
        net = mlp(WIDTH, 32, ACTIONS, activation=activation)
        export(net, (ROW,), to.file(f"{name}.onnx"), PLAIN)
        to.read(f"{name}.onnx", "torch.onnx", net)
    net = mlp(WIDTH, 32, ACTIONS)
    export(net, (ROW,), to.file("dynamic.onnx"), PLAIN, dynamic_axes={"obs": {0: "batch"}, "actions": {0: "batch"}})
    to.read("dynamic.onnx", "torch.onnx", net)
    export(net, (ROW,), to.file("dynamo.onnx"), PLAIN, dynamo=True, external_data=False, verbose=False)
    to.read("dynamo.onnx", "torch.onnx (dynamo)", net)
    export(net, (torch.zeros(4096, WIDTH),), to.file("batch4096.onnx"), PLAIN)
    to.read("batch4096.onnx", "torch.onnx", net)
    export(net.double(), (ROW.double(),), to.file("double.onnx"), PLAIN)
    to.read("double.onnx", "torch.onnx", lambda x: net(x.double()))
    half = mlp(WIDTH, 32, ACTIONS).half()
    export(half, (ROW.half(),), to.file("half.onnx"), PLAIN)
    to.read("half.onnx", "torch.onnx", lambda x: half.float()(x))
    normed = nn.Sequential(nn.BatchNorm1d(WIDTH), nn.Linear(WIDTH, 16), nn.LayerNorm(16), nn.Tanh(), nn.Linear(16, 4))
    normed[0].running_mean[:], normed[0].running_var[:] = torch.randn(WIDTH), torch.rand(WIDTH) + 0.2
    export(normed, (ROW,), to.file("normed.onnx"), PLAIN)
    to.read("normed.onnx", "torch.onnx", normed.eval())


class Recurrent(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.cell = (nn.GRU if kind == "gru" else nn.LSTM)(WIDTH, 16)
        self.head, self.value = mlp(16, 8, ACTIONS), nn.Linear(16, 1)

    def forward(self, obs: Any, *state: Any) -> Any:
        out, after = self.cell(obs[None], state[0] if len(state) == 1 else state)
        after = after if isinstance(after, tuple) else (after,)
        return (self.value(out[0]), self.head(out[0]), *after)  # a value before the action: places say nothing

    def truth(self, x: Any) -> Any:
        return self.head(self.cell(x[:, None])[0][:, 0])


@made
def memory_by_name(to: Corpus) -> None:
    state = torch.zeros(1, 1, 16)
    names = {
        "h_in": (["obs", "h_in"], ["value", "actions", "h_out"], "gru"),
        "next": (["hidden", "obs"], ["value", "action", "next_hidden"], "gru"),
        "pytorch": (["obs", "h0", "c0"], ["value", "actions", "hn", "cn"], "lstm"),
        "swapped": (["obs", "state_in_h", "state_in_c"], ["value", "actions", "state_out_h", "state_out_c"], "lstm"),
    }
    for name, (inputs, outputs, kind) in names.items():
        net = Recurrent(kind)
        states = (state,) if kind == "gru" else (state, state)
        first = inputs[0] == "obs"

        class Ordered(nn.Module):
            def __init__(self, net: Any = net, first: bool = first) -> None:
                super().__init__()
                self.net, self.first = net, first

            def forward(self, *given: Any) -> Any:
                return self.net(*given) if self.first else self.net(given[1], given[0])

        export(Ordered(), (ROW, *states) if first else (state, ROW), to.file(f"memory_{name}.onnx"), (inputs, outputs))
        to.read(f"memory_{name}.onnx", "torch.onnx", net.truth)
    net = Recurrent("gru")
    export(net, (ROW, state), to.file("unnamed.onnx"), (["obs", "a"], ["value", "actions", "b"]))
    to.refused("unnamed.onnx", "torch.onnx", r"the inputs a are memory.*\[memory\]", '[action]\noutput = "actions"')
    declared = '[action]\noutput = "actions"\n[memory]\na = "b"'
    export(net, (ROW, state), to.file("declared.onnx"), (["obs", "a"], ["value", "actions", "b"]))
    to.read("declared.onnx", "torch.onnx", net.truth, declared)


class Motion(nn.Module):
    """As a tracker of motions: a table by time step, a value beside the action."""

    def __init__(self) -> None:
        super().__init__()
        self.actor, self.value = mlp(WIDTH + 1, 16, ACTIONS), mlp(WIDTH, 8, 1)
        self.register_buffer("table", torch.randn(7, ACTIONS))

    def forward(self, obs: Any, time_step: Any) -> Any:
        row = torch.clamp(time_step.long().squeeze(-1), max=6)
        return self.actor(torch.cat([obs, time_step / 10], -1)) + self.table[row], self.value(obs)

    def truth(self, x: Any) -> Any:
        return torch.cat([self(row[None], torch.full((1, 1), float(t)))[0] for t, row in enumerate(x)])


@made
def counters(to: Corpus) -> None:
    net = Motion()
    export(net, (ROW, torch.zeros(1, 1)), to.file("motion.onnx"), (["obs", "time_step"], ["actions", "value"]))
    to.read("motion.onnx", "torch.onnx", net.truth)


@made
def torchscript(to: Corpus) -> None:
    net = mlp(WIDTH, 32, ACTIONS)
    torch.jit.trace(net, ROW).save(to.file("traced.pt"))
    torch.jit.script(net).save(to.file("scripted.pt"))
    to.read("traced.pt", "TorchScript", net)
    to.read("scripted.pt", "TorchScript", net)
    torch.save(net, to.file("whole_module.pt"))
    to.refused("whole_module.pt", "torch.save", r"is a whole module.*save only the state_dict", 'layout = "cleanrl"')


@made
def rsl_rl(to: Corpus) -> None:
    from rsl_rl.models.mlp_model import MLPModel
    from rsl_rl.models.rnn_model import RNNModel
    from tensordict import TensorDict

    obs = TensorDict({"policy": torch.zeros(2, WIDTH)}, [2])
    spread = {"class_name": "GaussianDistribution", "init_std": 1.0, "std_type": "scalar"}
    for kind in ("mlp", "gru", "lstm"):
        more: dict[str, Any] = {"hidden_dims": [32, 16], "obs_normalization": True, "distribution_cfg": spread}
        if kind != "mlp":
            more |= {"rnn_type": kind, "rnn_hidden_dim": 16, "rnn_num_layers": 1}
        actor = (MLPModel if kind == "mlp" else RNNModel)(obs, {"actor": ["policy"]}, "actor", ACTIONS, **more).eval()
        actor.obs_normalizer._mean[:] = torch.randn(1, WIDTH)
        actor.obs_normalizer._std[:] = torch.rand(1, WIDTH) + 0.3

        def truth(x: Any, actor: Any = actor) -> Any:
            actor.reset()
            return torch.cat([actor(TensorDict({"policy": row[None]}, [1])) for row in x])

        optimizer = torch.optim.Adam(actor.parameters()).state_dict()
        both = {"optimizer_state_dict": optimizer, "iter": 3, "infos": {"best": np.float64(1.5)}}
        torch.save({"actor_state_dict": actor.state_dict(), **both}, to.file(f"rsl_{kind}.pt"))
        to.read(f"rsl_{kind}.pt", "rsl_rl", truth, 'layout = "rsl_rl"')
        students = {"student_state_dict": actor.state_dict(), "teacher_state_dict": mlp(WIDTH, 9, 4).state_dict()}
        torch.save({**students, **both}, to.file(f"rsl_student_{kind}.pt"))
        to.read(f"rsl_student_{kind}.pt", "rsl_rl", truth, 'layout = "rsl_rl"')


@made
def skrl(to: Corpus) -> None:
    from gymnasium.spaces import Box
    from skrl.resources.preprocessors.torch import RunningStandardScaler
    from skrl.utils.model_instantiators.torch import gaussian_model

    space, box = Box(-1, 1, (WIDTH,)), Box(-1, 1, (ACTIONS,))
    network = [{"name": "net", "input": "OBSERVATIONS", "layers": [32, 16], "activations": "elu"}]
    more = {"network": network, "output": "ACTIONS", "device": "cpu"}
    policy = gaussian_model(observation_space=space, action_space=box, **more)
    scaler = RunningStandardScaler(size=space, device="cpu")
    scaler.running_mean[:], scaler.running_variance[:] = torch.randn(WIDTH), torch.rand(WIDTH) + 0.1
    policy.compute({"observations": torch.zeros(1, WIDTH)}, "policy")  # lazy layers learn their sizes
    modules = {"policy": policy.state_dict(), "observation_preprocessor": scaler.state_dict()}
    torch.save(modules, to.file("skrl.pt"))
    to.read("skrl.pt", "skrl", lambda x: policy.compute({"observations": scaler(x)}, "policy")[0], 'layout = "skrl"')


@made
def rl_games(to: Corpus) -> None:
    from rl_games.algos_torch.models import ModelA2CContinuousLogStd
    from rl_games.algos_torch.network_builder import A2CBuilder

    initial: dict[str, Any] = {"name": "default"}
    continuous: dict[str, Any] = {"mu_activation": "None", "sigma_activation": "None", "fixed_sigma": True}
    continuous |= {"mu_init": initial, "sigma_init": {"name": "const_initializer", "val": 0}}
    dense = {"units": [32, 16], "activation": "elu", "initializer": initial, "d2rl": False}
    cell = {"units": 16, "layers": 1, "before_mlp": False, "layer_norm": True}
    kinds: dict[str, dict] = {
        "mlp": {},
        "gru": {"rnn": {**cell, "name": "gru"}},
        "lstm": {"rnn": {**cell, "name": "lstm"}},
    }
    kinds["before"] = {"rnn": {"name": "gru", "units": 24, "layers": 1, "before_mlp": True}}
    kinds["apart"] = {"separate": True}
    for kind, more in kinds.items():
        builder = A2CBuilder()
        builder.load({"separate": False, "space": {"continuous": continuous}, "mlp": dense, **more})
        sizes = {"actions_num": ACTIONS, "input_shape": (WIDTH,), "num_seqs": 1, "value_size": 1}
        model = ModelA2CContinuousLogStd(builder).build({**sizes, "normalize_value": True, "normalize_input": True})
        model.eval()
        seen = model.running_mean_std
        seen.running_mean[:], seen.running_var[:] = torch.randn(WIDTH), torch.rand(WIDTH) + 0.1

        def truth(x: Any, model: Any = model) -> Any:
            states = model.get_default_rnn_state() if model.is_rnn() else None
            outputs = []
            for row in x:
                found = model({"is_train": False, "prev_actions": None, "obs": row[None], "rnn_states": states})
                states = found["rnn_states"]
                outputs.append(found["mus"])
            return torch.cat(outputs)

        saved = {"model": model.state_dict(), "epoch": 3, "last_mean_rewards": np.float32(7), "env_state": None}
        torch.save(saved, to.file(f"rl_games_{kind}.pth"))
        to.read(f"rl_games_{kind}.pth", "rl_games", truth, 'layout = "rl_games"')


@made
def stable_baselines(to: Corpus) -> None:
    import gymnasium
    import sb3_contrib
    import stable_baselines3 as sb3
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    class Space(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (WIDTH,), np.float32)
        action_space = gymnasium.spaces.Box(np.array([-1, -2, -1, -1], np.float32), np.array([1, 1, 3, 1], np.float32))

        def reset(self, **_: Any) -> Any:
            return np.zeros(WIDTH, np.float32), {}

        def step(self, action: Any) -> Any:
            return np.ones(WIDTH, np.float32), 0.0, False, False, {}

    def flown(model: Any, x: Any) -> Any:
        state, outputs = None, []
        for i, row in enumerate(np.asarray(x)):
            action, state = model.predict(row, state, np.array([i == 0]), deterministic=True)
            outputs.append(action)
        return np.stack(outputs)

    classes: list[tuple[Any, str]] = [(sb3, n) for n in ("PPO", "A2C", "SAC", "TD3", "DDPG")]
    classes += [(sb3_contrib, n) for n in ("TRPO", "TQC")]
    for module, name in classes:
        model = getattr(module, name)("MlpPolicy", Space())
        if hasattr(model.policy, "action_net"):
            model.policy.action_net.weight.data *= 200  # they begin at nearly 0, where nothing is clipped
        model.save(to.file(f"{name}.zip"))
        to.read(f"{name}.zip", module.__name__, lambda x, m=model: flown(m, x))
    model = sb3_contrib.RecurrentPPO("MlpLstmPolicy", Space(), policy_kwargs={"lstm_hidden_size": 16})
    model.save(to.file("RecurrentPPO.zip"))
    to.read("RecurrentPPO.zip", "sb3_contrib", lambda x: flown(model, x))
    elu = sb3.PPO("MlpPolicy", Space(), policy_kwargs={"activation_fn": nn.ELU, "net_arch": [24]})
    elu.save(to.file("elu.zip"))
    to.read("elu.zip", "stable_baselines3", lambda x: flown(elu, x))
    torch.save(elu.policy.state_dict(), to.file("elu_policy.pth"))
    unclipped = lambda x: elu.policy.get_distribution(x).distribution.mean  # noqa: E731
    to.read("elu_policy.pth", "stable_baselines3", unclipped, 'layout = "sb3"\nactivation = "elu"')
    envs = VecNormalize(DummyVecEnv([Space]), clip_obs=2.0)
    envs.obs_rms.mean, envs.obs_rms.var = np.random.randn(WIDTH), np.random.rand(WIDTH) + 0.1
    behind = sb3.PPO("MlpPolicy", envs)
    behind.save(to.file("normalized.zip"))
    envs.save(to.file("vecnormalize.pkl"))
    contract = 'vec_normalize = "vecnormalize.pkl"'
    seen = lambda x: envs.normalize_obs(np.asarray(x))  # noqa: E731
    to.read("normalized.zip", "stable_baselines3", lambda x: flown(behind, seen(x).astype(np.float32)), contract)
    sb3_contrib.CrossQ("MlpPolicy", Space()).save(to.file("CrossQ.zip"))
    to.refused("CrossQ.zip", "sb3_contrib", "export the policy as ONNX instead")


class CleanSAC(nn.Module):
    """Names of cleanrl's sac_continuous_action, which is a script and not a library."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(WIDTH, 32), nn.Linear(32, 32)
        self.fc_mean, self.fc_logstd = nn.Linear(32, ACTIONS), nn.Linear(32, ACTIONS)
        self.register_buffer("action_scale", torch.full((ACTIONS,), 0.7))
        self.register_buffer("action_bias", torch.full((ACTIONS,), 0.1))

    def forward(self, x: Any) -> Any:
        x = torch.relu(self.fc2(torch.relu(self.fc1(x))))
        return torch.tanh(self.fc_mean(x)) * self.action_scale + self.action_bias


@made
def cleanrl(to: Corpus) -> None:
    net = nn.Module()
    net.actor_mean, net.critic = mlp(WIDTH, 64, 64, ACTIONS, activation=nn.Tanh), mlp(WIDTH, 64, 1)
    net.actor_logstd = nn.Parameter(torch.zeros(1, ACTIONS))
    torch.save(net.state_dict(), to.file("ppo.cleanrl_model"))
    to.read("ppo.cleanrl_model", "cleanrl", net.actor_mean, 'layout = "cleanrl"')
    torch.save(net.state_dict(), to.file("old.pt"), _use_new_zipfile_serialization=False)
    to.read("old.pt", "torch.save (before 1.6)", net.actor_mean, 'layout = "cleanrl"')
    sac = CleanSAC()
    torch.save((sac.state_dict(), mlp(9, 3, 1).state_dict()), to.file("sac.cleanrl_model"))
    to.read("sac.cleanrl_model", "cleanrl", sac, 'layout = "cleanrl"')
    torch.save(net.bfloat16().state_dict(), to.file("bfloat.pt"))
    to.read("bfloat.pt", "torch.save", net.float().actor_mean, 'layout = "cleanrl"')


@made
def other_exporters_of_onnx(to: Corpus) -> None:
    import onnx
    from onnxconverter_common import float16
    from skl2onnx import to_onnx
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, WIDTH)).astype(np.float32), rng.normal(size=(60, ACTIONS)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learned = MLPRegressor(hidden_layer_sizes=(16,), activation="tanh", max_iter=20).fit(x, y)
        scaled = make_pipeline(StandardScaler(), learned).fit(x, y)
    Path(to.file("sklearn.onnx")).write_bytes(to_onnx(learned, x[:1]).SerializeToString())
    to.read("sklearn.onnx", "skl2onnx", learned.predict(INPUTS))
    Path(to.file("pipeline.onnx")).write_bytes(to_onnx(scaled, x[:1]).SerializeToString())
    to.refused("pipeline.onnx", "skl2onnx", r"uses operators of 'ai\.onnx\.ml'.*'Scaler'")
    whole = mlp(WIDTH, 16, ACTIONS)
    export(whole, (ROW,), to.file("whole.onnx"), PLAIN)
    halved = float16.convert_float_to_float16(onnx.load(to.file("whole.onnx")), keep_io_types=True)
    onnx.save(halved, to.file("converted_half.onnx"))
    for parameter in whole.parameters():
        parameter.data = parameter.data.half().float()
    to.read("converted_half.onnx", "onnxconverter_common", whole)


@made
def onnx_of_jax(to: Corpus) -> None:
    import jax.numpy as jnp
    import onnx
    from jax2onnx import to_onnx

    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(WIDTH, 16)).astype(np.float32) / 6, rng.normal(size=(16, ACTIONS)).astype(np.float32) / 4
    act = lambda x: jnp.tanh(x @ a) @ b  # noqa: E731
    found = to_onnx(act, [(1, WIDTH)])
    if not isinstance(found, str):
        onnx.save(found, to.file("jax.onnx"))
    to.read("jax.onnx", "jax2onnx", np.tanh(INPUTS @ a) @ b)


@made
def onnx_by_hand(to: Corpus) -> None:
    import onnx
    import spox.opset.ai.onnx.v17 as op
    from spox import Tensor, argument, build

    rng = np.random.default_rng(0)
    w, bias = rng.normal(size=(WIDTH, ACTIONS)).astype(np.float32) / 6, np.ones(ACTIONS, np.float32)
    obs = argument(Tensor(np.float32, ("batch", WIDTH)))
    onnx.save(
        build({"obs": obs}, {"actions": op.tanh(op.gemm(obs, op.const(w), op.const(bias)))}), to.file("spox.onnx")
    )
    to.read("spox.onnx", "spox", np.tanh(INPUTS @ w + bias))

    @script(default_opset=opset18)
    def policy(obs: FLOAT["batch", 38], weight: FLOAT[38, 4]) -> FLOAT["batch", 4]:  # type: ignore  # noqa: F821
        return opset18.Tanh(opset18.MatMul(obs, weight))

    model = policy.to_model_proto()
    model.graph.initializer.append(onnx.numpy_helper.from_array(w, "weight"))
    onnx.save(model, to.file("onnxscript.onnx"))
    to.read("onnxscript.onnx", "onnxscript", np.tanh(INPUTS @ w))


@made
def safetensors(to: Corpus) -> None:
    from safetensors.torch import save_file

    net = nn.Module()
    net.actor_mean = mlp(WIDTH, 64, ACTIONS, activation=nn.Tanh)
    save_file(net.state_dict(), to.file("clean.safetensors"))
    to.read("clean.safetensors", "safetensors", net.actor_mean, 'layout = "cleanrl"')


def main(folder: Path) -> None:
    torch.manual_seed(0)
    np.random.seed(0)
    corpus = Corpus(folder)
    for maker in MAKERS:
        maker(corpus)
    (folder / "index.json").write_text(json.dumps(corpus.index))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
