"""Files become dataclasses, and every mistake one sentence with the file, the key and what is allowed."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from robomarl.core.config import Fraction, Positive, UserError, build, to_dict
from robomarl.core.tables import read_toml


@dataclass(frozen=True)
class Inner:
    """A nested table."""

    size_m: Positive
    kind: Literal["ring", "grid"] = "ring"


@dataclass(frozen=True)
class Outer:
    """A file."""

    version: Literal[1]
    inner: Inner
    share: Fraction = 0.5
    pair: tuple[float, float] = (0.0, 1.0)
    names: tuple[str, ...] = ()
    note: str | None = None
    table: dict[str, dict[str, float]] = field(default_factory=dict)


GOOD = {"version": 1, "inner": {"size_m": 2}, "pair": [1, 2], "names": ["a"], "table": {"x": {"y": 1}}}


def test_good_file_is_read_and_written_back() -> None:
    """Whole numbers become floats, lists tuples, defaults stay; and back again."""
    read = build(Outer, GOOD, "f.toml")
    assert read == Outer(1, Inner(2.0), pair=(1.0, 2.0), names=("a",), table={"x": {"y": 1.0}})
    assert build(Outer, to_dict(read), "f.toml") == read


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shaer": 1}, ("unknown key 'shaer'", "did you mean 'share'")),
        ({"SHARE": 1}, ("unknown key 'SHARE'", "did you mean 'share'")),
        ({"zzz": 1}, ("unknown key 'zzz'", "allowed: version, inner")),
        ({"inner": {}}, ("'inner.size_m' is missing", "above 0")),
        ({"inner": {"size_m": -1}}, ("inner.size_m = -1.0", "out of range")),
        ({"inner": {"size_m": "2 m"}}, ("inner.size_m must be a finite number", "'2 m'")),
        ({"inner": {"size_m": True}}, ("inner.size_m must be a finite number", "True")),
        ({"inner": {"size_m": float("nan")}}, ("inner.size_m must be a finite number",)),
        ({"inner": {"size_m": 1, "kind": "disc"}}, ("inner.kind must be one of 'ring', 'grid'", "'disc'")),
        ({"inner": 3}, ("inner must be a table of keys", "3")),
        ({"share": 1.5}, ("share = 1.5", "from 0 to 1")),
        ({"pair": [1]}, ("pair must be a list of 2 values", "1")),
        ({"pair": [1, "x"]}, ("pair[1] must be a finite number",)),
        ({"names": "a"}, ("names must be a list",)),
        ({"version": 0}, ("version must be one of 1", "0")),
        ({"version": 2}, ("version = 2 is newer than 1", "update robomarl")),
    ],
)
def test_mistakes_name_the_file_the_key_and_what_is_allowed(change: dict, words: tuple[str, ...]) -> None:
    """One sentence, no line breaks."""
    with pytest.raises(UserError) as error:
        build(Outer, {**GOOD, **change}, "f.toml")
    message = str(error.value)
    assert message.startswith("f.toml: ") and "\n" not in message
    assert all(word in message for word in words), message


def test_a_file_that_is_no_table_is_refused() -> None:
    """An empty YAML file parses to None."""
    with pytest.raises(UserError, match=r"f\.yaml: the file must be a table"):
        build(Outer, None, "f.yaml")


def test_a_file_that_another_extends_by_path_is_found_beside_it(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "base.toml").write_text("a = 1\nb = 1\n")
    (tmp_path / "inside" / "own.toml").write_text('extends = "base.toml"\nb = 2\n')
    keys = read_toml(tmp_path / "inside" / "own.toml", lambda name: read_toml(Path(name), lambda _: {}))
    assert keys == {"a": 1, "b": 2}
