"""Synthetic histories of training."""

import numpy as np
import pandas as pd

from skem.repro.training.settings import COLUMNS, blocks_of


def described(name, **more):
    """`COLUMNS` of "3x12-K40", with or without a regularisation after it; nothing of a name such as "preset"."""
    columns = dict.fromkeys(COLUMNS) | more
    partition, _, rest = name.partition("-")
    if "x" not in partition:
        return columns
    n_blocks, block_size = blocks_of(partition)
    columns |= {"partition": partition, "n_blocks": n_blocks, "block_size": block_size}
    columns["n_features"] = n_blocks * block_size
    if rest.startswith("K"):
        columns["n_components"] = int(rest[1:].partition("-")[0])
    return columns


def entry(iteration, test, validation=None, **other):
    """One row of a history; log-loss, Brier score and calibration error follow from the accuracy unless given."""
    accuracy = np.nan if validation is None else validation
    row = {"dataset": "d", "method": "m", "setting": "a", "run": 0, "fold": 0, "iteration": iteration}
    row |= {"rows": "all" if validation is None else "part", "n_train": 90, "n_validation": 10, "n_test": 10}
    row |= {"validation_accuracy": accuracy, "validation_log_loss": 1 - accuracy, "validation_brier": 1.0}
    row |= {"test_accuracy": test, "test_log_loss": 2 - test, "test_brier": 1 - test, "test_ece": test / 10}
    return row | {"log_likelihood": -1.0, "objective": -1.0} | other


def of_runs(method, setting, by_run, dataset, validation=None, n_folds=1, **columns):
    """A history of one setting, from accuracies by run and iteration; each fold has a point less than the one before."""
    known = {"dataset": dataset, "method": method, "setting": setting, "n_test": 100}
    known |= described(setting) | columns
    return pd.DataFrame(
        row
        for run, accuracies in enumerate(by_run)
        for fold in range(n_folds)
        for row in curve(np.subtract(accuracies, 0.01 * fold), validation, run=run, fold=fold, **known)
    )


def curve(test, validation=None, **other):
    """The rows of all iterations of one fit."""
    validation = [None] * len(test) if validation is None else validation
    return [entry(p, a, v, **other) for p, (a, v) in enumerate(zip(test, validation, strict=True), start=1)]
