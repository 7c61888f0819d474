"""Migration of recipes of older versions.

New in version 2: time constants in seconds (`value_horizon_s`, `credit_s`) take the place of
factors per decision (`discount`, `gae_lambda`), the scripts of self-play have no default, and
stages have no `tries` and no `enough`.
"""

import math
from collections.abc import Callable
from functools import partial

from robomarl.core.config import UserError
from robomarl.core.config.parsed import JsonObject, is_list, is_table
from robomarl.core.config.versions import Step, migrated
from robomarl.core.hardware.scenario_files import read_scenario

WORDS = {"discount": ("value_horizon_s", 0.99), "gae_lambda": ("credit_s", 0.95)}
"""For each factor per decision the time constant that took its place, and the default of the factor in version 1."""
SCRIPTS = ["chaser", "keeper"]
"""Scripted teams of a self-play that names none, in files that have such factors."""


def renewed(own: JsonObject, extended: JsonObject, file: str) -> JsonObject:
    """The keys of a recipe file in the newest version, over those that it extends."""
    scenario = str(own.get("scenario", extended.get("scenario", "swap_4")))
    return migrated(own, recipe_steps(partial(period_of, scenario), alone=not extended), file)


def renewed_run(recipe: JsonObject, period_s: float, file: str) -> JsonObject:
    """A whole recipe, as run folders and bundles keep it, in the newest version; they keep every key."""
    return migrated(dict(recipe), recipe_steps(lambda: period_s, alone=False), file)


def recipe_steps(period_s: Callable[[], float], alone: bool) -> dict[int, Step]:
    """Return the migration steps of recipe files.

    Args:
        period_s: time between two decisions of the recipe's scenario, called if a file needs it.
        alone: True if missing keys have the default of their version, and not the value of another
            file.
    """
    return {1: partial(_in_seconds, period_s=period_s, alone=alone)}


def period_of(scenario: str) -> float:
    """Time [s] between two decisions of a scenario by name or path; raises `UserError` where it does not say it."""
    content, file = read_scenario(scenario)
    rates = content.get("rates")
    rate = rates.get("policy_hz") if is_table(rates) else None
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not rate > 0:
        raise UserError(f"{file}: rates.policy_hz is missing or not above 0; a recipe of version 1 needs it.")
    return 1.0 / rate


def _in_seconds(content: JsonObject, file: str, period_s: Callable[[], float], alone: bool) -> JsonObject:
    """Migrate from version 1 to version 2, at the top of the file and in every stage."""
    stages = content.get("stage")
    if is_list(stages):
        named = [(f"stage[{i}].", stage) for i, stage in enumerate(stages)]
        found = [_table(t, file, period_s, False, name) if is_table(t) else t for name, t in named]
        content = {**content, "stage": found}
    return _table(content, file, period_s, alone, "")


def _table(table: JsonObject, file: str, period_s: Callable[[], float], alone: bool, where: str) -> JsonObject:
    _check_tries(table, file, where)
    kept = {key: value for key, value in table.items() if key not in ("tries", "enough", *WORDS)}
    if not WORDS.keys() & table.keys():
        return kept
    for old, (word, default) in WORDS.items():
        if old in table or alone:
            kept.setdefault(word, _time_constant(table.get(old, default), period_s, file, where + old))
    if alone and is_table(play := kept.get("self_play")):
        kept["self_play"] = {"scripts": SCRIPTS, **play}
    return kept


def _time_constant(factor: object, period_s: Callable[[], float], file: str, key: str) -> float:
    if isinstance(factor, bool) or not isinstance(factor, (int, float)) or not 0 < factor < 1:
        word = WORDS[key.rpartition(".")[2]][0]
        raise UserError(
            f"{file}: {key} = {factor!r} of version 1 has no time constant, which is there between 0 and 1 only; "
            f"write {word}, in seconds."
        )
    return -period_s() / math.log(factor)


def _check_tries(table: JsonObject, file: str, where: str) -> None:
    if table.get("tries", 1) != 1:
        raise UserError(
            f"{file}: {where}tries = {table['tries']!r} is of version 1, and a stage is trained once now; take it out, "
            "and train several seeds with `--seeds`."
        )
