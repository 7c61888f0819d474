"""Train swap_2 with TorchRL's PPO through PettingZoo's interface, and make a sealed bundle of what it learned."""

import sys
from pathlib import Path

import torch
from tensordict.nn import AddStateIndependentNormalScale, TensorDictModule
from torch import nn
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import ProbabilisticActor, TanhNormal
from torchrl.objectives import ClipPPOLoss, ValueEstimators

from robomarl.front.cli import main as robomarl
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.interfaces.parallel_env import PettingZooTeam
from robomarl.lab.sim.scenario import load_scenario

CONTRACT = 'scenario = "swap_2"\nlayout = "rsl_rl"\nactivation = "tanh"\n[action]\nsquash = "tanh"\n'
GROUP = "robots"


def layers(inputs: int, outputs: int) -> nn.Sequential:
    """The same small network for every robot."""
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


def ppo(env: PettingZooWrapper, actor: nn.Module, critic: nn.Module, size: int) -> ClipPPOLoss:
    """TorchRL's loss, its policy inside."""
    spread = nn.Sequential(actor, AddStateIndependentNormalScale(size))
    module = TensorDictModule(spread, [(GROUP, "observation")], [(GROUP, "loc"), (GROUP, "scale")])
    ends = {"in_keys": [(GROUP, "loc"), (GROUP, "scale")], "out_keys": [(GROUP, "action")]}
    said = {"return_log_prob": True, "log_prob_key": (GROUP, "sample_log_prob"), "distribution_class": TanhNormal}
    policy = ProbabilisticActor(module, spec=env.action_spec[GROUP, "action"], **ends, **said)
    value = TensorDictModule(critic, [(GROUP, "observation")], [(GROUP, "state_value")])
    loss = ClipPPOLoss(policy, value, entropy_coeff=1e-3, normalize_advantage=True)
    names = ("reward", "action", "sample_log_prob", "done", "terminated")
    loss.set_keys(value=(GROUP, "state_value"), **{name: (GROUP, name) for name in names})
    loss.make_value_estimator(ValueEstimators.GAE, gamma=0.99, lmbda=0.95)
    return loss


def main(out: str = "runs/torchrl", batches: int = 30, steps: int = 600) -> list[float]:
    """Train on so many batches of environment steps, import the policy; returns each batch's mean reward."""
    torch.manual_seed(0)
    zoo = PettingZooTeam(make_env(load_scenario("swap_2")))
    env = PettingZooWrapper(zoo, group_map={GROUP: zoo.possible_agents}, use_mask=False, done_on_any=True)
    size, wide = env.action_spec[GROUP, "action"].shape[-1], env.observation_spec[GROUP, "observation"].shape[-1]
    actor, critic = layers(wide, size), layers(wide, 1)
    loss, rewards = ppo(env, actor, critic, size), []
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    for batch in range(batches):
        with torch.no_grad():
            data = env.rollout(steps, loss.actor_network, break_when_any_done=False)
            values = {"params": loss.critic_network_params, "target_params": loss.target_critic_network_params}
            loss.value_estimator(data, **values)
        for _ in range(10):
            found = loss(data[torch.randperm(len(data))[: steps // 2]])
            optimizer.zero_grad()
            sum(found[name] for name in ("loss_objective", "loss_critic", "loss_entropy")).backward()
            optimizer.step()
        rewards.append(float(data["next", GROUP, "reward"].mean()))
        print(f"{batch}: reward of a robot's decision {rewards[-1]:.4f}", flush=True)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    torch.save({f"actor.{name}": tensor for name, tensor in actor.state_dict().items()}, folder / "actor.pt")
    (folder / "contract.toml").write_text(CONTRACT)
    words = ["import", str(folder / "actor.pt"), str(folder / "bundle"), "--contract", str(folder / "contract.toml")]
    if robomarl(words):
        raise SystemExit("the policy was not imported.")
    return rewards


if __name__ == "__main__":
    main(*sys.argv[1:2], *(int(word) for word in sys.argv[2:]))
