"""Compare the engines: same start, same commands, how far apart they drift. Exit status 1 if too far."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from robomarl.core.config import Positive, Seed
from robomarl.core.types import Figures

if TYPE_CHECKING:
    from robomarl.lab.sim.scenario import Scenario


@dataclass(frozen=True)
class Args:
    """Options of `robomarl check`."""

    scenario: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENARIO")]
    """Name or file."""
    sims: tuple[Literal["fast", "mujoco", "mjx"], ...] = ("fast", "mujoco", "mjx")
    """Engines."""
    seconds: Positive = 2.0
    """How long they fly."""
    seed: Seed = 0
    """Starts, randomization, wind and commands."""
    filter: Literal["off", "certificate"] = "off"
    """certificate: first judge whether the certificate covers the team, of one that carries a load wherever the
    scenario lets it start, and print the distances that references keep."""


def run(args: Args) -> Figures:
    """Compare the engines; print a table."""
    from robomarl.lab.sim.check import CheckConfig, check_engines, table
    from robomarl.lab.sim.scenario import load_scenario

    scenario = load_scenario(args.scenario)
    kept = _certified(scenario) if args.filter == "certificate" else {}
    figures = check_engines(scenario, CheckConfig(args.sims, args.seconds, args.seed))
    print(table(figures))
    return {**kept, **figures}


def _certified(scenario: "Scenario") -> Figures:
    """Return the distances of references behind the certificate, and print them; raises `UserError` where it does not
    cover the team, or closes a door."""
    from robomarl.core.goals.rest import margins
    from robomarl.lab.certified import certified_team
    from robomarl.lab.doors import check_doors
    from robomarl.lab.sim.filter_params import safety_params

    params = safety_params(scenario)
    figures = certified_team(scenario, params).figures
    if params.obstacles and (kept_m := margins(figures.front).obstacle_m):
        check_doors(params.obstacles, scenario.vehicle_config.body.radius_m, kept_m, scenario.name)
    kept, tether = 2 * figures.learned.room_m, figures.tether
    most = f", and those of carriers at most {tether.apart_m:.3g} m" if tether else ""
    print(f"certificate: references keep {kept:.3g} m{most}.")
    return {"references_keep_m": kept, "references_at_most_m": tether.apart_m if tether else None}
