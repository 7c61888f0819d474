"""Let bundles, scripts, runs and snapshots of one game play each other, and rate them.

Players are bundles by name or folder, scripts of the game, run folders, RUN/checkpoint.npz or RUN/best.npz, and RUN@K
for the K-th snapshot that a run's checkpoint keeps, the oldest being 1. Sides are exchanged half of the time. Pairs
that were played are kept in --out.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from robomarl.core.config import Natural, Seed, UsageError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder


@dataclass(frozen=True)
class Args:
    """Options of `robomarl league`."""

    scenario: Annotated[str, tyro.conf.Positional]
    """The game, by name or path."""
    players: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PLAYER ...")] = ()
    """Two or more."""
    matches: Natural = 200
    """Matches of each pair: an even number."""
    seed: Seed = 0
    """Starts and noise."""
    filter: Literal["full", "qp", "textbook", "off"] = "full"
    """Safety filter of trained players; scripts have none."""
    films: Natural = 5
    """The most telling matches, of which films are made."""
    best_response: Natural = 0
    """Agent-steps for which an attacker is trained against each player of --attack; 0: none is."""
    attack: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """Player that attackers are trained against; by default all. May be given several times."""
    attackers: Natural = 1
    """Attackers of each player, with different seeds."""
    psro: Natural = 0
    """Rounds: in each, --attackers teams are trained for --best-response agent-steps against the Nash mixture of all
    players, and join them. Single players are then attacked only if --attack names them."""
    on: str = "local"
    """Place: local, or ray://HOST:PORT of a Ray cluster."""
    workers: Natural = 0
    """Pairs at a time; 0: one a core, as far as memory holds them."""
    out: OutFolder | None = None
    """Folder of the league; runs/league_SCENARIO by default."""
    resume: bool = False
    """Keep the pairs that were played before in --out."""
    quiet: bool = False
    """No progress bars."""


def run(args: Args) -> Figures:
    """Play all pairs, print the table, and write league.json and league.html."""
    from robomarl.front.report.league_page import write_league_page
    from robomarl.lab.cluster.connect import Cluster
    from robomarl.lab.league.attack import AttackOptions
    from robomarl.lab.league.league import LeagueOptions, run_league

    if args.attack and not args.best_response:
        raise UsageError("--attack needs --best-response STEPS: the agent-steps for which attackers are trained.")
    if args.psro and not args.best_response:
        raise UsageError("--psro needs --best-response STEPS: the agent-steps for which a round's teams are trained.")
    victims = args.attack or (() if args.psro else args.players)
    out = args.out or Path("runs") / f"league_{Path(args.scenario).stem}"
    options = LeagueOptions(
        scenario=args.scenario,
        names=args.players,
        out=out,
        matches=args.matches,
        seed=args.seed,
        filter=args.filter,
        films=args.films,
        resume=args.resume,
        progress=not args.quiet,
        attack=AttackOptions(args.best_response, victims, args.attackers, args.psro),
    )
    figures = run_league(options, Cluster(args.on, args.workers))
    _print(figures)
    print(f"  report: {write_league_page(figures, out)}")
    return figures


def _print(figures: Figures) -> None:
    """The players from the best to the worst, and attackers."""
    pairs = len(figures["pairs"])
    print(f"{figures['league']}: {pairs} pairs in {figures['scenario']}, {figures['matches']} matches each")
    wide = max(len(row["player"]) for row in figures["players"])
    print(f"  {'player':<{wide}}   Elo [95 %]           score   Nash   exploited by")
    for row in figures["players"]:
        low, high = row["elo_ci95"]
        loss = row["exploitability"]
        by = f"{loss['score']:.3f} {loss['by']}" if loss["by"] else "nobody"
        print(
            f"  {row['player']:<{wide}}  {row['elo']:5.0f} [{low:4.0f}, {high:4.0f}]  {row['score']:7.3f}"
            f"  {row['nash']:5.2f}   {by}"
        )
    mixture = figures["mixture"]
    print(f"  Nash mixture: exploitability {mixture['exploitability']:.3f} in matches it was not worked out of")
    for number, played in enumerate(figures["psro"], 1):
        for row in played["responses"]:
            low, high = row["score_ci95"]
            said = f"score {row['score']:.3f} [{low:.3f}, {high:.3f}] against the mixture before it"
            print(f"  round {number}: {row['player']}, {row['steps']:,} agent-steps, {said}")
    for row in figures["best_response"]:
        low, high = row["score_ci95"]
        print(
            f"  {row['steps']:,} agent-steps against {row['player']}: exploitability {row['exploitability']:.3f}, "
            f"score {row['score']:.3f} [{low:.3f}, {high:.3f}] of {row['attacker']}"
        )
