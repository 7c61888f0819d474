"""Drones with rackets that play volleyball: tasks of VolleyBots (arXiv 2502.01932)."""

from robomarl.core.domain.base import Domain

DOMAIN = Domain(
    "volleyball",
    (
        "volley_back_and_forth",
        "volley_hit",
        "volley_bump",
        "volley_bump_pass",
        "volley_spike_easy",
        "volley_spike_hard",
    ),
    "robomarl.domains.volleyball.core:ONBOARD",
    "robomarl.domains.volleyball.lab.simulation:SIMULATION",
)
