"""`RobotFit`: the identification result of one robot."""

from typing import NamedTuple

from robomarl.field.identify.fit import Fit, FittedModel
from robomarl.field.identify.windows import Windows


class Parameter(NamedTuple):
    """One figure of one robot, with its 95 % interval."""

    robot: str
    name: str
    value: float
    low: float
    high: float
    unit: str


class RobotFit(NamedTuple):
    """Identification result of one robot."""

    robot: str
    model: FittedModel
    fit: Fit
    windows: Windows
    parameters: tuple[Parameter, ...]
