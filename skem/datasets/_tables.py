"""Tables of a user's own: CSV, ARFF and npz files, read with errors that name the line and the column."""

from __future__ import annotations

import csv
import difflib
import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
"""Cells of features that are missing values, in lower case."""


@dataclass(frozen=True, eq=False)
class Table:
    """Samples of a file, with the line of each.

    Attributes
    ----------
    path : str
    label : str
        Name of the column of class labels.
    X : ndarray of shape (n, m), float64
        Features, NaN where a value is missing; of an npz file also uint8 images, (n, ...).
    y : ndarray of shape (n,), str
        Class labels.
    feature_names : tuple of str or None
    lines : ndarray of shape (n,), int
        Line of each sample in the file, from one on; of an npz file, its number.
    """

    path: str
    label: str
    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    feature_names: tuple[str, ...] | None = field(repr=False)
    lines: np.ndarray = field(repr=False)


def read_table(path: str | Path, label: str | None = None) -> Table:
    """Read a CSV file with column names in its first line, an ARFF file, or an npz file with arrays X and y.

    Commas, semicolons or tabs separate the cells of a CSV file. An empty cell, NA, NaN, null, none or ? is a missing value;
    as a label, none is not.

    Parameters
    ----------
    path : path
        File, of the format that its suffix names.
    label : str, optional
        Name of the column of class labels; by default the last column. An npz file has its labels in y.

    Returns
    -------
    Table
        Features, labels and the names of the columns.

    Raises
    ------
    ValueError
        The file has an invalid cell; the message names its line and column.
    """
    path = Path(path)
    if path.suffix.lower() == ".npz":
        return _read_npz(path)
    label, lines, columns = read_columns(path, label)
    y = columns.pop(label)
    faults: list[str] = []
    arrays = [numbers(path, name, cells, lines, faults) for name, cells in columns.items()]
    if faults:
        raise ValueError("\n       ".join(faults))
    return Table(str(path), label, np.column_stack(arrays), np.array(y), tuple(columns), np.array(lines))


def read_columns(path: Path, label: str | None = None) -> tuple[str, list[int], dict[str, tuple[str, ...]]]:
    """Name of the label's column, the line of each sample, and the cells of each column of a CSV or ARFF file."""
    lines, header, rows = _cells(path)
    if len(header) < 2:
        raise ValueError(f"{path}, line 1: {len(header)} column; features and a class label are needed")
    found = [number for number in map(_number, header) if number is not None]
    if len(found) == len(header) or any(x % 1 for x in found) or sorted({*found}) != found:
        raise ValueError(
            f"{path}, line 1: {', '.join(header[:5])} are no column names; write a line of names"
        )
    twice = [name for i, name in enumerate(header) if name in header[:i]]
    if twice:
        raise ValueError(f"{path}, line 1: two columns are called {twice[0]!r}; rename one of them")
    label = header[-1] if label is None else label
    if label not in header:
        close = difflib.get_close_matches(label, header, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        shown = ", ".join(header[:50]) + ", ..." * (len(header) > 50)
        raise ValueError(f"{path}: no column is called {label!r}; {hint}the columns are {shown}")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    missing = MISSING - {"none"}
    unlabelled = [(i, cell) for i, cell in enumerate(columns[label]) if cell.lower() in missing]
    if unlabelled:
        i, cell = unlabelled[0]
        what = f"{cell!r} is read as a missing label" if cell else "no class label"
        raise ValueError(
            f"{path}, line {lines[i]}, column {label!r}: {what}; remove the {len(unlabelled)} samples without one"
        )
    return label, lines, columns


def _read_npz(path: Path) -> Table:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            missing = [name for name in ("X", "y") if name not in arrays]
            if missing:
                raise ValueError(f"no array is called {missing[0]}; there are {', '.join(arrays) or 'none'}")
            X, y = arrays["X"], arrays["y"]
    except (BadZipFile, EOFError, TypeError, ValueError) as error:  # a TypeError for a single array
        raise ValueError(f"{path}: {error}; arrays X and y of numbers or text are needed") from error
    if X.dtype.kind not in "biuf" or X.ndim < 2 or y.shape != X.shape[:1] or not len(y):
        raise ValueError(
            f"{path}: X is {X.dtype} {X.shape} and y has shape {y.shape}; one row of numbers and one label per sample are needed"
        )
    is_image = X.dtype == np.uint8 and X.ndim > 2
    if not is_image and (X.ndim > 2 or np.isinf(X).any()):
        raise ValueError(
            f"{path}: X is {X.dtype} {X.shape}; finite numbers (n, m), or uint8 images are needed"
        )
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            raise ValueError(f"{path}: y has {np.sum(~np.isfinite(y))} samples without a label; remove them")
        y = y.astype(int) if (y == y.astype(int)).all() else y
    X = X if is_image else X.astype(np.float64)
    return Table(str(path), "y", X, y.astype(str), None, np.arange(1, len(y) + 1))


def _cells(path: Path) -> tuple[list[int], list[str], list[list[str]]]:
    """Numbers of lines, names of columns and the cells below, without blanks around them; decimal commas are points."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text in UTF-8; save it as CSV in UTF-8") from error
    above, header, quote, separator = 0, None, '"', ","
    if path.suffix.lower() == ".arff":
        above, header, text = _arff(path, text)
        quote = "'" if re.search(r"(?m)(^|,)\s*'", text) else '"'
    else:
        separator, text = _separator(text)
    lines, rows = [], []
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quotechar=quote,
        skipinitialspace=True,
        strict=True,
    )
    try:
        for row in filter(any, reader):
            lines.append(above + reader.line_num)
            rows.append([cell.strip() for cell in row])
    except csv.Error as error:
        raise ValueError(f"{path}, line {above + reader.line_num}: {error}") from error
    if header is None:
        header, rows, lines = (rows or [[]])[0], rows[1:], lines[1:]
    if not rows:
        raise ValueError(f"{path}: no samples; a line of column names and samples are needed")
    longer = max(len(header), len(rows[0]))
    if (
        longer > 1
        and not any(row[longer - 1 :] != [""] for row in rows)
        and header[longer - 1 :] in ([], [""])
    ):
        header, rows = header[: longer - 1], [row[:-1] for row in rows]  # a separator ends each line
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(header):
            commas = separator == "," and len(row) > len(header) > 1
            hint = "; decimal commas need semicolons between cells" if commas else ""
            hint = "; the first line must have the names of the columns" if len(header) == 1 else hint
            raise ValueError(
                f"{path}, line {line}: {len(row)} cells, but {len(header)} columns have names{hint}"
            )
    if separator != ",":
        _refuse_thousands(path, lines, header, rows)
        rows = [[_with_point(cell) for cell in row] for row in rows]
    return lines, header, rows


def _separator(text: str) -> tuple[str, str]:
    """The mark between cells, which the first two lines have equally often, and the text; without the line ``sep=`` of Excel."""
    if named := re.match(r'"?sep=(.)"?\r?(?=\n)', text):
        return named[1], text[named.end() :]
    first = [line for line in re.sub('"[^"]*"', "", text[:100_000]).splitlines() if line.strip()][:2] or [""]
    equal = [mark for mark in "\t;," if len({line.count(mark) for line in first}) == 1 and mark in first[0]]
    return next(iter(equal or [mark for mark in "\t;" if mark in first[0]]), ","), text


def _refuse_thousands(path: Path, lines: list[int], header: list[str], rows: list[list[str]]) -> None:
    """Raise ValueError for a number such as 1.010 in a file with decimal commas, unless its column has decimal points."""
    if not any(re.fullmatch(r"[-+]?\d+,\d+", cell) for row in rows for cell in row):
        return
    for name, column in zip(header, zip(*rows, strict=True), strict=True):
        grouped = [bool(re.fullmatch(r"[-+]?\d{1,3}(\.\d{3})+(,\d+)?", cell)) for cell in column]
        others = [cell for cell, is_grouped in zip(column, grouped, strict=True) if not is_grouped]
        are_numbers = all(
            cell.lower() in MISSING or _number(_with_point(cell)) is not None for cell in others
        )
        if any(grouped) and are_numbers and not any("." in cell for cell in others):
            i = grouped.index(True)
            raise ValueError(
                f"{path}, line {lines[i]}, column {name!r}: {column[i]!r} may be a thousand or a fraction, as the file has decimal "
                "commas; write it without a point"
            )


def _arff(path: Path, text: str) -> tuple[int, list[str], str]:
    """Number of lines of the header, names of the attributes, and the data without comments."""
    parts = re.split(r"(?im)^[ \t]*@data\b.*$", text, maxsplit=1)
    if len(parts) < 2:
        raise ValueError(f"{path}: no line @data; an ARFF file has attributes, and data below this line")
    header, data = parts
    names = re.findall(r"(?im)^\s*@attribute\s+('[^']*'|\"[^\"]*\"|[^\s{]+)", header)
    if re.search(r"(?m)^\s*\{", data):
        raise ValueError(f"{path}: the data are in the sparse format of ARFF; write all values of a sample")
    return header.count("\n"), [name.strip("'\"") for name in names], re.sub(r"(?m)^\s*%.*$", "", data)


def _with_point(cell: str) -> str:
    changed = cell.replace(",", ".", 1)
    return cell if _number(changed) is None else changed


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def numbers(path: Path, name: str, cells: tuple[str, ...], lines: list[int], faults: list[str]) -> np.ndarray:
    """Numbers of a column, NaN where a value is missing or is added to ``faults``."""
    found = [np.nan if cell.lower() in MISSING else _number(cell) for cell in cells]
    wrong = [i for i, number in enumerate(found) if number is None or np.isinf(number)]
    if wrong:
        cell = cells[wrong[0]]
        advice = "write a decimal point" if "," in cell else "encode the column as numbers, or remove it"
        faults.append(
            f"{path}, line {lines[wrong[0]]}, column {name!r}: {cell[:60]!r} is no finite number, "
            f"the first of {len(wrong)} such cells; {advice}"
        )
    return np.array([np.nan if number is None else number for number in found], dtype=np.float64)


def content(spec: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, list[str], list[str] | None]:
    """Features, class indices and their names, of a data set that is a file or comes with scikit-learn.

    Parameters
    ----------
    spec : dict
        Entry of a registry with ``file``, a path from ``folder``, and optionally ``label``; or with ``bundled``, the name of
        a data set of scikit-learn.
    """
    if "bundled" in spec:
        from sklearn import datasets

        data = getattr(datasets, f"load_{spec['bundled']}")()
        X, codes, classes, names = data.data, data.target, data.target_names, data.feature_names
    else:
        path = Path(spec["folder"], spec["file"])
        if not path.is_file():
            raise FileNotFoundError(
                f"there is no file {path}; correct 'file' in the entry, or put the file there"
            )
        table = read_table(path, spec.get("label"))
        classes, codes = np.unique(table.y, return_inverse=True)
        X, names = table.X, table.feature_names
    features = None if names is None else list(map(str, names))
    return np.ascontiguousarray(X), codes.astype(np.int64), list(map(str, classes)), features
