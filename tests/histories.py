"""Synthetic histories of training."""

import numpy as np

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


def curve(test, validation=None, **other):
    """The rows of all iterations of one fit."""
    validation = [None] * len(test) if validation is None else validation
    return [entry(p, a, v, **other) for p, (a, v) in enumerate(zip(test, validation, strict=True), start=1)]
