"""What the perception network finds in single pictures: held-out ones of the renderer for training, or MuJoCo's.

    python -m benchmarks.eyes.pictures /tmp/eyes/perception.onnx --num 2000
    python -m benchmarks.eyes.pictures /tmp/eyes/perception.onnx --num 200 --pictures mujoco

A ball counts as found if the network says so with a probability above one half, within 0.15 rad of its azimuth. Errors
are medians over those found; those of the mount (2 degrees in drawn pictures of the look `trained`) are in them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import jax
import numpy as np
import onnxruntime
import tyro

from benchmarks.eyes.looks import Look, camera_with, draw_film, filmed
from robomarl.domains.soccer.core.sight.layout import Sight, SightLayout, Spot
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.compare import strip_pairs
from robomarl.domains.soccer.lab.sight.fit import sampler
from robomarl.domains.soccer.lab.sight.labels import Labels
from robomarl.domains.soccer.lab.sight.pitch import camera_of
from robomarl.lab.camera.network_strip import strip_of
from robomarl.lab.sim.scenario import load_scenario

BATCH, SEED = 500, 900
BANDS = ((0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 5.0))


@dataclass(frozen=True)
class PicturesConfig:
    """Which pictures."""

    network: tyro.conf.Positional[Path]
    """ONNX file."""
    num: int = 2000
    """Pictures."""
    pictures: Literal["drawn", "mujoco"] = "drawn"
    """drawn: the renderer for training, seeds that training has not; mujoco: MuJoCo's, with shadows."""
    look: Look = "trained"
    """Ranges of the drawn pictures."""
    scenario: str = "soccer_2v2"
    """Game."""


def pictures_of(config: PicturesConfig) -> tuple[np.ndarray, Labels]:
    """Return strips [E, R, C, 3] and their labels."""
    scenario, strip = load_scenario(config.scenario, SoccerScenario), strip_of(config.network.read_bytes())
    if config.pictures == "mujoco":
        pairs = strip_pairs(scenario, camera_of(scenario), config.num, SEED, True, strip)
        return pairs.rendered, pairs.labels
    sample = sampler(scenario, BATCH, camera_with(camera_of(scenario), config.look), strip)
    strips, labels = [], []
    for k in range(-(-config.num // BATCH)):
        drawn, truth = sample(jax.random.key(SEED + k))
        strips.append(np.moveaxis(np.asarray(drawn), -1, 0))
        labels.append(truth)
    joined = Labels(*(np.concatenate([np.asarray(part) for part in parts], -1) for parts in zip(*labels, strict=True)))
    together, random = np.concatenate(strips), np.random.default_rng(SEED)
    if config.look == "filmed":
        together = filmed(together, draw_film(random, len(together)), random)
    return together, joined


def ball_lines(sights: list[Sight], labels: Labels) -> list[str]:
    """Return a line for each distance."""
    chance, azimuth, far = (np.array([getattr(s.ball, n) for s in sights]) for n in Spot._fields[:3])
    seen, true_azimuth, true_far = labels.seen[0], labels.azimuth[0], labels.range_m[0]
    lines = []
    for low, high in BANDS:
        shown = (seen == 1) & (true_far >= low) & (true_far < high)
        found = shown & (chance > 0.5) & (np.abs(azimuth - true_azimuth) < 0.15)
        bearing = np.degrees(np.median(np.abs(azimuth - true_azimuth)[found])) if found.any() else np.nan
        share = np.median(np.abs(far / true_far - 1)[found]) if found.any() else np.nan
        rate = found.sum() / max(shown.sum(), 1)
        about = f"ball {low:g} to {high:g} m: {shown.sum()} shown, {rate:.1%} found"
        lines.append(f"{about}, bearing {bearing:.2f} deg, range {share:.1%}")
    return [*lines, f"ball found where there is none: {np.mean(chance[seen == 0] > 0.5):.1%}"]


def robot_line(sights: list[Sight], labels: Labels) -> str:
    """Return the line of robots within 2 m; a spot that is at no robot of its kind is false."""
    shown = found = said = false = 0
    off: list[tuple[float, float]] = []
    for env, sight in enumerate(sights):
        for kind, spots in ((1, sight.opponents), (0, sight.mates)):
            sure = [spot for spot in spots if spot.probability > 0.5]
            robots = [t for t in range(1, len(labels.seen)) if labels.opponent[t, env] == kind]
            places = [(float(labels.azimuth[t, env]), float(labels.range_m[t, env])) for t in robots]
            said += len(sure)
            false += sum(all(_miss(spot, place) > 1 for place in places) for spot in sure)
            for t, place in zip(robots, places, strict=True):
                if labels.seen[t, env] != 1 or place[1] > 2:
                    continue
                shown += 1
                best = min(sure, key=lambda spot, place=place: _miss(spot, place), default=None)
                if best is not None and _miss(best, place) < 1:
                    found += 1
                    off.append((abs(best.azimuth_rad - place[0]), abs(best.range_m / place[1] - 1)))
    bearing, share = np.median(np.array(off), 0) if off else (np.nan, np.nan)
    rate, wrong = found / max(shown, 1), false / max(said, 1)
    about = f"robots within 2 m: {shown} shown, {rate:.1%} found, {wrong:.1%} false"
    return f"{about}, bearing {np.degrees(bearing):.2f} deg, range {share:.1%}"


def _miss(spot: Spot, place: tuple[float, float]) -> float:
    """Return how far a spot is from a place; 1 is the limit of 0.15 rad or a robot's width, and of half the range."""
    return max(
        abs(spot.azimuth_rad - place[0]) / max(0.15, 0.1 / place[1]),
        abs(np.log(max(spot.range_m, 1e-3) / place[1])) / 0.5,
    )


def pose_line(sights: list[Sight], labels: Labels) -> str:
    """Return the line of the own pose."""
    centre = np.array([s.pose.centre_m for s in sights]).T
    half = np.array([s.pose.half_turns_rad for s in sights])
    off = np.hypot(*(centre - labels.pose[:2]))
    turn = half - np.arctan2(labels.pose[3], labels.pose[2]) / 2
    turn = np.degrees(np.abs((turn + np.pi / 2) % np.pi - np.pi / 2))
    said = np.array([s.pose.centre_error_m for s in sights])
    middle, high = np.percentile(off, [50, 90])
    surer = np.median(off[said < np.median(said)])
    parts = f"own place {middle:.2f} m (p90 {high:.2f}), in the surer half of pictures {surer:.2f} m"
    return f"{parts}, heading {np.median(turn):.1f} deg (p90 {np.percentile(turn, 90):.1f})"


def main() -> None:
    """Print the table."""
    config = tyro.cli(PicturesConfig)
    strips, labels = pictures_of(config)
    session = onnxruntime.InferenceSession(str(config.network), providers=["CPUExecutionProvider"])
    layout = SightLayout()
    sights = [layout.read(np.asarray(session.run(None, {"strip": strip[None]})[0]), 0.0) for strip in strips]
    print("\n".join([*ball_lines(sights, labels), robot_line(sights, labels), pose_line(sights, labels)]))


if __name__ == "__main__":
    main()
