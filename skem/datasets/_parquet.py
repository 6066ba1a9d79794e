"""Rows of parquet files, read one row group at a time."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


class ParquetRows:
    """Some columns of parquet files, for the ``fit`` of a mixture or classifier that reads them again in each pass.

    What a fit takes of memory does not grow with the rows: each thread holds one row group. Each is a part of the rows, so a
    fit has the bits of one on the same rows in memory where all but the last of the groups have 73,728 rows
    (``row_group_size=73_728`` of ``pyarrow.parquet.write_table``); with others it has its own, which are the same with any
    number of threads. Groups of less than a few thousand rows take more time.

    Parameters
    ----------
    paths : path, or sequence of paths
        Files, in the order of their rows; a folder is all its ``*.parquet``, by name.
    columns : str or sequence of str, optional
        One column, as labels and weights are, or several, as features are. None is all.

    Attributes
    ----------
    shape : tuple
        (n,) of one column, else (n, m).
    dtype : numpy dtype
        Of features: float32 where all are, else float64. Of a single column, its own.
    block_sizes : list of int
        The rows of each row group.

    Raises
    ------
    ValueError
        No file, a column that a file lacks, or one of several that is not of numbers.

    Examples
    --------
    >>> from skem import SKEMClassifier
    >>> from skem.datasets import ParquetRows
    >>> X = ParquetRows("rows.parquet", ["length", "width"])                              # doctest: +SKIP
    >>> y = ParquetRows("rows.parquet", "species")                                        # doctest: +SKIP
    >>> model = SKEMClassifier(random_state=0, n_jobs=-1).fit(X, y)                       # doctest: +SKIP
    """

    def __init__(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        columns: str | Sequence[str] | None = None,
    ) -> None:
        import pyarrow.parquet as pq

        given = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
        self._files = [file for path in given for file in _files(Path(fspath(path)))]
        if not self._files:
            raise ValueError(
                f"ParquetRows: there is no *.parquet in {', '.join(map(str, given)) or 'no path'}"
            )
        self._metadata = [pq.read_metadata(file) for file in self._files]
        self._one_column = isinstance(columns, str)
        schema = self._metadata[0].schema.to_arrow_schema()
        names = schema.names if columns is None else [columns] if isinstance(columns, str) else list(columns)
        for file, metadata in zip(self._files, self._metadata, strict=True):
            lacking = [name for name in names if name not in metadata.schema.to_arrow_schema().names]
            if lacking:
                raise ValueError(f"ParquetRows: {file} has no column {lacking[0]!r}")
        self.columns = names
        self._schema = schema
        dtypes = [_dtype(schema.field(name)) for name in names]
        if not self._one_column:
            for name, dtype in zip(names, dtypes, strict=True):
                if dtype.kind not in "biuf":
                    raise ValueError(
                        f"ParquetRows: column {name!r} is of type {schema.field(name).type}, which is no number: name the "
                        "columns that are features"
                    )
        single = dtypes[0] if self._one_column else None
        narrow = all(dtype == np.float32 for dtype in dtypes)
        self.dtype = single or np.dtype(np.float32 if narrow else np.float64)
        self._groups = [
            (number, group)
            for number, metadata in enumerate(self._metadata)
            for group in range(metadata.num_row_groups)
        ]
        self.block_sizes = [
            self._metadata[number].row_group(group).num_rows for number, group in self._groups
        ]

    @property
    def shape(self) -> tuple[int, ...]:
        n = sum(self.block_sizes)
        return (n,) if self._one_column else (n, len(self.columns))

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def empty_table(self) -> pa.Table:
        """The columns, without rows."""
        import pyarrow as pa

        return pa.schema([self._schema.field(name) for name in self.columns]).empty_table()

    def read_block(self, block: int) -> np.ndarray:
        """The rows of one row group: (n,) of one column, else (n, m), one feature after the other in memory."""
        import pyarrow.parquet as pq

        number, group = self._groups[block]
        with pq.ParquetFile(self._files[number], metadata=self._metadata[number]) as file:
            table = file.read_row_group(group, columns=self.columns, use_threads=False)
        if self._one_column:
            return _values(table.column(0))
        x = np.empty((len(self.columns), table.num_rows), self.dtype)
        for feature, name in zip(x, self.columns, strict=True):
            feature[:] = _values(table.column(name))
        return x.T

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """All rows, in memory."""
        if copy is False:
            raise ValueError("ParquetRows: rows of a file are always copied")
        whole = np.concatenate([self.read_block(block) for block in range(len(self.block_sizes))])
        return whole if dtype is None else whole.astype(dtype, copy=False)


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def _dtype(field: pa.Field) -> np.dtype:
    import pyarrow.types as types

    return np.dtype(object) if types.is_dictionary(field.type) else np.dtype(field.type.to_pandas_dtype())


def _values(column: pa.ChunkedArray) -> np.ndarray:
    import pyarrow.types as types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.to_numpy()
