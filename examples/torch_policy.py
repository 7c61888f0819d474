"""Swap a bundle's network for a PyTorch module: it learns what the bundle answers, and becomes a sealed bundle."""

import sys
from pathlib import Path

import numpy as np
import torch
from fly_bundle import fly
from torch import nn

from robomarl.front.cli import main as robomarl
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.simulation import simulation_of


class TorchPolicy:
    """What `make_pilot` needs of a policy, around any module from observations to actions in [-1, 1]."""

    def __init__(self, module: nn.Module, teacher) -> None:
        """Take the place of a bundle's policy, whose observation and command stay."""
        self.name, self.module, self.teacher = "torch", module, teacher
        self.contract, self.observation, self.action = teacher.contract, teacher.observation, teacher.action
        self.seen, self.told, self.flies = [], [], False

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """No memory; a recurrent module would have its own here."""
        return ()

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """[..., O] to [..., A] in physical units; keeps what the teacher would have done."""
        _, answer = self.teacher(self.teacher.init(obs.shape[:-1]), obs)
        self.seen.append(obs.reshape(-1, obs.shape[-1]))
        self.told.append(self.action.to_unit(answer).reshape(-1, answer.shape[-1]))
        if not self.flies:
            return carry, answer
        with torch.no_grad():
            unit = self.module(torch.as_tensor(np.asarray(obs, np.float32))).numpy()
        return carry, self.action.from_unit(unit)

    def learn(self, passes: int) -> float:
        """Fit the module to all that was told; returns the mean squared error."""
        x, y = (torch.as_tensor(np.concatenate(rows).astype(np.float32)) for rows in (self.seen, self.told))
        optimizer, error = torch.optim.Adam(self.module.parameters(), 3e-3), torch.zeros(())
        for _ in range(passes):
            optimizer.zero_grad()
            error = nn.functional.mse_loss(self.module(x), y)
            error.backward()
            optimizer.step()
        return error.item()


def seal(module: nn.Module, scenario: str, folder: Path) -> None:
    """Save the module as TorchScript, and make a sealed bundle of it in FOLDER/bundle."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.jit.script(module).save(str(folder / "policy.pt"))
    (folder / "contract.toml").write_text(f'scenario = "{scenario}"\n')
    words = ["import", str(folder / "policy.pt"), str(folder / "bundle"), "--contract", str(folder / "contract.toml")]
    if robomarl(words):
        raise SystemExit("the policy was not imported.")


def main(name: str = "swap_4", out: str = "runs/torch", passes: int = 300, rounds: int = 3) -> dict[str, np.ndarray]:
    """Let a module fly, learn what the bundle would have done there (DAgger), seal it; gives the last trajectories."""
    torch.manual_seed(0)
    teacher, scenario = resolve_policy(name)
    size, answers = teacher.observation.size, teacher.action.size
    layers = (nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, answers), nn.Tanh())
    policy, sim = TorchPolicy(nn.Sequential(*layers), teacher), simulation_of(scenario).batch(scenario, "fast", 8, 0)
    for number in range(rounds):
        fly(make_pilot(policy, scenario, "qp"), sim)
        policy.flies = True
        print(f"round {number}: error {policy.learn(passes):.4f} over {sum(map(len, policy.seen)):,} decisions")
    seal(policy.module, scenario.name, Path(out))
    return fly(make_pilot(policy, scenario, "qp"), sim)


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
