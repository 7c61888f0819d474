"""`check_on_robots`: check before training that a robot, too, registers every feature that a policy
observes.

A robot imports the onboard half of a domain, entry points of `robomarl.features` and of
`robomarl.tasks`, and has no simulator. A separate process without a simulator looks for the
features of other packages in these places.
"""

import json
import os
import subprocess
import sys

from robomarl.core.config import UserError
from robomarl.core.features import FEATURES
from robomarl.core.spec import ObservationSpec

SIMULATORS = ("jax", "jaxlib", "flax", "optax", "brax", "mujoco", "torch")
"""Packages that simulate and train; no robot installs them."""
_LOOK = f"""
import json, sys
names, task = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys({SIMULATORS}))
from robomarl.core.domain.registry import find_features
from robomarl.core.features import FEATURES
why = find_features(names, {{"task": task}})
print(json.dumps([sorted(set(names) - set(FEATURES)), why]))
"""


def check_on_robots(spec: ObservationSpec, task: str) -> None:
    """Look for the features of other packages as a robot does; those of robomarl itself are there.

    Raises:
        UserError: a robot does not find one; names it, and the entry point that mends it.
    """
    modules = {item.name: FEATURES[item.name].read.__module__ for item in spec.fields}
    names = sorted(name for name, module in modules.items() if module.split(".")[0] != "robomarl")
    if not names:
        return
    words = [sys.executable, "-c", _LOOK, json.dumps([names, task])]
    answer = subprocess.run(words, capture_output=True, text=True, env=_environment())
    told = answer.stdout.splitlines()
    missing, why = json.loads(told[-1]) if told and not answer.returncode else (names, answer.stderr.strip()[-300:])
    if missing:
        where = modules[missing[0]]
        raise UserError(
            f"Observation field {missing[0]!r} is registered by {where}, which a robot does not import: add "
            f'{missing[0]} = "{where}" to [project.entry-points."robomarl.features"] of its package, a module that '
            f"imports no simulator, and install it anew. {why}".rstrip()
        )


def _environment() -> dict[str, str]:
    """This process's, with its search path."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
