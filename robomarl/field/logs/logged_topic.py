"""`LoggedTopic`: times and values of one topic of a log."""

from typing import NamedTuple

import numpy as np


class LoggedTopic(NamedTuple):
    """Messages of one topic, in the order of the log."""

    time_s: np.ndarray
    """[N]."""
    fields: dict[str, np.ndarray]
    """[N] numbers of each field."""
