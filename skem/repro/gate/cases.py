"""What the regression gate fits: experiments/regress.yaml, and plain mixtures."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from skem.engine.covariances import COVARIANCE_TYPES
from skem.estimators.gaussian_mixture import GaussianMixture
from skem.repro import protocols
from skem.repro.gate.comparison import Record
from skem.repro.training import passes, splits
from skem.repro.training.settings import Setting


def accuracies(
    dataset: str,
    settings: Sequence[Setting],
    spec: dict[str, Any],
    features: dict[str, splits.Arrays],
    root: int,
) -> Record:
    """Every protocol, and log-likelihood, objective and passes of the last one, per run.

    Parameters
    ----------
    dataset : str
    settings : sequence of Setting
    spec : dict
        The data set's entry under ``features`` in the configuration.
    features : dict
        From the names that ``splits.names`` gives to what ``splits.prepare`` makes of them.
    root : int
        Root seed.

    Returns
    -------
    Record
        Cases are "dataset/method/setting", under ``nested`` "dataset/method".
    """
    fits = [
        passes.fit_setting(setting.work(spec), features, setting.runs, root, keep=False).history
        for setting in settings
    ]
    table = pd.DataFrame([row for rows in fits for row in rows])
    record: Record = {}
    for protocol in protocols.PROTOCOLS:
        runs = protocols.per_run(protocols.select(table, protocol))
        keys = ["dataset", "method"] if protocol == "nested" else ["dataset", "method", "setting"]
        for key, group in runs.groupby(keys, sort=False):
            # With one setting, nested is validated.
            if protocol != "nested" or len(set(table.loc[table["method"] == key[1], "setting"])) > 1:
                record.setdefault("/".join(key), {})[protocol] = group["test_accuracy"].tolist()
    whole = table[table["rows"] == "all"]
    last = (
        whole.sort_values("pass").groupby(["dataset", "method", "setting", "run", "fold"], sort=False).tail(1)
    )
    for key, group in last.groupby(["dataset", "method", "setting"], sort=False):
        means = group.groupby("run")[["log_likelihood", "objective", "pass"]].mean()
        means = means.rename(columns={"pass": "passes"})
        record["/".join(key)] |= {name: values.tolist() for name, values in means.items()}
    return record


def mixtures(dataset: str, X: NDArray[Any], n_components: int, runs: int, root: int) -> Record:
    """Log-likelihood and passes of plain mixtures of every type of covariance, ended by their tolerance."""
    record: Record = {}
    for covariance_type in COVARIANCE_TYPES:
        fits = [
            GaussianMixture(
                n_components,
                covariance_type=covariance_type,
                init="sample",
                reg_covar=1e-3,
                max_iter=50,
                random_state=splits.seed(root, dataset, run, "mixture"),
            )
            for run in range(runs)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = [fit.fit(X) for fit in fits]
        record[f"{dataset}/mixture/{covariance_type}"] = {
            "log_likelihood": [float(fit.log_likelihood_[-1]) for fit in fitted],
            "passes": [float(fit.n_iter_) for fit in fitted],
        }
    return record
