"""Training of the perception network: `python -m robomarl.domains.soccer.lab.sight.fit OUT --seconds 600`.

Pictures are drawn by the renderer in one thread and fitted by torch in another, each picture once. OUT gets
`network.pt` (from which the next run goes on), `perception.onnx` and `fit.csv`.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np
import onnx
import torch
import tyro

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import GroundStrip
from robomarl.domains.soccer.core.sight.layout import SightLayout
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.labels import Labels, labels_of
from robomarl.domains.soccer.lab.sight.network import CELL, SightGraph, SightNetwork, sight_loss
from robomarl.domains.soccer.lab.sight.pitch import camera_of, pitch_of
from robomarl.domains.soccer.lab.sight.renderer import make_renderer
from robomarl.domains.soccer.lab.sight.scene import draw_look, draw_scene
from robomarl.domains.soccer.lab.sight.small_weights import with_small_weights
from robomarl.lab.sim.scenario import load_scenario

Batch = tuple[torch.Tensor, dict[str, torch.Tensor]]


@dataclass(frozen=True)
class FitConfig:
    """How the network is trained."""

    out: tyro.conf.Positional[Path]
    """Folder of the results; a network that is there is trained further."""
    scenario: str = "soccer_2v2"
    """Name of the game; its pitch, robots and camera are drawn."""
    seconds: float = 600.0
    """Wall time of training."""
    batch: int = 128
    """Pictures of one step."""
    rate: float = 3e-3
    """Largest learning rate; it rises over the first twentieth and then falls as a cosine."""
    wide: int = 32
    """Channels of the network's grid."""
    seed: int = 0
    """Seed of pictures and weights."""


def sampler(
    scenario: SoccerScenario, size: int, camera: PinholeCamera
) -> Callable[[jax.Array], tuple[jax.Array, Labels]]:
    """Return the compiled function from a key to E pictures [R, C, 3, E] of a camera and their labels."""
    pitch, strip = pitch_of(scenario), GroundStrip()
    others = (0,) * (scenario.count - 1) + (1,) * scenario.count
    render = make_renderer(pitch, camera, strip)

    @jax.jit
    def sample(key: jax.Array) -> tuple[jax.Array, Labels]:
        first, second = jax.random.split(key)
        scene = draw_scene(first, pitch, camera.place_m[0], others, size)
        drawn = render(scene, draw_look(second, camera, size))
        return drawn.strip, labels_of(scene, drawn, camera.place_m[0])

    return sample


def as_batch(pictures: np.ndarray, labels: Labels, strip: GroundStrip) -> Batch:
    """Return pictures and labels as torch takes them, the environment first."""
    row, column = strip.cell(np.asarray(labels.range_m, np.float64), np.asarray(labels.azimuth, np.float64))
    kind = np.asarray(labels.opponent) + 1
    kind[0] = 0
    parts = {"seen": labels.seen, "kind": kind, "row": row / CELL, "column": column / CELL, "pose": labels.pose}
    tensors = {name: torch.from_numpy(np.array(part, np.float32).T.copy()) for name, part in parts.items()}
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(pictures, -1, 0))), tensors


def batches(scenario: SoccerScenario, size: int, seed: int) -> Iterator[Batch]:
    """Yield batches without end, drawn in a thread of their own."""
    ready: queue.Queue[Batch] = queue.Queue(4)
    sample, strip = sampler(scenario, size, camera_of(scenario)), GroundStrip()

    def fill() -> None:
        key = jax.random.key(seed)
        while True:
            key, now = jax.random.split(key)
            pictures, labels = sample(now)
            ready.put(as_batch(np.asarray(pictures), labels, strip))

    threading.Thread(target=fill, daemon=True).start()
    while True:
        yield ready.get()


def fit(config: FitConfig) -> Path:
    """Train for the time that the configuration gives; return the ONNX file."""
    scenario = load_scenario(config.scenario, SoccerScenario)
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)
    network, strip = SightNetwork(GroundStrip(), config.wide), GroundStrip()
    config.out.mkdir(parents=True, exist_ok=True)
    kept, log = config.out / "network.pt", config.out / "fit.csv"
    seed = config.seed
    if kept.exists():
        network.load_state_dict(torch.load(kept))
        seed += int(kept.stat().st_mtime)
    optimizer = torch.optim.AdamW(network.parameters(), config.rate, weight_decay=1e-4)
    start_s, said_s, step, mean = time.monotonic(), time.monotonic(), 0, 0.0
    for pictures, labels in batches(scenario, config.batch, seed):
        share = (time.monotonic() - start_s) / config.seconds
        if share >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = config.rate * min(1.0, 20 * share + 0.02) * (0.5 + 0.5 * np.cos(np.pi * share))
        cells, pose = network(pictures)
        loss = sight_loss(cells, pose, network.nothing, labels)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 10.0)
        optimizer.step()
        step, mean = step + 1, 0.98 * mean + 0.02 * loss.item()
        if time.monotonic() - said_s > 20:
            said_s = time.monotonic()
            with log.open("a") as lines:
                lines.write(f"{said_s - start_s:.0f},{step * config.batch},{mean:.4f},{time.process_time():.0f}\n")
            torch.save(network.state_dict(), kept)
            print(f"{share:6.1%}  {step * config.batch:9,d} pictures  loss {mean:.3f}", flush=True)
    torch.save(network.state_dict(), kept)
    return export(network, strip, config.out / "perception.onnx")


def export(network: SightNetwork, strip: GroundStrip, file: Path) -> Path:
    """Write the network with its decoder as ONNX: `strip` [1, 32, 96, 3] uint8 to `sight` [1, S] float32.

    Large weights are bytes in the file.
    """
    graph = SightGraph(network, strip, SightLayout()).eval()
    blank = torch.zeros((1, *strip.shape), dtype=torch.uint8)
    names = ["strip"], ["sight"]
    torch.onnx.export(
        graph, (blank,), str(file), input_names=names[0], output_names=names[1], opset_version=17, dynamo=False
    )
    onnx.save(with_small_weights(onnx.load(file)), str(file))
    network.train()
    return file


def main() -> None:
    """Train as the command line says."""
    print(f"perception: {fit(tyro.cli(FitConfig))}")


if __name__ == "__main__":
    main()
