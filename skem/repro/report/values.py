"""Values that templates quote, by name; the digits of each are decided here.

A name is one of

``table.key.….column``
    The only cell of a column of ``results/reference/tables/<table>.csv`` in the rows with these keys, as
    ``comparison_images.mnist.tuned.accuracy``. Keys are values of the columns `KEYS`, in any order; a key that would begin with a digit
    has a prefix (``k20``: 20 components), and signs other than letters and digits are underscores.
``ours["id of a claim"]``
    Our measurement of a claim, with as many decimals as the paper's value, and at least two significant digits.
``claim["id of a claim"].column``
    A cell of its row in ``claims.csv``, such as its ``outcome``; ``claims.outcome["pattern of ids"]`` counts claims.
``remark["id of a claim"]["pattern"]``
    The match of a regular expression, or of its group, in the remark on a claim.
``interpretation["id of a claim"]["label"].column``
    A cell of ``interpretations.csv``.
``smallest.table.key.….column``, ``largest.table.key.….column``
    The smallest or largest number of the column in the rows with these keys.
a name in `NAMED`, followed by the arguments of its function
    Anything else: blocks of Markdown, counts, differences and ratios, as ``partition.mnist.class.k60.advantage``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pandas as pd

from skem.repro.render.format import number
from skem.repro.report import blocks, comparison_blocks
from skem.repro.report.headlines import ours
from skem.repro.report.reference import Reference, unknown

KEYS = {
    **dict.fromkeys(("dataset", "method", "measure", "score", "folds", "protocol"), ""),
    **{"partition": "p", "n_components": "k", "n_threads": "threads"},
}
"""Columns whose values are keys, each with the prefix of keys that would begin with a digit."""

DIGITS: dict[str, int | str] = {
    "comparison_images.cifar10_windows.*.accuracy": 1,
    "comparison_images.*.accuracy": 2,
    "*.log_loss": 3,
    "*.auroc": 3,
    "*.fit": 0,
    "*.n_runs": 0,
    "hayashi_images.*.error": 2,
    "mda.*.accuracy": 2,
    "hayashi_images.*weights": 0,
    "sanderson.ozone.*.test": 0,
    "sanderson.*.test": 2,
    "sanderson.*.log_likelihood": 0,
    "sanderson.*.per_row": 2,
    "sanderson_timing.synthetic_1m.*.seconds": 1,
    "sanderson_timing.pokerhand.*.seconds": 0,
    "sanderson_timing.covertype.*.seconds": 0,
    "sanderson_timing.*.seconds": 2,
    "*.seconds_per_iteration": 2,
    "*": 1,
}
"""Decimals of a cell, or a format specification, by pattern of its name; the first pattern that matches counts."""


def key(column: str, value: str) -> str:
    """Return a value of a key column as part of a name."""
    name = re.sub(r"\W", "_", value.removesuffix(".0"))
    return f"{KEYS[column] or '_'}{name}" if name[:1].isdigit() else name


@cache
def _labels(r: Reference, table: str) -> pd.DataFrame:
    """Key columns of a table, as parts of names."""
    found = r.table(table)
    names = {by: [key(by, value) for value in found[by]] for by in KEYS if by in found}
    return pd.DataFrame(names, found.index, dtype=object)


def heads(r: Reference) -> set[str]:
    """First parts of all names."""
    return {*r.tables(), *(name.partition(".")[0] for name in NAMED)}


def resolve(r: Reference, name: tuple[str, ...]) -> str:
    """Return the text of a value; `LookupError` with the fault and similar names."""
    head, *rest = name
    if rest and head in r.tables():
        return _cell(r, head, rest)
    for n in range(len(name), 0, -1):
        if function := NAMED.get(".".join(name[:n])):
            return str(function(r, *name[n:]))
    raise LookupError(unknown(".".join(name), NAMED))


def _cell(r: Reference, table: str, names: Sequence[str], choose: str = "") -> str:
    """The only cell of a column in the rows with these keys, or the smallest or largest if ``choose`` is "min" or "max"."""
    rows, labels = r.table(table), _labels(r, table)
    *keys, column = names
    for name in keys:
        own = (labels.to_numpy() == name).any(axis=1)
        if not own.any():
            raise LookupError(unknown(name, labels.to_numpy().flat))
        labels = labels[own]
    if column not in rows:
        raise LookupError(unknown(column, rows))
    if len(labels) != 1 and not choose:
        varying = " or ".join(by for by in labels if len({*labels[by]}) > 1) or "the row"
        raise LookupError(f"{len(labels)} rows have these keys; add a key of {varying}")
    full, cells = f"{table}.{'.'.join(names)}", rows.loc[labels.index, column]
    digits = next(digits for pattern, digits in DIGITS.items() if fnmatchcase(full, pattern))
    value = pd.to_numeric(cells, errors="coerce").agg(choose or "max")
    return str(cells.iloc[0]) if pd.isna(value) else number(value, digits)


def fixed(value: Any, digits: int = 1) -> str:
    """Format with this many decimals."""
    return number(float(value), digits)


def _claim(r: Reference, claim: str) -> pd.Series[Any]:
    claims = r.table("claims")
    if claim not in {*claims["id"]}:
        raise LookupError(unknown(claim, claims["id"]))
    return claims.set_index("id", drop=False).loc[claim]


def _claims(r: Reference, outcome: str, pattern: str, *interpretation: str) -> int:
    """Number of claims whose ids match a pattern with this outcome or detail, or with this detail under an interpretation."""
    claims = r.table("./interpretations" if interpretation else "claims")
    if interpretation:
        claims = claims[claims["interpretation"] == interpretation[0]]
    matching = claims[[fnmatchcase(claim, pattern) for claim in claims["id"]]]
    if not len(matching):
        raise LookupError(f"no claim matches {pattern!r}")
    return int(matching.filter(["outcome", "detail"]).eq(outcome.replace("_", " ")).any(axis=1).sum())


def _n(label: str) -> int:
    """The number in a key such as ``k40``."""
    digits = re.search(r"\d+$", label)
    if not digits:
        raise LookupError(f"{label!r} has no number; a key such as k40 or threads2 is needed")
    return int(digits[0])


def _partition(r: Reference, dataset: str, initialisation: str, k: str, value: str) -> str:
    """Accuracy at the test-selected iteration of the whole model, of the best partition, and the difference."""
    where = {"dataset": dataset, "method": initialisation, "n_components": _n(k)}
    where |= {"protocol": "test_selected_iteration"}
    columns = (r.cells("figures/advantage", name, **where) for name in ("n_blocks", "accuracy"))
    pairs = list(zip(*columns, strict=True))
    whole, best = max(a for n, a in pairs if n == 1), max(a for n, a in pairs if n > 1)
    found = {"whole": fixed(whole), "best": fixed(best), "difference": number(best - whole, "+.1f")}
    if value not in found:
        raise LookupError(unknown(value, found))
    return found[value]


def _accuracy(r: Reference, dataset: str, method: str, setting: str) -> str:
    """Test-selected accuracy of a configuration of Pulford (2022), in percent."""
    cell = {"dataset": dataset, "method": method, "setting": setting}
    runs = r.cells("values/pulford2022_values", "test_selected_iteration", **cell)
    return fixed(100 * sum(runs) / len(runs))


def _distance(r: Reference, dataset: str) -> str:
    """Mean distance of the errors on a data set from those that Titsias and Likas (2001) print, in points."""
    ours, printed = (r.cells("titsias", column, dataset=dataset) for column in ("error", "paper"))
    return fixed(sum(abs(a - b) for a, b in zip(ours, printed, strict=True)) / len(ours), 2)


def _svm_to_pskem(r: Reference, dataset: str, seconds: str) -> str:
    svm, ours = (
        r.cell("comparison_images_timing", seconds, dataset=dataset, method=method)
        for method in ("svm_rbf_search", "tuned")
    )
    return fixed(svm / ours)


def _seconds(r: Reference, part: str, method: str, other: str) -> str:
    """CPU seconds of a method's fits divided by those of another, median over the tables of a part of the comparison."""
    times = r.table(f"values/comparison_{part}_timing")
    seconds = times.assign(fit=pd.to_numeric(times["fit"])).pivot_table(
        "fit", "dataset", "method", aggfunc="sum"
    )
    for name in (method, other):
        if name not in seconds:
            raise LookupError(unknown(name, seconds))
    return number((seconds[method] / seconds[other]).median(), ".2g")


def _speed(r: Reference, instructions: str) -> str:
    """Time of an EM iteration of scikit-learn divided by ours, and its range, with two threads in float64."""
    where = {
        "part": "sizes",
        "engine": "scikit-learn",
        "N": 60_000,
        "m": 15,
        "K": 100,
        "threads": 2,
        "dtype": "float64",
    }
    where |= {"instructions": instructions.replace("_", "-")}
    ratio, low, high = (fixed(r.cell("./peers", f"ratio{end}", **where), 0) for end in ("", "_low", "_high"))
    return f"{ratio} [{low}, {high}]"


TEST_RANKS = "comparison_test_ranks"

NAMED: dict[str, Callable[..., Any]] = {
    "ours": lambda r, claim: ours(_claim(r, claim)),
    "claim": lambda r, claim, column: _claim(r, claim)[column],
    "remark": Reference.remark,
    "claims": _claims,
    "interpretation": lambda r, claim, label, column: r.cell(
        "./interpretations", column, id=claim, interpretation=label
    ),
    "smallest": lambda r, table, *names: _cell(r, table, names, "min"),
    "largest": lambda r, table, *names: _cell(r, table, names, "max"),
    "table1": blocks.accuracies,
    "headlines": blocks.headline_list,
    "conclusions": blocks.conclusions,
    "figure": blocks.figure,
    "redrawn": blocks.redrawn,
    "summary": Reference.total,
    "partition": _partition,
    "comparison.test_summary": comparison_blocks.test_summary,
    "comparison.test_ranks": lambda r: comparison_blocks.average_ranks(r, "test"),
    "comparison.categories_ranks": lambda r: comparison_blocks.average_ranks(r, "categories"),
    "comparison.budgets": comparison_blocks.budgets,
    "comparison.test_tables": lambda r: fixed(r.cells(TEST_RANKS, "n_datasets")[0], 0),
    "comparison.critical_difference": lambda r: fixed(r.cells(TEST_RANKS, "critical_difference")[0]),
    "speed.scikit_learn": _speed,
    "comparison.left_out": comparison_blocks.left_out,
    "choosing.svm_to_pskem": _svm_to_pskem,
    "seconds": _seconds,
    "pulford2022.accuracy": _accuracy,
    "minutes": Reference.minutes,
    "titsias2001.distance": _distance,
}
"""Functions of the reference, and of the parts that follow the name."""
