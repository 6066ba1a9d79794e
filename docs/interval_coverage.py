"""Coverage of two intervals of accuracy under repeated cross-validation, which docs/reproduce/protocols.md quotes.

For each design, naive Bayes is cross-validated on many data sets from one population. The table has the share of data sets whose 95%
interval contains the expected accuracy of models trained on as many samples. Run it with ``python docs/interval_coverage.py``.
"""

import numpy as np
import sklearn
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from skem.repro.protocols import interval

N_DATA_SETS, N_RUNS, N_TEST = 200, 5, 20_000
DESIGNS = [(200, 5, 2), (200, 10, 5), (500, 5, 2), (500, 10, 5), (1000, 5, 2)]
"""Samples, folds and classes."""


def draw(rng, n_samples, n_classes):
    """Draw classes in turn, with overlapping Gaussians of four features."""
    y = np.arange(n_samples) % n_classes
    means = np.random.default_rng(0).normal(size=(n_classes, 4))
    return means[y] + rng.normal(size=(n_samples, 4)), y


def coverage(n_samples, n_folds, n_classes, rng):
    """Return the shares of both intervals that contain the expected accuracy."""
    X_test, y_test = draw(rng, N_TEST, n_classes)
    by_data_set, expected = np.zeros((N_DATA_SETS, N_RUNS)), []
    for runs in by_data_set:
        X, y = draw(rng, n_samples, n_classes)
        for run in range(N_RUNS):
            for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=run).split(X, y):
                model = GaussianNB().fit(X[train], y[train])
                runs[run] += (model.predict(X[test]) == y[test]).sum() / n_samples
        expected.append((model.predict(X_test) == y_test).mean())
    intervals = ([interval(runs, n_test)[1:] for runs in by_data_set] for n_test in (n_samples, None))
    return [np.mean([low <= np.mean(expected) <= high for low, high in found]) for found in intervals]


if __name__ == "__main__":
    print("samples  folds  classes  runs and test samples  runs alone")
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        for i, design in enumerate(DESIGNS):
            both, runs_alone = coverage(*design, np.random.default_rng(i))
            print("{:7} {:6} {:8} {:22.0%} {:11.0%}".format(*design, both, runs_alone))
