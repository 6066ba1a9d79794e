"""Tidy tables of what was tried: accuracy against partition, components, start, folds and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy

from skem.metrics import operation_count
from skem.repro.names import NAMES
from skem.repro.papers.pulford2022.settings import Settings
from skem.repro.protocols import per_run, select

PROTOCOLS = ("best-pass", "last-pass", "validated")


GRID = ("partition", "n_blocks", "block_size", "n_components")
"""What a table says of a setting."""


def point_of(setting: pd.DataFrame) -> dict[str, Any]:
    """`GRID` of the rows of a setting, without what it does not have."""
    point = {key: value for key, value in setting.iloc[0][list(GRID)].items() if pd.notna(value)}
    # Where other models have none, a column of counts has been read as real numbers.
    return {str(key): int(value) if isinstance(value, float) else value for key, value in point.items()}


def curves(
    history: pd.DataFrame, methods: Sequence[str], protocols: Sequence[str] = PROTOCOLS
) -> pd.DataFrame:
    """One row per setting of some methods and protocol.

    Returns
    -------
    DataFrame
        dataset, method, `GRID`, protocol, accuracy (%), sd over runs, low and
        high (95% of the mean over runs), n_runs, peak_pass (mean), shared_proportion and shared_sd
        (after the last pass, mean and standard deviation over runs).
    """
    own = history[history["method"].isin(methods)]
    rows = []
    for (dataset, method, _), part in own.groupby(["dataset", "method", "setting"], sort=False):
        last = part[part["pass"] == part["pass"].max()]
        shared = {"shared_proportion": float("nan"), "shared_sd": float("nan")}
        if "shared_proportion" in part:
            by_run = last.groupby("run")["shared_proportion"].mean()
            shared = {"shared_proportion": float(by_run.mean()), "shared_sd": float(by_run.std(ddof=1))}
        for protocol in protocols:
            chosen = select(part, protocol)
            if not len(chosen):
                continue
            runs = per_run(chosen)
            values = 100 * runs["test_accuracy"]
            row = {"dataset": dataset, "method": method} | point_of(part)
            row |= {"protocol": protocol} | spread(values)
            row |= {"peak_pass": runs["pass"].mean()} | shared
            rows.append(row)
    return pd.DataFrame(rows)


def spread(values: pd.Series) -> dict[str, float]:
    """Mean, standard deviation over runs, and the 95% interval of the mean."""
    n, mean = len(values), float(values.mean())
    sd = float(values.std(ddof=1)) if n > 1 else float("nan")
    half = float(scipy.stats.t.ppf(0.975, n - 1) * sd / np.sqrt(n)) if n > 1 else float("nan")
    return {"accuracy": mean, "sd": sd, "low": mean - half, "high": mean + half, "n_runs": n}


def costs(timed: pd.DataFrame, n_train: int, passes: Mapping[str, int]) -> pd.DataFrame:
    """Counted operations beside measured seconds, per setting.

    Parameters
    ----------
    timed : DataFrame
        Seconds of single passes, with their setting and `GRID`.
    n_train : int
        Training rows.
    passes : mapping of str to int
        Of a fit, by partition.

    Returns
    -------
    DataFrame
        `GRID`, operations (Pulford 2022, section 2.2) and seconds of a whole fit,
        seconds_per_pass (median).
    """
    rows = []
    for _, own in timed.groupby("setting", sort=False):
        row = point_of(own)
        n_passes = passes[row["partition"]]
        sizes = [row["block_size"]] * row["n_blocks"]
        row["operations"] = float(operation_count(n_passes, row["n_components"], n_train, sizes))
        seconds = float(own["seconds"].median())
        rows.append(row | {"seconds_per_pass": seconds, "seconds": n_passes * seconds})
    return pd.DataFrame(rows)


def audit(history: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Every way of reporting some methods, for every way of making folds, of scaling and of keeping covariances regular.

    ``nested`` chooses scaling, ridge and pass together on validation rows, and so has a row per kind of folds
    only.

    Returns
    -------
    DataFrame
        dataset, method, folds, scale, reg_covar, protocol, accuracy (%), sd, low, high, n_runs.
    """
    own = history[history["method"].isin(methods)]
    rows = []
    for (dataset, method, _), part in own.groupby(["dataset", "method", "setting"], sort=False):
        described = part.iloc[0][["folds", "scale", "reg_covar"]].to_dict()
        for protocol in ("best-pass", "best-fold", "last-pass", "validated"):
            values = 100 * per_run(select(part, protocol))["test_accuracy"]
            row = {"dataset": dataset, "method": method} | described | {"protocol": protocol}
            rows.append(row | spread(values))
    for (dataset, method, folds), part in own.groupby(["dataset", "method", "folds"], sort=False):
        values = 100 * per_run(select(part, "nested"))["test_accuracy"]
        row = {"dataset": dataset, "method": method, "folds": folds, "protocol": "nested"}
        rows.append(row | spread(values))
    return pd.DataFrame(rows)


def audit_markdown(table: pd.DataFrame, claimed: Mapping[str, float], paper: Settings) -> str:
    """The audit to be read: a table per data set, protocols side by side, the paper's value of each given."""
    text = ["# Which protocol gives the paper's accuracies?", AUDIT_NOTE]
    for dataset, own in table.groupby("dataset", sort=False):
        model = paper.headlines[str(dataset)]
        partition = f"{model.n_blocks}x{model.n_features // model.n_blocks}"
        names = {"audit": f"{model.method.upper()} {partition}, K = {model.n_components}"}
        names |= {f"audit-{name}": NAMES[name] for name in paper.audited}
        printed = claimed[str(dataset)]
        text.append(f"## {NAMES.get(str(dataset), dataset)}: the paper prints {printed:.1f}%")
        lines = []
        nested = own[own["protocol"] == "nested"].set_index(["method", "folds"])
        settings = own[own["protocol"] != "nested"].groupby(
            ["method", "folds", "scale", "reg_covar"], sort=False, dropna=False
        )
        for (method, folds, scale, ridge), part in settings:
            line = {"method": names[method], "folds": folds, "scaling": scale}
            line |= {"ridge": "" if np.isnan(ridge) else f"{ridge:g}"}
            line |= {row["protocol"]: _cell(row, printed) for row in part.to_dict("records")}
            line["nested"] = _cell(nested.loc[(method, folds)].to_dict(), printed)
            lines.append(line)
        text.append(pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True))
    return "\n\n".join(text) + "\n"


NEAR = 0.5
"""Points from the paper's accuracy up to which a cell of the audit is set in bold."""

AUDIT_NOTE = f"""\
Accuracy in %, mean and standard deviation over runs; **bold**: within {NEAR} of what the paper prints. *best-pass*: the
pass that is best on each test fold, as the paper says it did for rice. *best-fold*: the best of the folds too.
*last-pass*: no choice. *validated*: the pass chosen on held-out training rows. *nested*: scaling, ridge and pass chosen
there (one figure for all rows with the same folds). For the conventional methods the points of their grid of
hyper-parameters take the place of passes: *best-pass* is the point that is best on each test fold, *last-pass* the
toolbox's preset. *contiguous* folds take rows in the order of the file, which for rice is sorted by class."""


def _cell(row: Mapping[str, Any], printed: float = np.inf) -> str:
    """Mean and standard deviation; bold near what the paper prints."""
    text = f"{row['accuracy']:.1f}" + ("" if np.isnan(row["sd"]) else f" ± {row['sd']:.1f}")
    return f"**{text}**" if abs(row["accuracy"] - printed) <= NEAR else text


def curves_markdown(title: str, table: pd.DataFrame, note: str = "") -> str:
    """Accuracy by partition (rows) and number of components (columns), a table per data set, method and protocol."""
    text = [
        f"# {title}",
        "Accuracy in %, mean over runs ± standard deviation over runs." + (f" {note}" if note else ""),
    ]
    for (dataset, method), own in table.groupby(["dataset", "method"], sort=False):
        for protocol, part in own.groupby("protocol", sort=False):
            cells = part.assign(cell=[_cell(row) for row in part.to_dict("records")])
            cells["K"] = (
                cells["n_components"].astype(int)
                if "n_components" in cells and cells["n_components"].notna().all()
                else ""
            )
            wide = cells.pivot_table(
                index="partition", columns="K", values="cell", aggfunc="first", sort=False
            )
            wide = wide.reindex(columns=sorted(wide.columns, key=str if "" in wide.columns else int))
            wide.columns = [f"K = {k}" if k != "" else "accuracy" for k in wide.columns]
            heading = f"**{NAMES.get(str(dataset), dataset)}, {method}, {protocol}**"
            if len(part) > 1 and protocol == "best-pass":
                best = cells.loc[cells["accuracy"].idxmax()]
                where = best["partition"] + (f", K = {best['K']}" if best["K"] != "" else "")
                heading += (
                    f"; highest: {where}, {best['accuracy']:.2f} at pass {best['peak_pass']:.0f} on average"
                )
            text += [
                heading,
                wide.reset_index().to_markdown(index=False, disable_numparse=True),
            ]
    return "\n\n".join(text) + "\n"


VARIANTS = {
    "sequential": "the paper's start",
    "kmeans": "k-means start",
    "em": "ordinary EM as start",
    "whitened": "whitened features",
    "ica": "independent components (ICA)",
    "independent": "blocks made independent",
}


def future(history: pd.DataFrame) -> pd.DataFrame:
    """What the paper leaves for further research, against its own way in the same runs.

    Returns
    -------
    DataFrame
        As `curves` with best-pass and validated, and gain, gain_low, gain_high: points of accuracy over
        "sequential" in the same runs, with the 95% interval of the mean.
    """
    settings = history.loc[history["method"] == "em", "setting"].unique()
    tried = history[history["method"].isin(VARIANTS) & history["setting"].isin(settings)]
    tried = tried[tried["run"].isin(tried.loc[tried["method"] == "em", "run"])]
    table = curves(tried, list(VARIANTS), ("best-pass", "validated"))
    values = {
        (method, *(point_of(part)[key] for key in ("partition", "n_components")), protocol): 100
        * per_run(select(part, protocol)).set_index("run")["test_accuracy"]
        for (method, _), part in tried.groupby(["method", "setting"])
        for protocol in ("best-pass", "validated")
    }
    gains = []
    for row in table.to_dict("records"):
        key = row["partition"], row["n_components"], row["protocol"]
        own, base = values[row["method"], *key], values.get(("sequential", *key))
        found = spread(own - base if base is not None else own * np.nan)
        gains.append({"gain": found["accuracy"], "gain_low": found["low"], "gain_high": found["high"]})
    return pd.concat([table, pd.DataFrame(gains)], axis=1)


def future_markdown(table: pd.DataFrame) -> str:
    """The variants as rows, partitions and numbers of components as columns."""
    text = ["# Further research, tried", FUTURE_NOTE]
    for protocol, own in table.groupby("protocol", sort=False):
        lines: dict[str, dict[str, str]] = {name: {"variant": name} for name in VARIANTS.values()}
        for row in own.to_dict("records"):
            cell = f"{row['accuracy']:.2f}"
            if row["method"] != "sequential" and not np.isnan(row["gain"]):
                cell += f" ({row['gain']:+.2f} [{row['gain_low']:+.2f}, {row['gain_high']:+.2f}])"
            lines[VARIANTS[row["method"]]][f"{row['partition']}, K = {row['n_components']:.0f}"] = cell
        points = own[["block_size", "n_components", "partition"]].drop_duplicates()
        points = points.sort_values(["block_size", "n_components"])
        columns = ["variant", *(f"{p}, K = {k:.0f}" for _, k, p in points.itertuples(index=False))]
        shown = pd.DataFrame([line for line in lines.values() if len(line) > 1], columns=columns).fillna("")
        text += [f"**{protocol}**", shown.to_markdown(index=False, disable_numparse=True)]
    return "\n\n".join(text) + "\n"


FUTURE_NOTE = """\
Accuracy in % on half-size MNIST, 36 features; in brackets the points gained over the paper's start on the same features
in the same runs, with the 95% interval of the mean. *k-means* and *ordinary EM*: the start knows nothing of the classes.
*Whitened*: each principal component divided by its standard deviation, the control for *ICA*, whose components have unit
variance too. *Blocks made independent*: rows of one class exchange blocks, for training and testing alike, so that the
model's assumption holds; the gain is what the dependence between blocks costs."""
