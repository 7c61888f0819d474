"""Response of a carrier to errors that last: wind, the load's centre of mass, lengths of cables.

A proportional answer to the own point's error leaves a share of the error, and a larger answer
makes the load swing. So the place that the vehicle flies to also moves by a mean of that error
over `load.trim_s`, an integral that leaks: in steady flight it answers as a proportional term
would, and it is slow beside the swing. It does not wind up on the way to a goal, since the mean
is of `near_point`, to which large errors give nothing.
"""

import math

from robomarl.core.spec import ObservationField


def trim_fields(trim_s: float, period_s: float) -> tuple[ObservationField, ...]:
    """Return the field of the point's mean error that a carrier observes; none if `trim_s` is 0."""
    return (ObservationField("near_point", keep=math.exp(-period_s / trim_s)),) if trim_s else ()
