"""Writing Parquet files whose bytes follow from their rows, and from the version of the library that writes.

Rows are put one by one; a row group is written whenever it is full, so that memory is bounded and the file is
the same however the rows came. What a writer may choose is chosen here, once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from infrastructure.archive.layout import ROW_GROUP
from infrastructure.archive.manifest import ArchiveError, File
from infrastructure.projections.kinds import Column
from infrastructure.projections.round_records import ROUND_RECORDS

WRITER: Final = f"pyarrow {pa.__version__}"
_DECIMAL_BYTES: Final = 16
_ZSTD_LEVEL: Final = 3
_PAGE_BYTES: Final = 1 << 20

_TYPES: Final = {
    "bigint": pa.int64(),
    "integer": pa.int32(),
    "smallint": pa.int16(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "numeric(24,0)": pa.decimal128(24, 0),
}


def _field(column: Column) -> Any:
    return pa.field(column.name, _TYPES[column.type], nullable=column.name not in ROUND_RECORDS.key)


ROUND_COLUMNS: Final = pa.schema([_field(column) for column in ROUND_RECORDS.columns])


class Writer:
    """A file of rows with the columns of `schema`, in the order of a row's values. A context manager.

    Decimals are given as integers of their smallest unit. Left in order, the file is on the disk, and `file`
    says what a manifest says of it.
    """

    file: File

    def __init__(self, path: Path, schema: Any) -> None:
        self._path = path
        self._schema = schema
        self._rows: list[Sequence[Any]] = []
        self._count = 0

    def __enter__(self) -> Self:
        self._hashing = _Hashing(self._path)
        try:
            self._writer = self._begin()
        except BaseException:
            self._hashing.close()
            raise
        return self

    def __exit__(
        self, type_: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                if self._rows:
                    self._write()
                self._writer.close()
                self.file = self._hashing.finish(self._count)
        finally:
            # What failed is thrown away: nothing is to be written when it is collected.
            self._writer.is_open = False
            self._hashing.close()

    def put(self, row: Sequence[Any]) -> None:
        """Add a row."""
        self._rows.append(row)
        if len(self._rows) == ROW_GROUP:
            self._write()

    def put_all(self, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows."""
        for row in rows:
            self.put(row)

    def _begin(self) -> Any:
        """What writes the file, with all that it may choose."""
        return pq.ParquetWriter(
            pa.PythonFile(self._hashing, mode="w"),
            self._schema,
            version="2.6",
            data_page_version="1.0",
            compression="zstd",
            compression_level=_ZSTD_LEVEL,
            use_dictionary=_texts(self._schema),
            # Positions and times grow by little: their differences are small.
            column_encoding=dict.fromkeys(_numbers(self._schema), "DELTA_BINARY_PACKED"),
            data_page_size=_PAGE_BYTES,
            write_statistics=_texts(self._schema) + _numbers(self._schema),
            store_schema=False,
        )

    def _write(self) -> None:
        columns = zip(*self._rows, strict=True)
        try:
            arrays = [_array(values, field.type) for values, field in zip(columns, self._schema, strict=True)]
        except (pa.ArrowException, TypeError, AttributeError, OverflowError) as error:
            # What an edited event holds can be anything.
            raise ArchiveError(
                f"{self._path.name}: a value is not of its kind ({type(error).__name__})"
            ) from error
        self._count += len(self._rows)
        self._rows = []
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema), ROW_GROUP)


def write(path: Path, schema: Any, rows: Iterable[Sequence[Any]]) -> File:
    """Write a whole file; return what a manifest says of it. Raises OSError."""
    with Writer(path, schema) as writer:
        writer.put_all(rows)
    return writer.file


class _Hashing:
    """A file that is hashed as it is written, from its first byte to its last."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb")
        self._hash = hashlib.sha256()
        self._bytes = 0
        self.closed = False

    def write(self, data: Any) -> int:
        """Write bytes."""
        self._hash.update(data)
        self._bytes += len(data)
        return self._file.write(data)

    def tell(self) -> int:
        """How many bytes were written."""
        return self._bytes

    def flush(self) -> None:
        """Nothing waits here."""

    def readable(self) -> bool:
        """It is only written."""
        return False

    def writable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is written in one go."""
        return False

    def finish(self, rows: int) -> File:
        """Have it on the disk, and say what it is."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return File(self._bytes, self._hash.hexdigest(), rows)

    def close(self) -> None:
        """Close it."""
        self.closed = True
        self._file.close()


def _array(values: Sequence[Any], type_: Any) -> Any:
    """An array of one column's values; exact integers become decimals by their bytes."""
    if not pa.types.is_decimal(type_):
        return pa.array(values, type_)
    whole = b"".join([value.to_bytes(_DECIMAL_BYTES, "little", signed=True) for value in values])
    return pa.Array.from_buffers(type_, len(values), [None, pa.py_buffer(whole)])


def _texts(schema: Any) -> list[str]:
    return [field.name for field in schema if pa.types.is_string(field.type)]


def _numbers(schema: Any) -> list[str]:
    return [
        field.name for field in schema if pa.types.is_integer(field.type) or pa.types.is_temporal(field.type)
    ]
