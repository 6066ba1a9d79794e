"""Samples in Parquet files, read one row group at a time."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


class ParquetRows:
    """Columns of Parquet files, for a ``fit`` that reads them again in each iteration.

    Memory does not grow with the number of samples: each thread holds one row group. A row group is a part of the samples. If all
    row groups but the last have 73,728 rows (``row_group_size=73_728`` of ``pyarrow.parquet.write_table``), a fit from the same
    initial parameters has the same bits as on an array in memory. Initialisations draw from at most 73,728 of the samples. With
    other row groups the last digits differ, but not between numbers of threads. Row groups of less than a few thousand rows take
    more time.

    Parameters
    ----------
    paths : path, or sequence of paths
        Files, in the order of their samples; a folder stands for all its ``*.parquet``, by name.
    columns : str or sequence of str, optional
        A single column, for labels or weights, or several, for features. None is all but an index that pandas wrote.

    Attributes
    ----------
    shape : tuple
        (n,) of a single column, else (n, m).
    dtype : numpy dtype
        Type of features: float32 if all columns are float32, else float64. A single column has its own type.
    block_sizes : list of int
        Number of rows of each row group.

    Raises
    ------
    ValueError
        No file, a column that a file lacks, or one of several columns that is not numeric.

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
        try:
            import pyarrow.parquet as pq
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "ParquetRows needs the package pyarrow: pip install 'pskem[dask]', or pip install pyarrow"
            ) from None

        paths = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
        files = [file for path in paths for file in _files(Path(fspath(path)))]
        if not files:
            raise ValueError(
                f"ParquetRows: no *.parquet in {', '.join(map(str, paths)) or 'an empty list'}; give files, or a folder of files"
            )
        metadata = [pq.read_metadata(file) for file in files]
        schemas = [found.schema.to_arrow_schema() for found in metadata]
        # An empty file may have columns without a type.
        filled = [i for i, found in enumerate(metadata) if found.num_rows] or [0]
        schema = schemas[filled[0]]
        self._one_column = isinstance(columns, str)
        every = [name for name in schema.names if name not in _index(schema)]
        names = [columns] if isinstance(columns, str) else list(every if columns is None else columns)
        dtypes = []
        for file, found in ((files[i], schemas[i]) for i in filled):
            lacking = [name for name in names if name not in found.names]
            if lacking:
                raise ValueError(
                    f"ParquetRows: {file} has no column {lacking[0]!r}; its columns are {', '.join(found.names)}"
                )
            twice = [name for name in names if found.names.count(name) > 1]
            if twice:
                raise ValueError(f"ParquetRows: {file} has two columns {twice[0]!r}; rename one of them")
            for field in map(found.field, names):
                dtypes.append(_dtype(field))
                if needed := self._instead_of(field, dtypes, schema):
                    raise ValueError(
                        f"ParquetRows: {file}: column {field.name!r} is of type {field.type}, not {needed}"
                    )
        self.columns, self._schema = names, schema
        self.dtype = dtypes[0] if self._one_column else np.dtype(np.float64)
        if not self._one_column and all(dtype == np.float32 for dtype in dtypes):
            self.dtype = np.dtype(np.float32)
        self._groups = [
            (file, found, group)
            for file, found in zip(files, metadata, strict=True)
            for group in range(found.num_row_groups)
        ]
        self.block_sizes: list[int] = [found.row_group(group).num_rows for _, found, group in self._groups]

    def _instead_of(self, field: pa.Field, dtypes: Sequence[np.dtype], first: pa.Schema) -> str | None:
        """The type that a column should have, or None if it can be read; ``dtypes`` are those of all columns so far, its own last."""
        import pyarrow.types as types

        kind, first_kind = dtypes[-1].kind, dtypes[0].kind
        if not self._one_column:
            return None if kind in "biuf" else "numeric; name the columns that are features"
        if types.is_nested(field.type):
            return "text or numbers"
        if (kind == "O") != (first_kind == "O"):  # labels of both kinds have no order
            return f"{first.field(field.name).type} as in another file"
        return None

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
        """Read one row group, of shape (n,) for a single column given by name, else (n, m) with each feature contiguous."""
        import pyarrow.parquet as pq

        path, metadata, group = self._groups[block]
        with pq.ParquetFile(path, metadata=metadata) as file:
            table = file.read_row_group(group, columns=self.columns, use_threads=False)
        if self._one_column:
            return _values(table.column(0))
        x = np.empty((len(self.columns), table.num_rows), self.dtype)
        for feature, name in zip(x, self.columns, strict=True):
            feature[:] = _values(table.column(name))
        return x.T

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Read all samples into memory."""
        if copy is False:
            raise ValueError("ParquetRows: samples in a file cannot be read without a copy; use copy=None")
        whole = np.concatenate([self.read_block(block) for block in range(len(self.block_sizes))])
        return whole if dtype is None else whole.astype(dtype, copy=False)


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def _index(schema: pa.Schema) -> list[str]:
    """Columns that pandas wrote as the index of a frame."""
    return [name for name in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(name, str)]


def _dtype(field: pa.Field) -> np.dtype:
    import pyarrow.types as types

    is_object = types.is_dictionary(field.type) or types.is_nested(field.type)
    return np.dtype(object) if is_object else np.dtype(field.type.to_pandas_dtype())


def _values(column: pa.ChunkedArray) -> np.ndarray:
    import pyarrow.types as types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.to_numpy()
