"""Tables of the studies of Pulford (2022): accuracy by partition, components, initialisation, folds and more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.ledger.stated_claims import claim
from skem.repro.names import NAMES, method_title
from skem.repro.papers.pulford2022.settings import Settings
from skem.repro.papers.pulford2022.values import PROTOCOLS
from skem.repro.protocols import LABELS, interval, per_run, select
from skem.repro.render.format import number

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
    return 100 * per_run(select(history, protocol)).set_index("run")["test_accuracy"]


def _configurations(
    history: pd.DataFrame, methods: Sequence[str], *keys: str
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    named = ["dataset", "method", *keys]
    for key, part in history[history["method"].isin(methods)].groupby(named, sort=False):
        yield dict(zip(named, key, strict=True)), part


def curves(
    history: pd.DataFrame, methods: Sequence[str], protocols: Sequence[str] = PROTOCOLS
) -> pd.DataFrame:
    """Return the accuracy (%) of each configuration of some methods under some protocols, with its spread over runs, and the shared proportion."""
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


def audit(history: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy of some methods under every protocol, for all folds, scalings and covariance regularisations.

    ``nested`` selects scaling, regularisation and iteration together, so it has a row per kind of folds.
    """
    rows = []
    for key, part in _configurations(history, methods, "setting"):
        del key["setting"]
        key |= part.iloc[0][["folds", "scale", "reg_covar"]].to_dict()
        rows += [
            key | {"protocol": protocol} | spread(_accuracy(part, protocol))
            for protocol in LABELS
            if protocol != "nested"
        ]
    for key, part in _configurations(history, methods, "folds"):
        rows.append(key | {"protocol": "nested"} | spread(_accuracy(part, "nested")))
    return pd.DataFrame(rows)


NEAR = 0.5
"""Points from the paper's accuracy up to which a cell of the audit is bold."""


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(
        data=[NAMES.get(name, name) for name in table["dataset"]],
        model=[method_title(name) for name in table["method"]],
        label=table["protocol"].map(LABELS),
    )


def audit_cells(table: pd.DataFrame, claimed: Mapping[str, float], paper: Settings) -> pd.DataFrame:
    """Return the cells of the audit; a nested accuracy stands beside all others of its folds."""
    keys = ["dataset", "method", "folds"]
    lines = table[table["protocol"] != "nested"]
    nested = table[table["protocol"] == "nested"].drop(columns=["scale", "reg_covar"])
    beside = lines[[*keys, "scale", "reg_covar"]].drop_duplicates().merge(nested, on=keys)
    found = _shown(pd.concat([lines, beside], ignore_index=True))
    names = {f"audit-{name}": title for name, title in NAMES.items()}
    models = {
        dataset: f"{m.method.upper()} {m.partition}, K = {m.n_components}"
        for dataset, m in paper.headlines.items()
    }
    return found.assign(
        model=found["method"].map(names).fillna(found["dataset"].map(models)),
        printed=found["dataset"].map(claimed),
        reg_covar=[number(value, "g", missing="") for value in found["reg_covar"]],
        bold=np.where((found["accuracy"] - found["dataset"].map(claimed)).abs() <= NEAR, "**", ""),
    )


def curve_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies by partition and number of components, and where they are highest."""
    size = [f"K = {k:.0f}" if k == k else "accuracy" for k in table["n_components"]]
    found = _shown(table).assign(size=size, highest="")
    for key, part in found.groupby(["dataset", "method", "protocol"], sort=False):
        if len(part) > 1 and key[2] == "test_selected_iteration":
            best = part.loc[part["accuracy"].idxmax()]
            where = f"{best['partition']}, {best['size']}".removesuffix(", accuracy")
            found.loc[part.index, "highest"] = (
                f"; highest: {where}, {best['accuracy']:.2f} at iteration {best['peak_iteration']:.0f} on average"
            )
    return found


def study(
    name: str, experiment: Mapping[str, Any], history: pd.DataFrame, claims: pd.DataFrame, paper: Settings
) -> dict[str, Any]:
    """Return the table of an experiment from histories, and what ``config/tables/pulford2022.yaml`` lays out."""
    data_sets = experiment["data_sets"]
    if not len(history):
        table = cells = history
    elif name == paper.audit:
        table = audit(history, [method for entry in data_sets.values() for method in entry["methods"]])
        printed = {dataset: claim(claims, paper.headlines[dataset].accuracy) for dataset in data_sets}
        cells = audit_cells(table, printed, paper)
    else:
        parts = [
            curves(history[history["dataset"] == dataset], list(entry["methods"]))
            for dataset, entry in data_sets.items()
        ]
        table = pd.concat(parts, ignore_index=True)
        cells = curve_cells(table)
    return {"csv": table, "names": {"title": experiment["title"], "near": NEAR}, "cells": cells}
