"""A toy domain of another package: registered by its entry point, as anybody's."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from robomarl.domains.registry import domains, load_features
from robomarl.features import FEATURES

TOY = Path(__file__).with_name("toy")


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with its scenario, fleet and recipe, from where commands run; children find the package too."""
    for name in ("flag_2.toml", "flag_2.yaml", "recipe.toml"):
        text = (TOY / name).read_text().replace("SCENARIO", str(tmp_path / "flag_2.toml"))
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(TOY))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TOY), os.environ.get("PYTHONPATH", "")]))
    _forget()
    yield tmp_path
    _forget()
    FEATURES.pop("flag_error", None)
    for name in [name for name in sys.modules if name.split(".")[0] == "flag_team"]:
        del sys.modules[name]


def _forget() -> None:
    domains.cache_clear()
    load_features.cache_clear()
