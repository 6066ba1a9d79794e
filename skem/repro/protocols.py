"""Protocols: from a history of iterations to one reported accuracy.

A history has one row per data set, method, configuration (``setting``), run, fold and iteration, with the scores of
the model after that iteration on validation and test samples. A protocol selects the reported row:

- ``test_selected_iteration``: the best iteration on the test set, fold by fold (Pulford 2022, section 3);
- ``test_selected_fold``: the best iteration of the best fold on the test set;
- ``final_iteration``: the final iteration, without any selection;
- ``validation_selected_iteration``: the best iteration on validation samples; the test set is read once;
- ``nested``: configuration (with its covariance regularisation) and iteration together, the best on validation samples inside the
  training samples of each fold. The test set takes no part in any selection.

The first three read models trained on all the paper's training samples (``rows`` is "all"), the last two read models with
validation values. The best iteration has the highest accuracy. On validation samples, ties go to the lower log-loss, then to the
earlier iteration, then to the configuration that comes first in the history; on test samples, to the earlier iteration, then to
the earlier fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

LABELS = {
    "test_selected_iteration": "test-selected iteration",
    "test_selected_fold": "test-selected fold",
    "final_iteration": "final iteration",
    "validation_selected_iteration": "validation-selected iteration",
    "nested": "nested",
}
"""Names of protocols in tables."""

PROTOCOLS = tuple(LABELS)

METRICS = ("accuracy", "log_loss", "brier")
KEYS = ("dataset", "method", "setting", "run", "fold", "rows", "iteration")
COLUMNS = (
    *KEYS,
    *("n_train", "n_validation", "n_test", "log_likelihood", "objective"),
    *(f"{part}_{metric}" for part in ("validation", "test") for metric in METRICS),
)
_TEST = [f"test_{metric}" for metric in METRICS]
_SERIES = ["dataset", "method", "setting"]
_TRIAL = ["dataset", "method", "setting", "run", "fold"]


def validate_history(history: pd.DataFrame) -> pd.DataFrame:
    """Check a history and return a copy in which an empty setting (NaN once a file was read) is "".

    `ValueError` if a column of `COLUMNS` is missing, a key is given twice, the runs of one setting do not have the same folds (some
    are missing then, and a mean over folds would hide it), or both kinds of ``rows`` have validation values.
    """
    missing = [column for column in COLUMNS if column not in history]
    if missing:
        raise ValueError(f"history lacks the columns {missing}")
    history = history.reset_index(drop=True)
    # As objects, since a setting may have been read as a number and a categorical takes no new value.
    history["setting"] = history["setting"].astype(object).where(history["setting"].notna(), "").astype(str)
    twice = history.duplicated(list(KEYS))
    if twice.any():
        raise ValueError(
            f"history has {twice.sum()} duplicate keys, first {_first(history[twice], list(KEYS))}"
        )
    folds = history.groupby([*_SERIES, "rows", "run"])["fold"].agg(lambda fold: tuple(sorted(set(fold))))
    uneven = folds.groupby([*_SERIES, "rows"]).nunique().gt(1)
    if uneven.any():
        raise ValueError(f"runs of {uneven[uneven].index[0]} do not have the same folds")
    kinds = _with_validation(history).groupby(_SERIES)["rows"].nunique().gt(1)
    if kinds.any():
        raise ValueError(
            f'{kinds[kinds].index[0]} has validation values for rows "all" and "part": one is meant'
        )
    return history


def select(history: pd.DataFrame, protocol: str) -> pd.DataFrame:
    """Rows of the history that a protocol reports; none where no row fits the protocol.

    One row per dataset, method, setting, run and fold; ``test_selected_fold`` has one per run, and ``nested`` one per dataset, method,
    run and fold, with the setting that won. ``nested`` compares settings on equal terms: it uses only the runs and folds that all
    settings of the method have. `ValueError` if there are none, the protocol is unknown, or `validate_history` objects.
    """
    _known([protocol])
    return _select(validate_history(history), protocol)


def _select(history: pd.DataFrame, protocol: str) -> pd.DataFrame:
    position = pd.Series(np.arange(len(history)), history.index)
    history = history.assign(_setting=position.groupby([history[k] for k in _SERIES]).transform("min"))
    chosen = history[history["rows"] == "all"]
    by, ascending = ["test_accuracy", "iteration", "fold"], [False, True, True]
    group = _TRIAL
    if protocol == "test_selected_fold":
        group = [*_SERIES, "run"]
    elif protocol == "final_iteration":
        by, ascending = ["iteration"], [False]
    elif protocol in ("validation_selected_iteration", "nested"):
        chosen = _with_validation(history)
        by = ["validation_accuracy", "validation_log_loss", "iteration", "_setting"]
        ascending = [False, True, True, True]
    if protocol == "nested":
        chosen = _in_common(chosen)
        group = ["dataset", "method", "run", "fold"]
    run = ["dataset", "method", "run"] if protocol == "nested" else [*_SERIES, "run"]
    chosen = chosen.assign(protocol=protocol, n_folds=chosen.groupby(run)["fold"].transform("nunique"))
    chosen = chosen.sort_values(by, ascending=ascending, kind="stable").drop_duplicates(group)
    columns = ["protocol", *_TRIAL, "iteration", "n_folds", "n_test", *_TEST]
    return chosen.sort_values(group, kind="stable")[columns].reset_index(drop=True)


def per_run(selected: pd.DataFrame) -> pd.DataFrame:
    """Mean over folds, weighted by the test samples of each, for every run of what `select` returned.

    ``iteration`` is a plain mean, ``n_test`` the sum. Under ``nested`` the setting names all that won with how often, as in "a (3);b (2)".
    """
    rows = []
    for key, run in selected.groupby([*_row_keys(selected), "run"], sort=True):
        row = dict(zip([*_row_keys(selected), "run"], key, strict=True))
        row |= {"setting": _label(run["setting"]), "iteration": run["iteration"].mean()}
        row |= {"n_folds": run["n_folds"].iloc[0], "n_test": run["n_test"].sum()}
        row |= {metric: np.average(run[metric].astype(float), weights=run["n_test"]) for metric in _TEST}
        rows.append(row)
    columns = ["protocol", *_SERIES, "run", "iteration", "n_folds", "n_test", *_TEST]
    return pd.DataFrame(rows, columns=columns)


def interval(
    values: ArrayLike, n_test: int | None = None, sampling_sd: float | None = None
) -> tuple[float, float, float]:
    """Mean over runs and its 95% confidence interval.

    With h_t = t_{n-1} s / sqrt(n) over runs and h_z = z sd / sqrt(n_test) the sampling of test samples, the interval is
    mean +- sqrt(h_t^2 + h_z^2), or mean +- h_t without `n_test`, which holds the data set fixed. One run has no h_t.

    Parameters
    ----------
    values : array-like of shape (n,)
        One value per run.
    n_test : int or None, default=None
        Samples tested in each run: of a fixed test set, or of all folds of cross-validation.
    sampling_sd : float or None, default=None
        Standard deviation of the metric over single test samples; None takes that of an accuracy.
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"values must be one number per run, got shape {values.shape}")
    n, mean, tail = len(values), float(values.mean()), 0.975
    over_runs = (
        float(scipy.stats.t.ppf(tail, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    )
    if n_test is None:
        return mean, mean - over_runs, mean + over_runs
    if sampling_sd is None:
        if not 0 <= mean <= 1:
            raise ValueError(f"a mean of {mean:g} is no accuracy: give sampling_sd")
        sampling_sd = np.sqrt(mean * (1 - mean))
    sampling = float(scipy.stats.norm.ppf(tail) * sampling_sd / np.sqrt(n_test))
    half = float(np.hypot(sampling, over_runs if n > 1 else 0.0))
    return mean, mean - half, mean + half


def summarise(history: pd.DataFrame, protocols: Sequence[str] = PROTOCOLS) -> pd.DataFrame:
    """Every metric under every protocol, tidy; a protocol that no row of a data set fits has no row.

    Intervals of accuracies are over runs and the samples tested, of log-loss and Brier score over runs only; ``std`` is over runs.
    """
    _known(protocols)
    history = validate_history(history)
    rows = []
    for protocol in protocols:
        selected = _select(history, protocol)
        labels = selected.groupby(_row_keys(selected))["setting"].agg(_label)
        runs = per_run(selected)
        for key, group in runs.groupby(_row_keys(runs), sort=True):
            named = dict(zip(_row_keys(runs), key, strict=True)) | {"setting": labels[key]}
            n_folds = int(group["n_folds"].max())
            for metric in METRICS:
                values = group[f"test_{metric}"].to_numpy(dtype=float)
                n_test = int(group["n_test"].iloc[0]) if metric == "accuracy" else None
                mean, low, high = interval(values, n_test)
                std = values.std(ddof=1) if len(values) > 1 else float("nan")
                row = {"metric": metric, "mean": mean, "low": low, "high": high, "std": std}
                row |= {"n_runs": len(values), "n_folds": n_folds}
                rows.append(named | row | {"iteration_mean": group["iteration"].mean()})
    columns = [*_SERIES, "protocol", "metric", "mean", "low", "high", "std"]
    columns += ["n_runs", "n_folds", "iteration_mean"]
    table = pd.DataFrame(rows, columns=columns)
    order = {name: i for i, name in enumerate((*PROTOCOLS, *METRICS))}
    return table.sort_values(
        [*_SERIES, "protocol", "metric"],
        key=lambda c: c.map(order) if c.name in ("protocol", "metric") else c,
    ).reset_index(drop=True)


def _known(protocols: Iterable[str]) -> None:
    unknown = [p for p in protocols if p not in PROTOCOLS]
    if unknown:
        raise ValueError(f"unknown protocol {unknown[0]!r}; there are {', '.join(PROTOCOLS)}")


def _with_validation(history: pd.DataFrame) -> pd.DataFrame:
    return history[history["validation_accuracy"].notna()]


def _in_common(history: pd.DataFrame) -> pd.DataFrame:
    method = ["dataset", "method"]
    wanted = history.groupby(method)["setting"].transform("nunique")
    kept = history[history.groupby([*method, "run", "fold"])["setting"].transform("nunique") == wanted]
    lost = history.merge(kept[method].drop_duplicates(), how="left", indicator=True).query("_merge != 'both'")
    if len(lost):
        raise ValueError(f"the settings of {_first(lost, method)} have no run and fold in common")
    return kept


def _row_keys(selected: pd.DataFrame) -> list[str]:
    """Return the keys of a reported row: under ``nested`` the setting is an outcome, not a key."""
    nested = bool(len(selected)) and selected["protocol"].iloc[0] == "nested"
    return ["protocol", "dataset", "method"] + ([] if nested else ["setting"])


def _label(settings: pd.Series) -> str:
    counts = sorted(settings.value_counts().items(), key=lambda item: (-item[1], item[0]))
    return counts[0][0] if len(counts) == 1 else ";".join(f"{name} ({count})" for name, count in counts)


def _first(history: pd.DataFrame, keys: list[str]) -> str:
    return ", ".join(f"{key} {history[key].iloc[0]}" for key in keys)
