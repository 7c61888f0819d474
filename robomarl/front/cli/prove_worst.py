"""`robomarl prove --worst`: directed errors and a search, until something touches."""

from dataclasses import replace
from typing import TYPE_CHECKING

from robomarl.core.config import UsageError
from robomarl.core.types import Figures
from robomarl.front.cli.certified import proved
from robomarl.front.cli.prove_args import Args, setting_of

if TYPE_CHECKING:
    from robomarl.lab.sim.scenario import Scenario

EPISODES, EPISODES_IN_MUJOCO = 20_000, 24
SHOWN = ("scale", "episodes", "team_episodes", "contacts", "below", "min_distance_m", "min_scaled_m", "outside_m")


def run_worst(args: Args) -> Figures:
    """Attack, print, and return the figures; `passed` says that the robots kept within their declaration."""
    from robomarl.lab.prove.worst.worst import holds

    found = _in_mujoco(args) if args.sim == "mujoco" else _point_masses(args)
    passed = found["contact_episodes"] == 0 if args.sim == "mujoco" else holds(found)
    if not passed:
        print("  NOT PROVEN: robots touch, or leave the arena, within what is declared")
    return {"scenario": args.target, **found, "passed": passed}


def _point_masses(args: Args) -> Figures:
    from tqdm import tqdm

    from robomarl.core.config import to_dict
    from robomarl.lab.prove.ledger import Ledger
    from robomarl.lab.prove.worst.jobs import Hunt
    from robomarl.lab.prove.worst.worst import hunt_down

    vehicle, _, period_s = setting_of(args)
    if args.filter == "certificate":
        raise UsageError(
            "--worst attacks the filter robot by robot; attack the certificate with --sim mujoco, or fly a campaign."
        )
    mode = "qp" if args.filter == "full" else args.filter
    hunt = Hunt(vehicle, period_s, mode, args.seed, args.episodes or EPISODES, args.team_episodes, args.scales)
    ledger = Ledger.open(args.out, to_dict(hunt), args.resume) if args.out else None
    with tqdm(unit=" episodes", unit_scale=True, leave=False) as bar:

        def begin(scale: float, episodes: int) -> None:
            bar.reset(total=episodes)
            bar.set_description(f"bounds times {scale:g}")

        found = hunt_down(hunt, args.processes, bar.update, begin, ledger)
    _print(found)
    return found


def _print(found: Figures) -> None:
    print("  " + "".join(f"{name:>16}" for name in SHOWN))
    for row in found["scales"]:
        print("  " + "".join(f"{_text(row[name]):>16}" for name in SHOWN))
    here = next((row for row in found["scales"] if row["scale"] == 1.0), found["scales"][0])
    touched = {name: row["contacts"] for name, row in here["families"].items() if row["contacts"]}
    for name, contacts in sorted(touched.items(), key=lambda item: -item[1]):
        print(f"  contacts at {here['scale']:g}: {contacts} by {name}")
    first = found["first_contact_at"]
    word = "no contact up to there" if first is None else "the first contact"
    print(f"  robustness factor {found['robustness_factor']:g}: {word}")


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _in_mujoco(args: Args) -> Figures:
    from tqdm import tqdm

    from robomarl.core.domain.scenario import needed
    from robomarl.lab.evaluate.sealed_scenario import scenario_named
    from robomarl.lab.evaluate.variations import variations
    from robomarl.lab.simulation import simulation_of

    scenario, episodes = scenario_named(args.target), args.episodes or EPISODES_IN_MUJOCO
    scenario = replace(scenario, estimator=args.estimator or scenario.estimator)
    attack = needed(simulation_of(scenario).attack, scenario, "attacks on mujoco", "leave out --sim")
    theorem = _theorem(scenario) if args.filter == "certificate" else {}
    total = sum(1 for _ in variations(scenario)) * episodes
    with tqdm(total=total, unit=" episodes", desc="attacks on mujoco", leave=False) as bar:
        found = attack(scenario, args.filter, episodes, args.seed, args.sim, bar.update)
    for row in found["variations"]:
        hits = f"contacts in {row['contact_episodes']} of {row['episodes']}"
        print(f"  {hits}, {row['min_distance_m']:.3f} m: {row['variation']}")
    return {**theorem, **found}


def _theorem(scenario: "Scenario") -> Figures:
    """Check the certificate's inequalities over the scenario's vehicle file, and print them; see `proved`."""
    from robomarl.lab.certified import certified_team
    from robomarl.lab.prove.theorem import Given
    from robomarl.lab.sim.filter_params import safety_params

    guard = certified_team(scenario, safety_params(scenario))
    return proved(Given(guard.params, guard.radius_m, guard.figures), scenario.vehicle_config.name)
