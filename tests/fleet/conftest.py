"""Two bundles, and robots that are folders."""

from pathlib import Path

import pytest

from robomarl.fleet.store import Store
from robomarl.policies.bundle import Bundle, load_bundle
from tests.policies.conftest import sealed_once
from tests.policies.sealing import copy, reseal


@pytest.fixture(scope="session")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bundle, Bundle]:
    """The same policy under two names: two ids."""
    other = copy(sealed_once(), tmp_path_factory.mktemp("other"))
    reseal(other, lambda data: data.update(name="other"))
    return load_bundle(sealed_once()), load_bundle(other)


@pytest.fixture
def robots(tmp_path: Path) -> dict[str, Store]:
    return {f"robot_{i}": Store(tmp_path / f"robot_{i}") for i in range(3)}
