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
        "volley_strike",
        "volley_post",
    ),
    "robomarl.domains.volleyball.core:ONBOARD",
    "robomarl.domains.volleyball.lab.simulation:SIMULATION",
)

MATCH = Domain(
    "volleyball_match",
    ("volley_1v1", "volley_3v3", "volley_6v6"),
    "robomarl.domains.volleyball.core.match:ONBOARD",
    "robomarl.domains.volleyball.lab.match.simulation:SIMULATION",
)
"""Two teams that play each other over the net."""
