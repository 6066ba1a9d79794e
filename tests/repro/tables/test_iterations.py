"""Accuracy by EM iteration, against numbers worked out by hand."""

import numpy as np
import pandas as pd
from histories import curve

from skem.repro.tables import iterations


def test_curves_are_means_over_runs_with_folds_weighted():
    table = pd.DataFrame(
        row
        for run, lift in ((0, 0.0), (1, 0.1))
        for fold, (n, accuracies) in enumerate(((10, (0.5, 0.3)), (30, (0.8, 0.8))))
        for row in curve(np.add(accuracies, lift), run=run, fold=fold, n_test=n, n_validation=0)
    )
    curves = iterations.by_iteration(table)
    assert list(curves["curve"].unique()) == ["test, all training samples"]
    assert curves["iteration"].tolist() == [1, 2]
    # Run 0: (.5 * 10 + .8 * 30) / 40 = .725 and .675; run 1: .1 more.
    np.testing.assert_allclose(curves["accuracy"], [77.5, 72.5])
    np.testing.assert_allclose(curves[["low", "high"]], [[72.5, 82.5], [67.5, 77.5]])
