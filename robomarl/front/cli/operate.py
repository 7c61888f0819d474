"""Run a field test from the browser: map, states and events of a running fleet, E-stop, preflight, orders, goals."""

import os
from dataclasses import dataclass
from typing import Annotated

import tyro

from robomarl.core.config import NonNegative, Range
from robomarl.core.types import Figures

Port = Annotated[int, Range(0, 65535)]


@dataclass(frozen=True)
class Args:
    """Options of `robomarl operate`."""

    fleet: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="FLEET")]
    """Name of a fleet in hardware_configs/fleets/, or a YAML file. Its nodes run already (`robomarl up`, or on the
    robots)."""
    host: str = "127.0.0.1"
    """Address of the page; by default it opens on this machine only. 0.0.0.0: for tablets and other operators, who
    need the token."""
    port: Port = 8090
    """Port of the page; 0: a free one."""
    token: str = ""
    """Word of at least 8 characters that browsers need to open the page. By default none is needed on this machine,
    and a random one is made and printed for other addresses. The environment variable ROBOMARL_OPERATE_TOKEN does the
    same, and other users of this machine do not see it."""
    seconds: NonNegative = 0.0
    """End after this time; 0: at Ctrl-C. Robots go on in either case."""
    namespace: str = ""
    """Namespace of the fleet's team."""
    domain_id: Annotated[int, Range(0, 101)] | None = None
    """ROS domain of the fleet; by default ROS_DOMAIN_ID."""


def run(args: Args) -> Figures:
    """Serve the page, print its address, and return it."""
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.ros.io.environment import environment

    fleet = load_fleet(args.fleet)
    os.environ.update(environment(False, args.domain_id))
    from robomarl.front.operate.server import ServerOptions, open_door, serve
    from robomarl.front.operate.station import running_station

    base = "/" + args.namespace.strip("/") if args.namespace.strip("/") else ""
    token = args.token or os.environ.get("ROBOMARL_OPERATE_TOKEN", "")
    address: list[str] = []

    def ready(at: str) -> None:
        address.append(at.partition("?")[0])
        print(f"fleet {fleet.name}: open {at} in a browser; Ctrl-C ends the page, and robots go on.", flush=True)

    door = open_door(ServerOptions(args.host, args.port, token))
    with running_station(fleet, base) as station:
        serve(station, door, args.seconds, ready)
    return {"address": address[0] if address else "", "fleet": fleet.name}
