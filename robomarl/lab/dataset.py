"""The file of `robomarl dataset`: one row for each tick of each robot, in Parquet; columns: `docs/recordings.md`.

Recordings and simulated flights are written with it, and offline learning reads it.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from robomarl.core.config import UserError
from robomarl.core.types import Figures

FORMAT = 1
KEY = b"robomarl"
"""Key under which the file's metadata holds the description of the data set."""


class Dataset(NamedTuple):
    """A data set in memory, S rows."""

    file: Path
    about: Figures
    """Content of the metadata: bundle, vehicle, scenario, fleet, robots, elements."""
    columns: dict[str, np.ndarray]
    """Columns by name, each [S] or [S, width]; null is NaN."""
    sha256: str
    """SHA-256 of the file."""

    def names(self, column: str) -> list[str]:
        """Names of the elements of `observation` or `command`."""
        return [element["name"] for element in self.about[column]]


class DescribedElement(Protocol):
    """An element of an observation or of a command."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def unit(self) -> str:
        """Its unit."""
        ...

    @property
    def frame(self) -> str:
        """The frame that it is in."""
        ...


def schema_of(
    observation: Sequence[DescribedElement], command: Sequence[DescribedElement], about: Figures
) -> pa.Schema:
    """Return the columns; names, units and frames of their elements are in the metadata, key `robomarl`,
    as JSON.

    Args:
        observation: elements of the observation, in order, each with `name`, `unit` and `frame`.
        command: elements of the command, in order, each with `name`, `unit` and `frame`.
        about: further entries of the metadata.
    """
    vector, quat = pa.list_(pa.float64(), 3), pa.list_(pa.float64(), 4)
    commanded = pa.list_(pa.float64(), len(command))
    columns = [
        ("recording", pa.int32()), ("robot", pa.string()), ("index", pa.int32()), ("flight", pa.int32()),
        ("tick", pa.int64()), ("follows", pa.bool_()), ("stamp_s", pa.float64()), ("time_s", pa.float64()),
        ("state", pa.string()), ("reason", pa.string()), ("filtered", pa.bool_()), ("whole", pa.bool_()),
        ("observation", pa.list_(pa.float32(), len(observation))), ("nominal", commanded), ("command", commanded),
        ("pos_m", vector), ("quat_wxyz", quat), ("vel_m_s", vector), ("omega_rad_s", vector), ("goal_m", vector),
    ]  # fmt: skip
    told = {"format": FORMAT, **about, "observation": _told(observation), "command": _told(command)}
    return pa.schema(columns, metadata={KEY: json.dumps(told)})


def _told(elements: Sequence[DescribedElement]) -> list[dict[str, str]]:
    return [{"name": e.name, "unit": e.unit, "frame": e.frame} for e in elements]


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """Yield a path to write to; it replaces `file` at the end, and is deleted if an error is raised."""
    part = file.with_name(f"{file.name}.part")
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield part
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def table_of(columns: dict[str, np.ndarray], schema: pa.Schema) -> pa.Table:
    """Arrays [S] or [S, width] as rows of the file; a row of a list with NaN in it is null."""
    return pa.Table.from_arrays([_column(columns[field.name], field.type) for field in schema], schema=schema)


def _column(values: np.ndarray, kind: pa.DataType) -> pa.Array:
    if values.ndim == 1:
        return pa.array(values, type=kind)
    missing = pa.array(~np.isfinite(values).all(-1))
    flat = pa.array(np.ascontiguousarray(values).reshape(-1), type=kind.value_type)
    return pa.FixedSizeListArray.from_arrays(flat, type=kind, mask=missing)


def read_dataset(file: Path) -> Dataset:
    """A data set, whole.

    Raises:
        UserError: no such file, no Parquet, or not one of `robomarl dataset`.
    """
    try:
        table = pq.read_table(file)
    except FileNotFoundError:
        raise UserError(f"{file}: there is no such file; make it with `robomarl dataset`.") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(f"{file}: is no Parquet file ({str(error).splitlines()[0]}); make it anew.") from None
    told = (table.schema.metadata or {}).get(KEY)
    if told is None:
        raise UserError(f"{file}: its metadata have no key {KEY.decode()}; make it with `robomarl dataset`.")
    about = json.loads(told)
    if about.get("format") != FORMAT:
        raise UserError(
            f"{file}: format {about.get('format')} is not known here; make it anew with `robomarl dataset`."
        )
    columns = {name: _array(table.column(name)) for name in table.column_names}
    return Dataset(file, about, columns, hashlib.sha256(file.read_bytes()).hexdigest())


def _array(column: pa.ChunkedArray) -> np.ndarray:
    """[S] or [S, width]; NaN where a list is null."""
    if not pa.types.is_fixed_size_list(column.type):
        return column.to_numpy()
    width, there = column.type.list_size, column.is_valid().to_numpy()
    flat = column.drop_null().combine_chunks().flatten().to_numpy(zero_copy_only=False)
    rows = np.full((len(column), width), np.nan, flat.dtype)
    rows[there] = flat.reshape(-1, width)
    return rows
