"""Metadata of a file beside its graph: scales, offsets and orders, which the graph does not apply.

Isaac Lab and mjlab write `action_scale`, `default_joint_pos`, `observation_names`, `joint_names`
and gains into the metadata of an ONNX file. A number that changes the robot's behaviour is applied
through the contract, and has to agree with it. A person has to compare any other entry that may
matter, and then list it as `checked` in the contract.
"""

import json
import re
from collections.abc import Mapping

import numpy as np

from robomarl.core.config import UserError
from robomarl.lab.foreign.contract_file import ContractFile

_MATTERS = frozenset(
    "scale scales scaling offset offsets bias mean std var variance norm normalizer normalization clip limit limits "
    "min max default stiffness damping gain gains kp kd effort armature names order ordering joint joints observation "
    "action obs actions observations command commands unit units rate hz freq frequency dt decimation history delay "
    "frame body bodies anchor".split()
)
"""Words in a key that may change the robot's behaviour."""


def check_metadata(metadata: Mapping[str, str], contract: ContractFile, where: str) -> None:
    """Compare the metadata of a file with the contract.

    Args:
        metadata: keys and values, as text.
        contract: source of the compared `action.scale`, `action.offset`, `observation.scale`, names and
            `checked`.
        where: the file, for errors.

    Raises:
        UserError: a factor or an offset that differs from the contract's or is missing there, or
            another entry that matters and is not among `checked`.
    """
    unknown = [key for key in contract.checked if key not in metadata]
    if unknown:
        there = ", ".join(metadata) or "none"
        raise UserError(f"{where}: the contract's checked names {unknown[0]!r}, but the file's metadata has {there}.")
    left = [(key, text) for key, text in metadata.items() if key not in contract.checked and _words(key) & _MATTERS]
    wrong = [said for key, text in left if (said := _difference(key, text, contract))]
    if wrong:
        raise UserError(f"{where}: its metadata has {'; '.join(wrong)}.")


def _words(key: str) -> set[str]:
    return {*re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower())}


def _difference(key: str, text: str, contract: ContractFile) -> str:
    """Return the error of one key, as a part of a sentence; empty if there is none."""
    words, outputs, inputs = _words(key), contract.action, contract.observation
    if words & {"scale", "scales", "scaling"}:
        if words & {"obs", "observation", "observations"}:
            return _number(key, text, inputs.scale, 1.0, "the contract's observation.scale")
        return _number(key, text, outputs.scale, 1.0, "the contract's action.scale")
    if words & {"offset", "offsets"} or words >= {"default", "joint", "pos"}:
        return _number(key, text, outputs.offset, 0.0, "the contract's action.offset")
    named = [str(getattr(field, "name", field)) for field in inputs.fields]
    if words & {"names", "order"} and tuple(_items(text)) in (tuple(named), inputs.elements, outputs.elements):
        return ""
    return (
        f"{key} = {text[:60]}, which import does not apply: compare it with the contract, then add it there to "
        f"checked = [{key!r}]"
    )


def _number(key: str, text: str, given: tuple[float, ...], usual: float, field: str) -> str:
    """Return the error of a factor or an offset, as a part of a sentence; empty if there is none."""
    try:
        numbers = np.array([float(item) for item in _items(text)])
    except ValueError:
        return f"{key} = {text[:60]}, which is no list of numbers; write {field}, and add {key!r} to checked"
    theirs = numbers if numbers.size != 1 else np.full(max(len(given), 1), numbers[0])
    ours = np.array(given) if given else np.full(theirs.size, usual)
    if ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=1e-6, atol=0):
        return ""
    has = f"is {list(given)}" if given else "is not given"
    return f"{key} = {text[:80]}, but {field} {has}; write the same numbers there"


def _items(text: str) -> list[str]:
    """Items of a list in JSON or between commas."""
    try:
        found = json.loads(text)
    except ValueError:
        found = text.strip(" []()").split(",")
    return [str(item).strip(" '\"") for item in (found if isinstance(found, list) else [found])]
