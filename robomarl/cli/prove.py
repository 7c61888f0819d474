"""The safety campaign: teams whose nominal commands try to make them collide, under delay, noise and loss."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import tyro

from robomarl.config import UserError


@dataclass(frozen=True)
class Args:
    """Options of `robomarl prove`."""

    target: Annotated[str, tyro.conf.Positional]
    """Scenario or bundle: its vehicle, its rate and its team."""
    agent_steps: float = 2e5
    """Decisions of single robots, at least."""
    filter: Literal["full", "qp", "textbook", "off"] = "full"
    """Safety filter; full is qp until there is a certificate."""
    task: Literal["adversarial", "swap"] = "adversarial"
    """Nominal commands that hunt the others, or that trade places."""
    count: int | None = None
    """Robots in a team; by default the scenario's."""
    seconds: float = 10.0
    """Length of an episode."""
    loss: float = 0.3
    """Share of the messages that do not arrive."""
    seed: int = 0
    """Of everything that is drawn."""


def run(args: Args) -> dict[str, Any]:
    """Fly the campaign and print what came of it."""
    from robomarl.safety.campaign import Campaign
    from robomarl.safety.prove import prove

    if args.agent_steps < 1:
        raise UserError(f"--agent-steps {args.agent_steps:g} must be at least 1.")
    scenario = scenario_of(args.target)
    campaign = Campaign(args.task, args.count or scenario.count, args.seconds, args.loss)
    mode = "qp" if args.filter == "full" else args.filter
    found = prove(campaign, scenario.vehicle_config, scenario.period_s, args.agent_steps, mode, args.seed)
    for name, value in found.items():
        print(f"  {name:<26}{value if isinstance(value, str) else f'{value:.6g}' if value is not None else '-':>16}")
    vetoes = {"veto_rate": 0.0}  # nothing can be vetoed before there is a certificate
    return {"scenario": scenario.name, "count": campaign.count, "seed": args.seed, **vetoes, **found}


def scenario_of(target: str) -> Any:
    """The scenario of that name, or the one that the bundle of that name was trained for."""
    from robomarl.config import build
    from robomarl.policies.bundle import load_bundle
    from robomarl.sim.scenario import Scenario, load_scenario

    try:
        return load_scenario(target)
    except UserError as unknown:
        try:
            content = load_bundle(target).contract.scenario.content
        except UserError:
            raise unknown from None
        return build(Scenario, content, f"{target}/bundle.json")
