"""What it would bring if robots passed on the last messages of their teammates: the swap behind the filter.

`python -m benchmarks.flight.relayed [SEED ...]` flies the campaign `prove swap_4_firmware --task roundabout
--agent-steps 6e5 --seconds 30` as it is, and with relayed messages. No node sends such messages.
"""

import sys
from collections.abc import Sequence

from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.lab.prove.campaign.conditions import Campaign
from robomarl.lab.prove.campaign.prove import prove

STEPS, PERIOD_S = 6e5, 0.02
SHOWN = ("goal_rate", "arrival_p50_s", "collisions", "min_distance_m", "infeasible_rate")


def main(seeds: Sequence[int]) -> None:
    """Print the figures of each seed."""
    vehicle = load_vehicle("crazyflie_21", "firmware_corrected")
    for seed in seeds:
        for relayed in (False, True):
            campaign = Campaign("roundabout", 4, 30.0, relayed=relayed)
            found = prove(campaign, vehicle, PERIOD_S, STEPS, seed=seed)
            told = ", ".join(f"{name} {found[name]:.3g}" for name in SHOWN)
            print(f"seed {seed}, {'relayed' if relayed else 'as sent'}: {told}", flush=True)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [0])
