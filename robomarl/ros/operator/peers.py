"""`peer_program`: the simulator of vehicles that are commanded over their own protocol, found by an entry point."""

from importlib.metadata import entry_points
from typing import NamedTuple

from robomarl.core.config import UserError

GROUP = "robomarl.peers"
"""Entry points: `ADAPTER = "PACKAGE.module:main"`. The package's console script `ADAPTER_peer_node` runs `main`, and so
does `python -m PACKAGE.module ADAPTER_peer_node`."""


class PeerProgram(NamedTuple):
    """The program of a simulator's node."""

    package: str
    """ROS package, for `ros2 run`."""
    executable: str
    """Console script."""
    module: str
    """Python module, and the name of the console script."""


def peer_program(adapter: str) -> PeerProgram:
    """Return the program that simulates the vehicles of an adapter.

    Raises:
        UserError: no installed package has it.
    """
    found = [*entry_points(group=GROUP, name=adapter)]
    if not found:
        raise UserError(
            f"Simulated vehicles for --vehicles {adapter} are in the package robomarl-peers, which is not installed; "
            "run `make setup`, or `pip install ./peers` in a checkout of robomarl."
        )
    module, name = found[0].module, f"{adapter}_peer_node"
    return PeerProgram(module.partition(".")[0], name, f"{module} {name}")
