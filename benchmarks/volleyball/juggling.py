"""Hits in a row of a bundle on a plant that shares no code with the engines (after JuggleRL, arXiv 2509.24892).

`python -m benchmarks.volleyball.juggling [--episodes 100] [--most 150] [--off 0.1]`: restitution and mass each off by
up to 10 %, the racket up to 2 cm beside its place, rotors up to 5 % stronger or weaker, commands up to 10 ms late.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from benchmarks.volleyball.juggling_plant import Deviations, JugglingPlant
from robomarl.core.bundle.pilot import Pilot, load_pilot
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.view import LocalView, blank_view
from robomarl.domains.volleyball.core.sensed import VolleySensed

PERIOD_S, ABOVE_M = 0.02, 0.055
ANCHOR_M = np.array([4.5, 0.0, 2.0])
OFFSET_M, THRUST, LATENCY_S = 0.02, 0.05, 0.01
LOW_M = 0.2
"""Height [m] of a ball or a drone on the ground."""
AGAIN_S = 0.3
"""Time [s] after a hit within which another touch ends the row."""


def drawn(random: np.random.Generator, off: float) -> Deviations:
    """Return a plant that is off by up to a share."""
    return Deviations(
        mass=random.uniform(1 - off, 1 + off),
        restitution=0.785 * random.uniform(1 - off, 1 + off),
        offset_m=tuple(random.uniform(-OFFSET_M, OFFSET_M, 3)),
        thrust=tuple(random.uniform(1 - THRUST, 1 + THRUST, 4)),
        latency_s=random.uniform(0, LATENCY_S),
    )


def seen(plant: JugglingPlant, time_s: float) -> LocalView:
    """What the drone knows: its own state, and the ball."""
    data = plant.data
    sensed = VolleySensed(data.qpos[7:10].copy(), data.qvel[6:9].copy(), plant.throttle.copy(), np.zeros(2))
    view = blank_view(num_mates=0, sensed=sensed)
    view.own.pos_m[:], view.own.quat_wxyz[:] = data.qpos[:3], data.qpos[3:7]
    view.own.vel_m_s[:], view.own.omega_rad_s[:] = data.qvel[:3], data.qvel[3:6]
    view.goal.pos_m[:] = ANCHOR_M
    return view._replace(time_s=np.float64(time_s))


def juggled(pilot: Pilot, plant: JugglingPlant, late_s: float, most: int) -> tuple[int, str]:
    """Return the hits in a row, and what ended them."""
    data = plant.data
    view = seen(plant, 0.0)
    carry, sent = pilot.init(view), np.zeros(4)
    last_hits, last_s = 0, -1.0
    while plant.hits < most:
        carry, result = pilot.step(carry, seen(plant, data.time))
        now_s = data.time
        plant.run(now_s + late_s, sent)
        sent = np.asarray(result.command, float)
        plant.run(now_s + PERIOD_S, sent)
        if plant.hits > last_hits:
            if plant.hits - last_hits > 1 or plant.hit_s - last_s < AGAIN_S:
                return last_hits, "touched twice"
            last_hits, last_s = plant.hits, plant.hit_s
        if data.qpos[9] < LOW_M:
            return plant.hits, "ball fell"
        if data.qpos[2] < LOW_M:
            return plant.hits, "drone fell"
    return plant.hits, "most"


def main() -> None:
    """Juggle, print the median, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--most", type=int, default=150, help="hits after which an episode ends")
    parser.add_argument("--off", type=float, default=0.1, help="most by which restitution and mass are off, as a share")
    parser.add_argument("--bundle", default="volley_juggle")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    pilot, vehicle = load_pilot(args.bundle), load_vehicle("iris_racket")
    random, hits, ends = np.random.default_rng(args.seed), [], {}
    for _ in range(args.episodes):
        other = drawn(random, args.off)
        plant = JugglingPlant(vehicle, other, ABOVE_M)
        start = ANCHOR_M + random.uniform(-0.3, 0.3, 3) * [1, 1, 0.5]
        plant.place(start, start + [0, 0, 2.0])
        count, end = juggled(pilot, plant, other.latency_s, args.most)
        hits.append(count)
        ends[end] = ends.get(end, 0) + 1
        print(count, end, f"mass {other.mass:.3f} e {other.restitution:.3f}", flush=True)
    figures = {"episodes": args.episodes, "median": float(np.median(hits)), "hits": hits, "ends": ends}
    print(f"hits in a row: median {figures['median']:g} of at most {args.most} in {args.episodes} episodes; {ends}")
    if args.json:
        args.json.write_text(json.dumps(figures))


if __name__ == "__main__":
    main()
