"""One network from pixels to commands: its fit to lessons, and the team that plays with it.

    python -m robomarl.domains.soccer.lab.lessons.pixel_policy OUT --lessons FILE ...

The network says accelerations along the body's axes. The heading by dead reckoning turns them into the field frame. OUT
gets `network.pt`; the folder is a student of `record`, and a `--policy` of `benchmarks.eyes.matches`.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
import tyro
from tqdm import tqdm

from robomarl.core.config import UserError
from robomarl.core.filter.params import SafetyParams
from robomarl.core.spec import ActionSpec
from robomarl.domains.soccer.core.sight.layout import SPOT, SightLayout
from robomarl.domains.soccer.lab import task
from robomarl.domains.soccer.lab.batch import SoccerSim
from robomarl.domains.soccer.lab.lessons.lesson import Lessons, divided, read_lessons, robots_in
from robomarl.domains.soccer.lab.lessons.pixel_network import PixelNetwork
from robomarl.domains.soccer.lab.lessons.pixel_view import ODOMETRY, PixelObserver
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.eyes_sim import EyesSim
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.league.two_sides import PilotedTeam
from robomarl.lab.sim.scenario import load_scenario

FILE = "network.pt"


@dataclass(frozen=True)
class PixelPolicyConfig:
    """How the network is fitted."""

    out: tyro.conf.Positional[Path]
    """Folder of the network; one that is there is fitted further."""
    lessons: tuple[Path, ...] = ()
    """Files of `robomarl.domains.soccer.lab.lessons.record`."""
    scenario: str = "soccer_2v2"
    """Game."""
    steps: int = 6000
    """Gradient steps."""
    rate: float = 1e-3
    """Largest learning rate; it rises over the first twentieth and falls as a cosine."""
    unroll: int = 50
    """Decisions through which a gradient goes back."""
    rows: int = 64
    """Robots of a gradient step."""
    held_out: float = 0.1
    """Share of the matches that is kept apart to be judged by."""
    seed: int = 0
    """Weights and order."""


class PixelPolicy:
    """The network as a policy of `Pilot`, for the games of one `EyesSim`."""

    def __init__(self, folder: Path, sim: EyesSim) -> None:
        """Read the network; raises `UserError` if it is of other observations."""
        scenario: SoccerScenario = sim.scenario
        self.name, self.scenario_name, self.vehicle_name = folder.name, scenario.name, scenario.vehicle
        self.observation, self.action = PixelObserver(sim), task.action(scenario)
        self._layout = sim.eyes.layout
        self._network = network_of(folder, self.observation.size, self._layout).eval()

    def init(self, batch: tuple[int, ...] = ()) -> tuple[np.ndarray, ...]:
        """Memory before the first decision."""
        return (np.zeros((*batch, self._network.hidden), np.float32),)

    def __call__(self, carry: tuple[np.ndarray, ...], obs: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """(memory, observations [..., P]) -> (memory, commands [..., A] in physical units, field frame)."""
        lead = obs.shape[:-1]
        rows = (torch.from_numpy(np.asarray(part, np.float32).reshape(-1, part.shape[-1])) for part in (*carry, obs))
        with torch.inference_mode():
            memory, unit = self._network(*rows)
        action = unit.numpy().reshape(*lead, -1)
        heading = reckoned_heading(obs, self._layout)
        return (memory.numpy().reshape(*lead, -1),), physical(self.action, action, heading)


def physical(spec: ActionSpec, action: np.ndarray, heading: np.ndarray) -> np.ndarray:
    """Return commands [..., A] in physical units and the field frame; accelerations of `action` are of the body."""
    ahead, left, *others = np.moveaxis(np.asarray(spec.from_unit(action)), -1, 0)
    c, s = np.cos(heading), np.sin(heading)
    return np.stack([c * ahead - s * left, s * ahead + c * left, *others], -1).astype(np.float32)


def of_body(spec: ActionSpec, wanted: np.ndarray, heading: np.ndarray) -> np.ndarray:
    """Return unit actions [..., A] along the body's axes of those in the field frame; cut off at the limits."""
    turned_back = physical(spec, wanted, -heading)
    return np.asarray(spec.to_unit(turned_back), np.float32)


def reckoned_heading(obs: np.ndarray, layout: SightLayout) -> np.ndarray:
    """[...] heading by dead reckoning in observations [..., P]."""
    at = layout.size + ODOMETRY + 2
    return np.arctan2(obs[..., at + 1], obs[..., at])


def is_pixel_policy(folder: Path) -> bool:
    """Return True if the folder is one of this module."""
    return (folder / FILE).is_file()


def student_team(name: str, sim: SoccerSim, params: SafetyParams | None = None) -> PilotedTeam:
    """Return the team of a bundle, a run or a folder of this module behind the safety filter, which works with the
    tracker's belief for all of them; the filter's parameters are the scenario's, or `params`.

    Raises:
        UserError: there is none of that name, or it reads pixels and the games have none.
    """
    if not is_pixel_policy(Path(name)):
        return PilotedTeam(resolve_policy(name)[0], sim.scenario, "qp", params)
    if not isinstance(sim, EyesSim):
        raise UserError(f"--policy {name}: reads pixels; add --eyes pixels.")
    return PilotedTeam(PixelPolicy(Path(name), sim), sim.scenario, "qp", params)  # pyright: ignore[reportArgumentType]


def network_of(folder: Path, size: int, layout: SightLayout) -> PixelNetwork:
    """Return the network of a folder, or a new one; raises `UserError` where it is of another observation."""
    network = PixelNetwork(size, layout)
    if is_pixel_policy(folder):
        try:
            network.load_state_dict(torch.load(folder / FILE))
        except RuntimeError:
            raise UserError(f"{folder / FILE}: is of another observation or layout; name another folder.") from None
    return network


def fit_network(config: PixelPolicyConfig) -> tuple[float, float]:
    """Write the network; return the mean squared errors of the matches kept apart before and after the fit."""
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)
    scenario = load_scenario(config.scenario, SoccerScenario)
    lessons, layout = read_lessons(list(config.lessons)), SightLayout()
    rows = partial(rows_of, task.action(scenario))
    kept, apart = map(rows, divided(lessons, config.held_out, config.unroll))
    network = network_of(config.out, lessons.pixels.shape[-1], layout)
    if not is_pixel_policy(config.out):
        others = torch.from_numpy(lessons.pixels[..., SPOT * layout.spots :]).flatten(0, 2)
        network.mean.copy_(others.mean(0))
        network.spread.copy_(others.std(0) + 1e-3)
    before = judged(network, *apart)
    _improve(config, network, *kept)
    config.out.mkdir(parents=True, exist_ok=True)
    torch.save(network.state_dict(), config.out / FILE)
    return before, judged(network, *apart)


def rows_of(spec: ActionSpec, lessons: Lessons) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the observations [T, B, P] of all robots, and the teacher's actions [T, B, A] along their bodies' axes."""
    wanted = of_body(spec, lessons.wanted, lessons.heading)
    return torch.from_numpy(robots_in(lessons.pixels)), torch.from_numpy(robots_in(wanted))


def _improve(config: PixelPolicyConfig, network: PixelNetwork, obs: torch.Tensor, wanted: torch.Tensor) -> None:
    optimizer = torch.optim.AdamW(network.parameters(), config.rate, weight_decay=1e-4)
    random, mean, memory = np.random.default_rng(config.seed), 0.0, network.start(0)
    with tqdm(total=config.steps, desc="fit", disable=None, unit="step") as bar:
        for number, (is_first, piece, target) in enumerate(islice(_pieces(config, random, obs, wanted), config.steps)):
            done = number / config.steps
            for group in optimizer.param_groups:
                group["lr"] = config.rate * min(1.0, 20 * done + 0.02) * (0.5 + 0.5 * np.cos(np.pi * done))
            error, memory = _error(network, network.start(piece.shape[1]) if is_first else memory, piece, target)
            optimizer.zero_grad()
            error.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            mean = 0.99 * mean + 0.01 * error.item() if mean else error.item()
            bar.set_postfix_str(f"error {mean:.4f}", refresh=False)
            bar.update()


def _pieces(
    config: PixelPolicyConfig, random: np.random.Generator, obs: torch.Tensor, wanted: torch.Tensor
) -> Iterator[tuple[bool, torch.Tensor, torch.Tensor]]:
    """Yield pieces [T, B, ...] of matches of some robots, one after the other, without end; True for the first one."""
    while True:
        rows = torch.from_numpy(random.permutation(obs.shape[1])[: config.rows])
        for start in range(0, len(obs) - config.unroll + 1, config.unroll):
            when = slice(start, start + config.unroll)
            yield start == 0, obs[when, rows], wanted[when, rows]


def _error(
    network: PixelNetwork, memory: torch.Tensor, obs: torch.Tensor, wanted: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the mean squared error along a piece [T, B, ...], and the memory after it."""
    actions = []
    for row in obs:
        memory, action = network(memory, row)
        actions.append(action)
    return ((torch.stack(actions) - wanted) ** 2).mean(), memory.detach()


def judged(network: PixelNetwork, obs: torch.Tensor, wanted: torch.Tensor) -> float:
    """Return the mean squared error along whole matches."""
    with torch.inference_mode():
        return float(_error(network, network.start(obs.shape[1]), obs, wanted)[0])


def main() -> None:
    """Fit as the command line says; a mistake of the user ends it with one sentence."""
    config = tyro.cli(PixelPolicyConfig)
    try:
        before, after = fit_network(config)
    except UserError as error:
        raise SystemExit(str(error)) from None
    print(f"network: {config.out / FILE}, squared error {before:.4f} before, {after:.4f} after")


if __name__ == "__main__":
    main()
