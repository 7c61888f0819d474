"""`FIELD` of flying teams, `PAYLOAD` of those that carry something."""

from dataclasses import replace

import numpy as np

from robomarl.core.config import UserError
from robomarl.domains.flight.field.identify.learned import learned
from robomarl.domains.flight.field.identify.model import fitted
from robomarl.domains.flight.field.identify.retrace import retrace
from robomarl.domains.flight.field.identify.weigh import weigh
from robomarl.domains.flight.field.payload.hang import find_payload
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.identify.legs import Legs
from robomarl.field.work import FieldWork


def reflown(scenario: FlightScenario, legs: Legs, seed: int | None) -> np.ndarray:
    """Each vehicle alone on `mujoco`.

    Raises:
        UserError: something hangs from the vehicles, and the recording does not say how.
    """
    if scenario.load is not None:
        raise UserError(f"{scenario.name}.toml: flights under a load can't be flown again from their estimates yet.")
    return retrace(scenario, legs, seed)


FIELD = FieldWork(reflown=reflown, fitted=fitted, mass_correction=weigh, residual=learned)
PAYLOAD = replace(FIELD, identify_payload=find_payload)
