"""The card of a bundle, `README.md`: what a person wants to know before flying it."""

from collections.abc import Iterable

from robomarl.policies.contract import Contract


def card(contract: Contract) -> str:
    """Markdown, made from the contract only."""
    least, most = contract.team_size
    team = f"{least}" if least == most else f"{least} to {most}"
    recipe = contract.training.recipe
    facts = [
        ("scenario", contract.scenario.name),
        ("vehicle", f"{contract.vehicle.name} (`{contract.vehicle.sha256[:12]}`)"),
        ("robots in a team", team),
        ("rate", f"{contract.rate_hz:g} Hz"),
        ("team-mates looked at", str(contract.observation.spec.neighbours.count)),
        ("safety distance", f"{contract.safety.safety.separation_m:g} m"),
        ("top speed", f"{contract.safety.limits.speed_m_s:g} m/s"),
        ("trained by", f"{recipe.get('algorithm', 'unknown')}, seed {contract.training.seed}"),
        ("commit", f"`{contract.training.commit[:19]}`"),
    ]
    seen = [
        (
            f"`{e.name}`",
            e.unit,
            e.frame,
            f"{e.low:.3g}",
            f"{e.high:.3g}",
            "" if e.max_age_s is None else f"{e.max_age_s:g}",
        )
        for e in contract.observation.elements
    ]
    acts = [(f"`{f.name}`", f.unit, f.frame, f"{f.low:g}", f"{f.high:g}") for f in contract.action.fields]
    parts = [
        f"# {contract.name}",
        f"A policy for one robot of a team, trained in `{contract.scenario.name}`. Sealed: the exact numbers "
        "are in `bundle.json`, and changing any file makes the bundle invalid.",
        _table(("", ""), facts),
        "## Check and fly",
        "    robomarl verify PATH_OF_THIS_FOLDER\n    robomarl flash PATH_OF_THIS_FOLDER FLEET",
        "## What it sees\n\nRanges are those of training.",
        _table(("element", "unit", "frame", "least", "largest", "oldest [s]"), seen),
        "## What it commands",
        _table(("element", "unit", "frame", "least", "largest"), acts),
    ]
    return "\n\n".join(parts) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
