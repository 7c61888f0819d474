"""Bundles of ground robots through ROS 2, one flight each: `python -m benchmarks.ground.flights [SCENARIO ...]`.

The same nodes as `robomarl up FLEET --sim mujoco --flights 1` starts, with a fleet that is made for the scenario.
`--bundles` names another folder of them than `policies`.
"""

import argparse
import json
from pathlib import Path

from robomarl.core.hardware.fleet import Fleet, FleetRadioConfig, RobotConfig
from robomarl.lab.sim.scenario import load_scenario
from robomarl.ros.operator.flights import fly
from robomarl.ros.operator.plan_options import PlanOptions

BUNDLES = (
    *("navigation", "material_transport", "discovery", "foraging"),
    *("arctic_transport", "predator_prey", "warehouse", "rware"),
)
SHOWN = ("seed", "success", "reason", "arrived_s", "flight_s", "collisions", "min_distance_m", "fallback_share")


def fleet_of(name: str) -> Fleet:
    """Robots that are folders on this machine, as many as the scenario has."""
    scenario = load_scenario(name)
    robots = tuple(RobotConfig(f"robot_{i}", i, f"runs/robots/{name}_{i}") for i in range(scenario.count))
    return Fleet(1, f"{name}_flight", scenario.vehicle, name, robots, FleetRadioConfig(scenario.rates.policy_hz))


def main() -> None:
    """Fly, and print what came of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario", nargs="*", default=BUNDLES)
    parser.add_argument("--bundles", type=Path, default=Path("policies"))
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--flights", type=int, default=1)
    args = parser.parse_args()
    for name in args.scenario:
        plan = PlanOptions(sim=True, bundle=str(args.bundles / name), seed=args.seed)
        flown = fly(fleet_of(name), plan, args.flights).flights
        rows = [{key: getattr(flight, key) for key in SHOWN} for flight in flown]
        print(json.dumps({"bundle": name, "flights": rows}), flush=True)


if __name__ == "__main__":
    main()
