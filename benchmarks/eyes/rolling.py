"""What a rolling shutter costs: errors of what a network sees of a robot that turns, as seen and turned back.

    python -m benchmarks.eyes.rolling policies/soccer_2v2_eyes/perception.onnx --readout-s 0.015

Pictures are those of the renderer for training, with the mount of the vehicle file. Every robot turns, half of them to
the right.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import tyro

from robomarl.core.bundle.bundle import PERCEPTION_FILE
from robomarl.core.bundle.runtime import open_session
from robomarl.domains.soccer.core.sight.layout import Sight, SightLayout
from robomarl.domains.soccer.core.sight.rolling import RollingShutter
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.labels import Labels, labels_of
from robomarl.domains.soccer.lab.sight.pitch import as_mounted, camera_of, pitch_of
from robomarl.domains.soccer.lab.sight.renderer import make_renderer
from robomarl.domains.soccer.lab.sight.scene import draw_look, draw_scene
from robomarl.lab.camera.network_strip import strip_of
from robomarl.lab.sim.scenario import load_scenario

BATCH, SEED = 250, 900
NEAR_M, SURE_RAD = 2.0, 0.1
"""Balls within this distance, and poses whose heading the network says to be this sure, count."""


@dataclass(frozen=True)
class RollingConfig:
    """Which camera, and how the robots turn."""

    network: tyro.conf.Positional[Path]
    """ONNX file."""
    readout_s: float = 0.015
    """Time between the first and the last row."""
    turn_rad_s: float = 6.0
    """Yaw rate of the robots, to the left or to the right."""
    num: int = 500
    """Pictures."""


def sights_of(config: RollingConfig) -> tuple[dict[str, list[Sight]], Labels, np.ndarray]:
    """Return what the network sees, as seen and turned back, the labels, and the yaw rates."""
    scenario, graph = load_scenario("soccer_2v2", SoccerScenario), config.network.read_bytes()
    camera, pitch = replace(as_mounted(camera_of(scenario)), readout_s=config.readout_s), pitch_of(scenario)
    render, kinds = make_renderer(pitch, camera, strip_of(graph)), (0,) * (scenario.count - 1) + (1,) * scenario.count

    @jax.jit
    def drawn(key: jax.Array) -> tuple[jax.Array, Labels, jax.Array]:
        first, second = jax.random.split(key)
        scene = draw_scene(first, pitch, camera.place_m[0], kinds, BATCH)
        scene = scene._replace(turn=config.turn_rad_s * jnp.sign(scene.turn))
        found = render(scene, draw_look(second, camera, BATCH))
        return found.strip, labels_of(scene, found, camera.place_m[0]), scene.turn  # pyright: ignore[reportReturnType]

    batches = [jax.tree.map(np.asarray, drawn(jax.random.key(SEED + k))) for k in range(-(-config.num // BATCH))]
    strips, labels, turns = jax.tree.map(lambda *parts: np.concatenate(parts, -1), *batches)
    session = open_session(graph, PERCEPTION_FILE)
    layout, shutter = SightLayout(), RollingShutter(camera)
    seen = [layout.read(session.run(None, {"strip": one[None]})[0], 0.0) for one in np.moveaxis(strips, -1, 0)]
    back = [shutter.straightened(sight, float(turn)) for sight, turn in zip(seen, turns, strict=True)]
    return {"as seen": seen, "turned back": back}, labels, turns


def line(sights: list[Sight], labels: Labels, turns: np.ndarray) -> str:
    """Return medians of errors; the bias is the part of the heading's error that changes sign with the turn."""
    near = (labels.seen[0] == 1) & (labels.range_m[0] < NEAR_M) & np.array([s.ball.probability > 0.5 for s in sights])
    bearing = np.abs(np.array([s.ball.azimuth_rad for s in sights]) - labels.azimuth[0])[near]
    sure = np.array([s.pose.heading_error_rad < SURE_RAD for s in sights])
    heading = np.array([s.pose.half_turns_rad for s in sights]) - np.arctan2(labels.pose[3], labels.pose[2]) / 2
    off = ((heading + math.pi / 2) % math.pi - math.pi / 2)[sure]
    return (
        f"{near.sum()} balls within {NEAR_M:g} m: bearing {np.median(bearing) * 1e3:.1f} mrad; {sure.sum()} headings: "
        f"{np.median(np.abs(off)) * 1e3:.1f} mrad, bias {np.median(off * np.sign(turns[sure])) * 1e3:.1f} mrad"
    )


def main() -> None:
    """Print a line for pictures as seen, and one for them turned back."""
    config = tyro.cli(RollingConfig)
    found, labels, turns = sights_of(config)
    for name, sights in found.items():
        print(f"{name}: {line(sights, labels, turns)}")


if __name__ == "__main__":
    main()
