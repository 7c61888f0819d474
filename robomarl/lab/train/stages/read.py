"""Recipe files with `[[stage]]` tables, read: every mistake is said before the first stage begins."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from robomarl.core.bundle.bundle import is_bundle
from robomarl.core.config import UserError, build
from robomarl.core.config.parsed import JsonObject, is_table
from robomarl.core.tables import merged
from robomarl.lab.evaluate.resolve import is_run
from robomarl.lab.train.config import TrainConfig, load_recipe, read_recipe, training_keys
from robomarl.lab.train.stages.plan import BUNDLE, PREVIOUS, BundlePlan, Stage, StagedTraining, StageTable, listed

Keys = JsonObject
"""Keys of a recipe, or of one of its stages."""


def load_plan(name: str, scenario: str = "") -> StagedTraining | None:
    """The stages of a recipe by name or path; None where it has none.

    Args:
        name: of the recipe.
        scenario: replaces the recipe's own, but not those of other recipes that it takes stages of.

    Raises:
        UserError: a wrong key or value, a stage that starts from nothing that is there, or a bundle of no stage.
    """
    config, seed = load_recipe(name)
    data, file = read_recipe(name)
    tables = tables_of(data, file)
    if not tables and "bundle" in data:
        raise UserError(f"{file}: [bundle] is made of stages, and there is none; add a [[stage]].")
    if not tables:
        return None
    keys = {**training_keys(data), "scenario": scenario or config.scenario}
    stages = read_stages(RecipeFile(file, keys, tables), ())
    return StagedTraining(stages, seed, bundle=bundle_of(data, file, stages))


@dataclass(frozen=True)
class RecipeFile:
    """A recipe file with stages."""

    name: str
    """For errors."""
    keys: Keys
    """Keys that all its stages have in common."""
    tables: list[Keys]
    """The `[[stage]]` tables."""
    is_taken: bool = False
    """True if another recipe takes its stages; then it may not take stages of further recipes in turn."""


def read_stages(recipe: RecipeFile, before: Sequence[Stage]) -> tuple[Stage, ...]:
    """The stages of a file, after those that are there already."""
    stages, written = list(before), {"": recipe.keys}
    for i, table in enumerate(recipe.tables):
        if "recipe" in table:
            stages += read_stages(taken_recipe(recipe, table, i), stages)[len(stages) :]
            continue
        own = {f.name: table[f.name] for f in fields(StageTable) if f.name in table}
        said = build(StageTable, own, recipe.name, f"stage[{i}]")
        check_name(said, stages, recipe.name)
        base = list(written)[-1] if said.extends == PREVIOUS else said.extends
        if base not in written:
            known = ", ".join(filter(None, written)) or "none yet"
            raise UserError(f"{recipe.name}: stage {said.name} extends {base!r}; allowed: stages before it ({known}).")
        changes = {key: value for key, value in table.items() if key not in own}
        written[said.name] = merged(written[base], {"total_steps": said.steps} | changes)
        config = config_of(said, written[said.name], recipe.name)
        stages.append(Stage(said.name, config, start_of(said, stages, recipe.name)))
    return tuple(stages)


def config_of(said: StageTable, keys: Keys, file: str) -> TrainConfig:
    """The recipe of one stage; it stops after its steps where its schedules end later."""
    config = build(TrainConfig, {**keys, "stop_after": said.steps}, file, f"stage {said.name}")
    return replace(config, stop_after=None) if said.steps == config.total_steps else config


def tables_of(data: Keys, file: str) -> list[Keys]:
    """The `[[stage]]` tables of a recipe's keys; raises `UserError` where they are no tables."""
    found = data.get("stage", [])
    tables = [table for table in found if is_table(table)] if isinstance(found, list) else []
    if not isinstance(found, list) or len(tables) < len(found):
        raise UserError(f"{file}: stage must be tables of keys; write each below a line [[stage]].")
    return [*tables]


def taken_recipe(recipe: RecipeFile, table: Keys, place: int) -> RecipeFile:
    """Return the recipe with the stages that a table takes; its first stage has the table's `start`."""
    here = f"{recipe.name}: stage[{place}]"
    if recipe.is_taken or table.keys() - {"recipe", "start"}:
        why = "is of a file whose stages another one takes" if recipe.is_taken else "has other keys than `start`"
        raise UserError(f"{here} takes the stages of a recipe and {why}; leave that out.")
    data, file = read_recipe(str(table["recipe"]))
    if not tables_of(data, file):
        raise UserError(f"{here} takes the stages of {file}, which has none; name a recipe that has some.")
    first, *rest = tables_of(data, file)
    first = {**first, "start": table.get("start", PREVIOUS)}
    return RecipeFile(file, training_keys(data), [first, *rest], is_taken=True)


def check_name(said: StageTable, before: Sequence[Stage], file: str) -> None:
    """Raises `UserError` where a stage's name is no folder's, or taken."""
    reserved = (PREVIOUS, BUNDLE, *(stage.name for stage in before))
    if said.name in reserved or not (said.name.isascii() and said.name.isidentifier()):
        raise UserError(f"{file}: stage {said.name!r} needs another name: letters, digits and _, and not taken yet.")


def start_of(said: StageTable, before: Sequence[Stage], file: str) -> tuple[str, ...]:
    """Return the names of a stage's start weights; raise `UserError` if one does not exist."""
    known = [stage.name for stage in before]
    names = tuple(known[-1:]) if said.start == PREVIOUS else listed(said.start)
    for name in names:
        if name not in known and not is_run(Path(name)) and not is_bundle(name):
            wrong = f"starts from {name!r}, and there is no such thing"
            raise UserError(f"{file}: stage {said.name} {wrong}; name a stage before it, a bundle, or a run folder.")
    return names


def bundle_of(data: Keys, file: str, stages: Sequence[Stage]) -> BundlePlan | None:
    """Return the content of `[bundle]`, if it is there; raise `UserError` if it names something that is no stage."""
    if "bundle" not in data:
        return None
    plan, names = build(BundlePlan, data["bundle"], file, "bundle"), [stage.name for stage in stages]
    for name in (n for entry in (plan.actor, *plan.experts) for n in listed(entry)):
        if name not in names:
            raise UserError(f"{file}: [bundle] is made of {name!r}, which is no stage; allowed: {', '.join(names)}.")
    return plan
