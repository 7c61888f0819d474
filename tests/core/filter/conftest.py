"""What the tests of the filter share."""

import numpy as np
import pytest

from robomarl.core.filter.filter import SafetyParams
from tests.core.filter.views import EXACT, PARAMS


@pytest.fixture
def params() -> SafetyParams:
    return PARAMS


@pytest.fixture
def exact() -> SafetyParams:
    return EXACT


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)
