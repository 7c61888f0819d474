"""Watch a scenario, a policy, a training run, a recording or a running fleet in 3-D, in the browser."""

import os
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from robomarl.core.config import NonNegative, Range, Seed
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFile

Port = Annotated[int, Range(0, 65535)]


@dataclass(frozen=True)
class Args:
    """Options of `robomarl view`."""

    what: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="WHAT")]
    """Name or folder of a bundle, a run folder (shown with its newest checkpoint), a recording, a scenario, or a fleet
    that runs. A bundle goes before the scenario of its name, and both before the fleet: see --kind."""
    kind: Literal["auto", "policy", "scenario", "recording", "fleet"] = "auto"
    """Kind of the first argument."""
    scenario: str = ""
    """Fly the policy in this scenario; by default the one that it was trained for."""
    sim: Literal["fast", "mujoco", "mjx"] = "mujoco"
    """Engine of a policy or scenario."""
    filter: Literal["full", "qp", "textbook", "upright", "off"] = "full"
    """Safety filter between policy and robot."""
    seed: Seed = 0
    """Starts, weather and noise."""
    host: str = "127.0.0.1"
    """Address of the page. Every client that reaches it can watch and set goals: 0.0.0.0 is for trusted networks."""
    port: Port = 8080
    """Port of the page; the next free one is taken if it is in use."""
    seconds: NonNegative = 0.0
    """End after this time; 0: at Ctrl-C, or a film at the end of the episode or recording."""
    film: OutFile | None = None
    """Write a film instead of serving a page: .gif, .mp4, or .png for one picture of the end. Not of a fleet."""
    namespace: str = ""
    """Namespace of the fleet's team."""
    domain_id: Annotated[int, Range(0, 101)] | None = None
    """ROS domain of the fleet; by default ROS_DOMAIN_ID."""


def run(args: Args) -> Figures:
    """Serve the page, print its address, and return the rate of updates and the share of a core that it took."""
    from robomarl.front.view.page import PageOptions, serve
    from robomarl.front.view.subject import Choice, filmed, subject_of

    if args.domain_id is not None:
        os.environ["ROS_DOMAIN_ID"] = str(args.domain_id)
    choice = Choice(args.what, args.kind, args.scenario, args.sim, args.filter, args.seed, args.namespace)
    address: list[str] = []

    def ready(at: str) -> None:
        address.append(at)
        print(f"{subject.title}: open {at} in a browser; Ctrl-C ends it.", flush=True)

    with subject_of(choice) as subject:
        if args.film:
            shown_s = filmed(subject, args.film, args.seconds)
            print(f"film: {args.film} ({shown_s:.1f} s)")
            return {"film": str(args.film), "title": subject.title, "seconds": shown_s}
        own, ends = subject.own_pace, subject.ends
        options = PageOptions(subject.title, args.host, args.port, args.seconds, own, ends)
        figures = serve(subject.source, options, ready)
    print(f"{figures['updates']} updates, {figures['rate_hz']:.1f} Hz, {figures['cpu_share']:.0%} of a core.")
    return {"address": address[0], "title": subject.title, **figures}
