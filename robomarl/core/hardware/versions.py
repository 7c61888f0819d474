"""Migration of files of older versions to today's keys: vehicles and scenarios.

| file | version | new in it |
| --- | --- | --- |
| vehicle | 2 | each figure of `safety` has a source of its own; in version 1, `sources: safety` spoke for all figures |
| scenario | 2 | `radio.range_m` has to span the room that robots may part in, and is refused where it does not |
"""

import dataclasses

from robomarl.core.config.parsed import JsonObject, is_table
from robomarl.core.hardware.sections import SafetyConfig

LEFT_OUT = "a file of version 1 that does not say it: what it was, {value:g}, holds on"


def _one_source_each(content: JsonObject, file: str) -> JsonObject:
    """The words of `sources: safety` become those of every figure without a source; defaults are called so."""
    said, sources = content.get("safety"), content.get("sources", {})
    if not is_table(said) or not is_table(sources):
        return content
    one, kept = sources.get("safety"), {key: text for key, text in sources.items() if key != "safety"}
    if one is not None and not isinstance(one, str):
        return content
    for field in dataclasses.fields(SafetyConfig):
        if field.name in said and one is not None:
            kept.setdefault(f"safety.{field.name}", f"{one} (said of all figures of safety at once, in version 1)")
        elif field.name not in said and isinstance(field.default, float):
            kept.setdefault(f"safety.{field.name}", LEFT_OUT.format(value=field.default))
    return {**content, "sources": kept}


def _as_it_was(content: JsonObject, file: str) -> JsonObject:
    """Return the content unchanged: no key was renamed, and the scenario's check rejects values that the
    new version rejects."""
    return content


VEHICLE_STEPS = {1: _one_source_each}
SCENARIO_STEPS = {1: _as_it_was}
