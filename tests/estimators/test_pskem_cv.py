"""Choice of components, covariance regularisation and feature blocks: paths and the choice."""

from itertools import groupby, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import overlapping_classes
from sklearn.datasets import load_iris, load_wine, make_hastie_10_2
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from skem import (
    PSKEMClassifier,
    PSKEMClassifierCV,
    SKEMClassifier,
)

WINE = load_wine(return_X_y=True)


def entries(model):
    return [
        dict(zip(model.results_, values, strict=True))
        for values in zip(*model.results_.values(), strict=True)
    ]


@pytest.mark.filterwarnings("ignore:PSKEMClassifier did not converge")
def test_first_model_of_a_path():
    X, y = WINE
    splits = list(StratifiedKFold(3).split(X, y))
    model = PSKEMClassifierCV(n_components=[6], n_blocks=[2], reg_covar=[0.3], cv=splits, random_state=4).fit(
        X, y
    )
    expected = []
    for train, test in splits:
        fit = PSKEMClassifier(6, n_blocks=2, reg_covar=0.3, max_iter=10, tol=1e-3, random_state=4)
        fit.fit(X[train], y[train])
        log_proba = fit.predict_log_proba(X[test])[np.arange(len(test)), y[test]]
        expected.append(log_proba.clip(min=np.log(np.finfo(float).eps)).mean())
    assert_allclose(model.results_["held_out"], [np.mean(expected)])
    assert model.best_score_ == model.results_["held_out"][0]
    assert model.best_params_ == {"n_blocks": 2, "n_components": 6, "reg_covar": 0.3}


@pytest.mark.parametrize("tol", [0.0, 1e-2])
def test_fits_end_with_an_iteration_of_little_gain(tol):
    options = {"n_components": [6], "n_blocks": [2], "reg_covar": [0.3], "max_iter": 100, "cv": 2}
    search = PSKEMClassifierCV(PSKEMClassifier(tol=tol, random_state=0), **options).fit(*WINE)
    gains = np.diff(search.best_estimator_.objective_)
    assert gains[-1] < max(tol, 1e-3) <= gains[:-1].min()


@pytest.fixture(scope="module")
def chosen():
    return PSKEMClassifierCV(random_state=0, cv=2).fit(*overlapping_classes(3, n=(80, 80, 80)))


def test_paths_and_choice(chosen):
    table = entries(chosen)
    best = max(table, key=lambda entry: entry["held_out"])
    assert chosen.best_score_ == best["held_out"]
    assert chosen.best_params_ == {name: best[name] for name in ("n_blocks", "n_components", "reg_covar")}
    fitted = chosen.best_estimator_
    assert (fitted.n_blocks_, fitted.n_components_, fitted.reg_covar) == tuple(chosen.best_params_.values())
    assert (fitted.init, fitted.tol, fitted.n_jobs) == ("class", 0.0, None)
    for _, path in groupby(table, key=lambda entry: entry["n_blocks"]):
        levels = [list(level) for _, level in groupby(path, key=lambda entry: entry["n_components"])]
        tops = [max(entry["held_out"] for entry in level) for level in levels]
        gains = [top > max(tops[:k], default=-np.inf) for k, top in enumerate(tops)]
        assert all(gains[:-1])
        # The last one, if it did not gain, was tried from a split and from the estimator's own start.
        assert gains[-1] or [entry["reg_covar"] for entry in levels[-1]] == [levels[-1][0]["reg_covar"]] * 2
        assert [level[0]["n_components"] for level in levels] == [3 * 2**k for k in range(len(levels))]
        for level, after in pairwise(levels):
            assert after[0]["reg_covar"] == max(level, key=lambda entry: entry["held_out"])["reg_covar"]


def test_results_are_deterministic(chosen):
    X, y = overlapping_classes(3, n=(80, 80, 80))
    again = PSKEMClassifierCV(random_state=0, cv=2, n_jobs=2).fit(X, y)
    assert again.results_ == chosen.results_
    assert_array_equal(again.predict_log_proba(X), chosen.predict_log_proba(X))
    by_estimator = PSKEMClassifierCV(PSKEMClassifier(random_state=0), cv=2).fit(X, y)
    assert by_estimator.results_ == chosen.results_


def test_choice_of_blocks():
    X, y = make_hastie_10_2(800, random_state=0)
    assert (
        PSKEMClassifierCV(n_components=[2, 4], cv=2, random_state=0).fit(X, y).best_params_["n_blocks"] == 4
    )
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    a = rng.normal(size=600)
    X = np.stack([a, rng.normal(size=600), np.where(y, a, -a) + 0.3 * rng.normal(size=600)], axis=1)
    model = PSKEMClassifierCV(n_components=[2, 4], n_blocks=(3, 1), cv=2, random_state=0).fit(X, y)
    assert model.best_params_["n_blocks"] == 1
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize(
    ("estimator", "n_blocks"),
    [
        (SKEMClassifier(covariance_type="diag"), [1]),
        (PSKEMClassifier(arrangement=[[0, 1], [1, 2, 3]]), [1]),
        (PSKEMClassifier(arrangement="random", block_size=3), [1, 2]),
    ],
    ids=str,
)
def test_other_estimators(estimator, n_blocks):
    X, y = load_iris(return_X_y=True)
    model = PSKEMClassifierCV(estimator, n_components=[3, 7], n_blocks=(1, 2), cv=2, random_state=0).fit(X, y)
    assert set(model.results_["n_blocks"]) <= set(n_blocks)
    assert type(model.best_estimator_) is type(estimator)
    assert model.score(X, y) > 0.85


def test_impossible_candidates_have_no_score():
    X, y = load_iris(return_X_y=True)
    options = {"n_blocks": [1], "reg_covar": [0.1], "max_iter": 3, "cv": 2, "random_state": 0}
    model = PSKEMClassifierCV(n_components=[2, 3], **options).fit(X, y)
    assert_array_equal(np.isnan(model.results_["held_out"]), [True, False])
    assert model.best_params_["n_components"] == 3


def test_weights_count_in_fits_and_scores():
    X, y = WINE
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    split = [next(StratifiedShuffleSplit(1, test_size=0.3, random_state=0).split(X, y))]
    options = {"n_components": [3, 6], "n_blocks": [1], "reg_covar": [0.1, 0.3], "random_state": 0}
    weighted = PSKEMClassifierCV(cv=split, **options).fit(X, y, weights)
    repeated = np.repeat(np.arange(len(y)), weights)
    train, test = (np.flatnonzero(np.isin(repeated, part)) for part in split[0])
    copies = PSKEMClassifierCV(cv=[(train, test)], **options).fit(X[repeated], y[repeated])
    # The first models of both are the same; later ones too, but for rounding.
    assert_allclose(weighted.results_["held_out"], copies.results_["held_out"], rtol=1e-5)
