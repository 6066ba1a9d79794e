"""GaussianMixturePath: criteria, results for any number of threads, and errors."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import blobs
from sklearn.datasets import load_iris

from skem import GaussianMixture, GaussianMixturePath

X, _ = load_iris(return_X_y=True)
TYPES = ["full", "tied", "diag", "spherical"]


@pytest.mark.parametrize("criterion", ["bic", "aic", "icl", "held_out"])
def test_clusters_are_counted(criterion):
    path = GaussianMixturePath(n_components=range(1, 6), covariance_types=["spherical"], criterion=criterion)
    best = path.set_params(random_state=0).fit(blobs(n=600, m=2, K=3, spread=8)).best_estimator_
    # The Akaike criterion and held-out samples may choose a few more.
    assert best.n_components == 3 or (criterion in ("aic", "held_out") and best.n_components >= 3)


def test_criteria_are_those_of_each_mixture():
    weights = np.random.default_rng(0).integers(1, 3, len(X))
    path = GaussianMixturePath(n_components=(2, 3), random_state=0).fit(X, sample_weight=weights)
    table = pd.DataFrame(path.cv_results_)
    assert table["covariance_type"].tolist() == [t for t in TYPES for _ in (2, 3)]
    best = path.best_estimator_
    row = table.query("covariance_type == @best.covariance_type and n_components == @best.n_components")
    repeated = np.repeat(X, weights, axis=0)
    for name in ("bic", "aic"):
        ask = getattr(best, name)
        assert_allclose([row[name].item(), ask(X, sample_weight=weights)], ask(repeated))
    z = best.predict_proba(repeated)
    assert_allclose(row["icl"], best.bic(repeated) - 2 * np.sum(z * np.log(np.fmax(z, 1e-300))))
    assert row["bic"].item() == table["bic"].min()
    assert table["held_out"].isna().all()
    # The order of samples decides no tie between standardised features.
    order = np.random.default_rng(0).permutation(150)
    path.set_params(estimator=GaussianMixture(standardize=True), n_components=(1, 2))
    assert_allclose(*(path.fit(some[:, :2]).cv_results_["objective"] for some in (X, X[order])), rtol=1e-9)


def test_held_out_samples_are_not_fitted():
    path = GaussianMixturePath(n_components=(1, 2), covariance_types=["full"], criterion="held_out")
    path.set_params(random_state=3).fit(X)
    test = np.zeros(150, dtype=bool)
    test[np.random.RandomState(3).permutation(150)[:30]] = True
    alone = GaussianMixture(1).fit(X[~test])
    assert_allclose(path.cv_results_["held_out"][0], alone.score(X[test]))
    best = path.best_estimator_
    assert best.n_components == 2
    assert best.init_params == "k-means++"
    assert_allclose(path.sample(3)[0], path.sample(3)[0])
    assert not np.allclose(*(path.set_params(random_state=None).sample(3)[0] for _ in range(2)))
    # The chosen mixture is fitted to all samples.
    assert_allclose(best.log_likelihood_[-1], best.score(X))


@pytest.mark.parametrize("criterion", ["bic", "held_out"])
def test_impossible_sizes_have_no_score(criterion):
    path = GaussianMixturePath(criterion=criterion, random_state=0).fit(X[:6])
    table = pd.DataFrame(path.cv_results_)
    fitted = table["n_components"] <= len(X[:6]) - (criterion == "held_out")
    assert len(table) == 24
    assert_array_equal(table["objective"].isna(), ~fitted)
    assert not table.loc[~fitted, ["converged", "admissible"]].to_numpy().any()
    assert np.isfinite(path.score(X))
