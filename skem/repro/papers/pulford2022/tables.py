"""Tables of the studies of Pulford (2022): accuracy by partition, components, initialisation, folds and more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skem.metrics import operation_count
from skem.repro.ledger.stated_claims import claim
from skem.repro.names import NAMES, method_title
from skem.repro.papers.pulford2022.settings import Settings
from skem.repro.protocols import LABELS, interval, per_run, select
from skem.repro.render import format as render

PROTOCOLS = ("test_selected_iteration", "final_iteration", "validation_selected_iteration")
GRID = ("partition", "n_blocks", "block_size", "n_components")
"""Columns of a table that describe a configuration."""


def point_of(setting: pd.DataFrame) -> dict[str, Any]:
    """Return `GRID` of the rows of a configuration, without missing values."""
    # Beside models without components, a column of counts has been read as real numbers.
    return {
        str(key): int(value) if isinstance(value, float) else value
        for key, value in setting.iloc[0][list(GRID)].dropna().items()
    }


def spread(values: pd.Series) -> dict[str, float]:
    """Return the mean, the standard deviation over runs, and the 95% interval of the mean."""
    mean, low, high = interval(values)
    return {
        "accuracy": mean,
        "sd": float(values.std(ddof=1)),
        "low": low,
        "high": high,
        "n_runs": len(values),
    }


def _accuracy(history: pd.DataFrame, protocol: str) -> pd.Series:
    """Return the test accuracy under a protocol in percent, by run."""
    return 100 * per_run(select(history, protocol)).set_index("run")["test_accuracy"]


def _configurations(
    history: pd.DataFrame, methods: Sequence[str], *keys: str
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield data set, method and further keys of each group of rows, and the rows."""
    named = ["dataset", "method", *keys]
    for key, part in history[history["method"].isin(methods)].groupby(named, sort=False):
        yield dict(zip(named, key, strict=True)), part


def curves(
    history: pd.DataFrame, methods: Sequence[str], protocols: Sequence[str] = PROTOCOLS
) -> pd.DataFrame:
    """Return the accuracy of each configuration of some methods under some protocols.

    Returns
    -------
    DataFrame
        dataset, method, `GRID`, protocol, accuracy (%), sd over runs, low and high (95% of the mean over runs), n_runs,
        peak_iteration (mean iteration), shared_proportion and shared_sd (after the final iteration, mean and standard deviation
        over runs).
    """
    rows = []
    for key, part in _configurations(history, methods, "setting"):
        del key["setting"]
        last = part[part["iteration"] == part["iteration"].max()]
        shared = last.assign(shared_proportion=last.get("shared_proportion", np.nan))
        by_run = shared.groupby("run")["shared_proportion"].mean()
        for protocol in protocols:
            chosen = select(part, protocol)
            if len(chosen):
                runs = per_run(chosen)
                rows.append(
                    key
                    | point_of(part)
                    | {"protocol": protocol}
                    | spread(100 * runs["test_accuracy"])
                    | {"peak_iteration": runs["iteration"].mean()}
                    | {"shared_proportion": by_run.mean(), "shared_sd": by_run.std(ddof=1)}
                )
    return pd.DataFrame(rows)


def costs(timed: pd.DataFrame, n_train: int, iterations: Mapping[str, int]) -> pd.DataFrame:
    """Return counted operations and measured seconds of each configuration.

    Parameters
    ----------
    timed : DataFrame
        Seconds of single iterations, with their setting and `GRID`.
    n_train : int
        Number of training samples.
    iterations : mapping of str to int
        Number of iterations by partition.

    Returns
    -------
    DataFrame
        `GRID`, operations (Pulford 2022, section 2.2) of a fit, seconds_per_iteration (median), seconds of a fit.
    """
    rows = []
    for _, own in timed.groupby("setting", sort=False):
        point = point_of(own)
        n_iter, sizes = iterations[point["partition"]], [point["block_size"]] * point["n_blocks"]
        operations = float(operation_count(n_iter, point["n_components"], n_train, sizes))
        seconds = float(own["seconds"].median())
        rows.append(
            point | {"operations": operations, "seconds_per_iteration": seconds, "seconds": n_iter * seconds}
        )
    return pd.DataFrame(rows)


def audit(history: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy of some methods under every protocol, for all folds, scalings and covariance regularisations.

    ``nested`` selects scaling, regularisation and iteration together, so it has a row per kind of folds.

    Returns
    -------
    DataFrame
        dataset, method, folds, scale, reg_covar, protocol, accuracy (%), sd, low, high, n_runs.
    """
    rows = []
    for key, part in _configurations(history, methods, "setting"):
        del key["setting"]
        key |= part.iloc[0][["folds", "scale", "reg_covar"]].to_dict()
        rows += [
            key | {"protocol": protocol} | spread(_accuracy(part, protocol))
            for protocol in (
                "test_selected_iteration",
                "test_selected_fold",
                "final_iteration",
                "validation_selected_iteration",
            )
        ]
    for key, part in _configurations(history, methods, "folds"):
        rows.append(key | {"protocol": "nested"} | spread(_accuracy(part, "nested")))
    return pd.DataFrame(rows)


def _cell(row: Mapping[str, Any], printed: float = np.inf) -> str:
    """Format mean and standard deviation; bold near the printed number."""
    text = render.spread(row["accuracy"], row["sd"], 1)
    return f"**{text}**" if abs(row["accuracy"] - printed) <= NEAR else text


NEAR = 0.5
"""Points from the paper's accuracy up to which a cell of the audit is bold."""

AUDIT_NOTE = f"""\
Accuracy in %, mean and standard deviation over runs; **bold**: within {NEAR} of the paper's number. *Test-selected
iteration*: best on each test fold, as the paper reports rice. *Test-selected fold*: also the best of the folds. *Final
iteration*: nothing selected. *Validation-selected iteration*: best on held-out training samples. *Nested*: scaling,
covariance regularisation and iteration selected there (one number for all rows with the same folds). Baselines have points
of a grid of hyperparameters instead of iterations; their *final iteration* is the toolbox's preset. *Contiguous* folds take
samples in the order of the file, which for rice is sorted by class."""


def audit_markdown(table: pd.DataFrame, claimed: Mapping[str, float], paper: Settings) -> str:
    """Format the audit: a table per data set, protocols side by side."""
    text: list[str | pd.DataFrame] = [AUDIT_NOTE]
    keys = {"folds": "folds", "scale": "scaling", "reg_covar": "covariance regularisation"}
    for dataset, own in table.groupby("dataset", sort=False):
        model, printed = paper.headlines[str(dataset)], claimed[str(dataset)]
        names = {"audit": f"{model.method.upper()} {model.partition}, K = {model.n_components}"}
        names |= {f"audit-{name}": NAMES[name] for name in paper.audited}
        own = own.assign(cell=[_cell(row, printed) for row in own.to_dict("records")])
        nested = own[own["protocol"] == "nested"].set_index(["method", "folds"])["cell"]
        lines = []
        rest = own[own["protocol"] != "nested"]
        for key, part in rest.groupby(["method", *keys], sort=False, dropna=False):
            method, folds, scale, regularisation = key
            number = "" if np.isnan(regularisation) else f"{regularisation:g}"
            line = dict(zip(["method", *keys.values()], [names[method], folds, scale, number], strict=True))
            line |= {LABELS[row.protocol]: row.cell for row in part.itertuples()}
            lines.append(line | {"nested": nested[method, folds]})
        heading = f"## {NAMES.get(str(dataset), dataset)}: the paper prints {printed:.1f}%"
        text += [heading, pd.DataFrame(lines)]
    return render.document("Accuracies by protocol", *text)


def curves_markdown(title: str, table: pd.DataFrame) -> str:
    """Format accuracies by partition (rows) and number of components (columns): a table per data set, method and protocol."""
    text: list[str | pd.DataFrame] = ["Accuracy in %, mean over runs ± standard deviation over runs."]
    for (dataset, method, protocol), part in table.groupby(["dataset", "method", "protocol"], sort=False):
        # Models without components have one column.
        has_components = "n_components" in part and part["n_components"].notna().all()
        ks = part["n_components"].astype(int) if has_components else pd.Series(0, part.index)
        cells = part.assign(cell=[_cell(row) for row in part.to_dict("records")], K=ks)
        wide = cells.pivot_table(index="partition", columns="K", values="cell", aggfunc="first", sort=False)
        wide = wide.sort_index(axis=1).rename(columns=lambda k: f"K = {k}" if k else "accuracy")
        heading = (
            f"**{NAMES.get(str(dataset), dataset)}, {method_title(str(method))}, {LABELS[str(protocol)]}**"
        )
        if len(part) > 1 and protocol == "test_selected_iteration":
            best = cells.loc[cells["accuracy"].idxmax()]
            where = best["partition"] + (f", K = {best['K']}" if best["K"] else "")
            heading += f"; highest: {where}, {best['accuracy']:.2f} at iteration {best['peak_iteration']:.0f} on average"
        text += [heading, wide.reset_index()]
    return render.document(title, *text)


VARIANTS = {
    "sequential": "the paper's initialisation",
    "kmeans": "k-means initialisation",
    "em": "initialisation by ordinary EM",
    "whitened": "whitened features",
    "ica": "independent components (ICA)",
    "independent": "blocks made independent",
}

FUTURE_NOTE = """\
Accuracy in % on half-size MNIST, 36 features; in brackets the points gained over the paper's initialisation on the same
features in the same runs, with the 95% interval of the mean. *k-means* and *ordinary EM* do not use the classes.
*Whitened*: each principal component divided by its standard deviation, the control for *ICA*, whose components have unit
variance too. *Blocks made independent*: samples of one class exchange blocks, for training and testing alike, so that the
model's assumption holds; the gain is the cost of dependence between blocks."""


def future(history: pd.DataFrame) -> pd.DataFrame:
    """Compare the paper's suggestions for further research with its own model in the same runs.

    Returns
    -------
    DataFrame
        As `curves` under two protocols, and gain, gain_low, gain_high: points of accuracy over "sequential" in the same
        runs, with the 95% interval of the mean.
    """
    em = history[history["method"] == "em"]
    tried = history[history["setting"].isin(em["setting"]) & history["run"].isin(em["run"])]
    protocols = ("test_selected_iteration", "validation_selected_iteration")
    values = {
        (key["method"], key["setting"], protocol): accuracy
        for key, part in _configurations(tried, list(VARIANTS), "setting")
        for protocol in protocols
        if len(accuracy := _accuracy(part, protocol))
    }
    gains = []
    for (_, setting, protocol), own in values.items():
        found = spread(own - values.get(("sequential", setting, protocol), own * np.nan))
        gains.append({"gain": found["accuracy"], "gain_low": found["low"], "gain_high": found["high"]})
    return pd.concat([curves(tried, list(VARIANTS), protocols), pd.DataFrame(gains)], axis=1)


def future_markdown(table: pd.DataFrame) -> str:
    """Format the variants as rows, partitions and numbers of components as columns."""
    text: list[str | pd.DataFrame] = [FUTURE_NOTE]
    for protocol, own in table.groupby("protocol", sort=False):
        cells = own.assign(
            variant=own["method"].map(VARIANTS),
            cell=[
                f"{row.accuracy:.2f}"
                if row.method == "sequential" or np.isnan(row.gain)
                else f"{row.accuracy:.2f} ({row.gain:+.2f} [{row.gain_low:+.2f}, {row.gain_high:+.2f}])"
                for row in own.itertuples()
            ],
        )
        columns = ["block_size", "n_components", "partition"]
        wide = cells.pivot(index="variant", columns=columns, values="cell").sort_index(axis=1)
        wide = wide.reindex([name for name in VARIANTS.values() if name in wide.index]).fillna("")
        wide.columns = [f"{partition}, K = {k:.0f}" for _, k, partition in wide.columns]
        text += [f"**{LABELS[str(protocol)]}**", wide.reset_index()]
    return render.document("Proposals for further research", *text)


def study(
    name: str,
    experiment: Mapping[str, Any],
    history: pd.DataFrame,
    claims: pd.DataFrame,
    paper: Settings,
) -> tuple[pd.DataFrame, str]:
    """Return the table of an experiment, and its Markdown.

    Parameters
    ----------
    name : str
    experiment : mapping
    history : DataFrame
        Histories of its data sets.
    claims : DataFrame
        ``config/claims.csv``.
    paper : Settings
    """
    data_sets = experiment["data_sets"]
    if name == paper.audit:
        printed = {dataset: claim(claims, paper.headlines[dataset].accuracy) for dataset in data_sets}
        table = audit(history, [method for entry in data_sets.values() for method in entry["methods"]])
        return table, audit_markdown(table, printed, paper)
    if name == "future":
        table = future(history)
        return table, future_markdown(table)
    parts = [
        curves(history[history["dataset"] == dataset], list(entry["methods"]))
        for dataset, entry in data_sets.items()
    ]
    table = pd.concat(parts, ignore_index=True)
    return table, curves_markdown(experiment["title"], table)
