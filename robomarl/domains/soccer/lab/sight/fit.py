"""Training of the perception network: `python -m robomarl.domains.soccer.lab.sight.fit OUT --seconds 600`.

Pictures are drawn by the renderer in one thread and fitted by torch in another, each picture once as drawn and once
mirrored. OUT gets `network.pt` (from which the next run goes on), `perception.onnx` and `fit.csv`.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
import queue
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import jax
import numpy as np
import onnx
import torch
import tyro

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import GroundStrip
from robomarl.core.config import UserError
from robomarl.domains.soccer.core.sight.layout import SightLayout
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.from_graph import read_graph
from robomarl.domains.soccer.lab.sight.labels import Labels, labels_of
from robomarl.domains.soccer.lab.sight.network import ACROSS, CELL, SightGraph, SightNetwork, sight_loss
from robomarl.domains.soccer.lab.sight.pitch import camera_of, pitch_of
from robomarl.domains.soccer.lab.sight.renderer import make_renderer
from robomarl.domains.soccer.lab.sight.scene import draw_look, draw_scene
from robomarl.domains.soccer.lab.sight.small_weights import with_small_weights
from robomarl.lab.sim.scenario import load_scenario

Batch = tuple[torch.Tensor, dict[str, torch.Tensor]]
NORM_PICTURES = 512
"""Pictures of which a network that was read from a graph learns the spread of its inputs."""
UNIT_COLUMNS = 4 * ACROSS
"""The strip's columns are a multiple of this: the first convolution has an even step, twice as many as cells."""


@dataclass(frozen=True)
class FitConfig:
    """How the network is trained."""

    out: tyro.conf.Positional[Path]
    """Folder of the results; a network that is there is trained further."""
    start: Path | None = None
    """perception.onnx of a bundle to go on from, where OUT has no network."""
    scenario: str = "soccer_2v2"
    """Name of the game; its pitch, robots and camera are drawn."""
    seconds: float = 600.0
    """Wall time of training."""
    batch: int = 256
    """Number of pictures in a gradient step; half of the pictures are mirrored."""
    rate: float = 2e-3
    """Largest learning rate; it rises over the first twentieth and then falls as a cosine."""
    wide: int = 32
    """Channels of the network's grid."""
    columns: int = 192
    """Columns of the strip, a multiple of 96; its bundle has as many."""
    seed: int = 0
    """Seed of pictures and weights."""


def wider(camera: PinholeCamera) -> PinholeCamera:
    """Return the camera that training draws: its light, colours, blur and noise vary more than its file says."""
    ranges = replace(
        camera.randomize, light=(0.3, 1.6), colour=(0.75, 1.25), blur=(0.0, 1.3), noise=(0.0, 0.07)
    )  # fmt: skip
    return replace(camera, randomize=ranges)


def sampler(
    scenario: SoccerScenario, size: int, camera: PinholeCamera, strip: GroundStrip
) -> Callable[[jax.Array], tuple[jax.Array, Labels]]:
    """Return the compiled function from a key to E pictures [R, C, 3, E] of a camera and their labels."""
    pitch = pitch_of(scenario)
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
    where = {"row": row / CELL, "column": column * (ACROSS / strip.columns)}
    parts = {"seen": labels.seen, "kind": kind, **where, "pose": labels.pose}
    tensors = {name: torch.from_numpy(np.array(part, np.float32).T.copy()) for name, part in parts.items()}
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(pictures, -1, 0))), tensors


def mirrored(batch: Batch) -> Batch:
    """Return a batch as a mirror shows it: left and right are exchanged, in pictures and labels."""
    pictures, labels = batch
    sign = torch.tensor([1.0, -1.0, 1.0, -1.0])
    return pictures.flip(2), {**labels, "column": ACROSS - labels["column"], "pose": labels["pose"] * sign}


def halves(drawn: Batch) -> Iterator[Batch]:
    """Yield two batches of drawn pictures, half of each mirrored, so that each picture comes both ways."""
    other, half = mirrored(drawn), len(drawn[0]) // 2
    for first, second in ((drawn, other), (other, drawn)):
        labels = {name: torch.cat([part[:half], second[1][name][half:]]) for name, part in first[1].items()}
        yield torch.cat([first[0][:half], second[0][half:]]), labels


def batches(scenario: SoccerScenario, size: int, seed: int, strip: GroundStrip) -> Iterator[Batch]:
    """Yield batches without end, drawn in a thread of their own."""
    ready: queue.Queue[Batch] = queue.Queue(4)
    sample = sampler(scenario, size, wider(camera_of(scenario)), strip)

    def fill() -> None:
        key = jax.random.key(seed)
        while True:
            key, now = jax.random.split(key)
            pictures, labels = sample(now)
            ready.put(as_batch(np.asarray(pictures), labels, strip))

    threading.Thread(target=fill, daemon=True).start()
    while True:
        yield from halves(ready.get())


def strip_with(columns: int) -> GroundStrip:
    """Return the strip with so many columns; raises `UserError` if the network cannot have them."""
    if columns <= 0 or columns % UNIT_COLUMNS:
        raise UserError(f"--columns = {columns} is no positive multiple of {UNIT_COLUMNS}; give {2 * UNIT_COLUMNS}.")
    return GroundStrip(columns=columns)


def go_on_from(kept: Path, network: SightNetwork) -> None:
    """Load a file's weights into a network; raises `UserError` if it is of a network with other layers."""
    try:
        network.load_state_dict(torch.load(kept))
    except RuntimeError:
        raise UserError(
            f"{kept}: these weights are of a network with other layers (of another --wide or --columns, or of an "
            "earlier version); name another OUT, or remove the file."
        ) from None


def fit(config: FitConfig) -> Path:
    """Train for the time that the configuration gives; return the ONNX file.

    Raises:
        UserError: `columns` is no multiple of 96, or the network in `out` has other layers.
    """
    strip = strip_with(config.columns)
    scenario = load_scenario(config.scenario, SoccerScenario)
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)
    network = SightNetwork(strip, config.wide).to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
    config.out.mkdir(parents=True, exist_ok=True)
    kept, log = config.out / "network.pt", config.out / "fit.csv"
    seed = config.seed
    if kept.exists():
        go_on_from(kept, network)
        seed += int(kept.stat().st_mtime)
    elif config.start:
        read_graph(config.start, network, next(batches(scenario, NORM_PICTURES, seed + 1, strip))[0])
    optimizer = torch.optim.AdamW(network.parameters(), config.rate, weight_decay=1e-4)
    start_s, said_s, step, mean = time.monotonic(), time.monotonic(), 0, 0.0
    for batch in batches(scenario, config.batch, seed, strip):
        share = (time.monotonic() - start_s) / config.seconds
        if share >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = config.rate * min(1.0, 20 * share + 0.02) * (0.5 + 0.5 * np.cos(np.pi * share))
        step, mean = step + 1, 0.98 * mean + 0.02 * improve(network, optimizer, batch)
        if time.monotonic() - said_s > 20:
            said_s = time.monotonic()
            with log.open("a") as lines:
                lines.write(f"{said_s - start_s:.0f},{step * config.batch},{mean:.4f},{time.process_time():.0f}\n")
            torch.save(network.state_dict(), kept)
            print(f"{share:6.1%}  {step * config.batch:9,d} pictures  loss {mean:.3f}", flush=True)
    torch.save(network.state_dict(), kept)
    return export(network, strip, config.out / "perception.onnx")


def improve(network: SightNetwork, optimizer: torch.optim.Optimizer, batch: Batch) -> float:
    """Take one step; return the loss. Convolutions compute in bfloat16, for which recent processors have units."""
    pictures, labels = batch
    with torch.autocast("cpu", torch.bfloat16):
        cells, pose = network(pictures)
    loss = sight_loss(cells.float(), pose.float(), network.nothing, labels)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 10.0)
    optimizer.step()
    return loss.item()


def export(network: SightNetwork, strip: GroundStrip, file: Path) -> Path:
    """Write the network with its decoder as ONNX: `strip` [1, R, C, 3] uint8 to `sight` [1, S] float32.

    Large weights are bytes in the file.
    """
    graph = SightGraph(network, strip, SightLayout()).eval()
    blank = torch.zeros((1, *strip.shape), dtype=torch.uint8)
    names = ["strip"], ["sight"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the newer exporter needs onnxscript
        torch.onnx.export(
            graph, (blank,), str(file), input_names=names[0], output_names=names[1], opset_version=17, dynamo=False
        )
    onnx.save(with_small_weights(onnx.load(file)), str(file))
    network.train()
    return file


def main() -> None:
    """Train as the command line says; a mistake of the user ends it with one sentence."""
    try:
        print(f"perception: {fit(tyro.cli(FitConfig))}")
    except UserError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
