"""Choice of components, covariance regularisation and feature blocks for EM alone."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine, make_hastie_10_2
from sklearn.model_selection import StratifiedKFold

from skem import PSKEMClassifier
from skem.repro.training.pskem_search import PSKEMClassifierCV


def test_score_of_a_candidate():
    X, y = load_wine(return_X_y=True)
    splits = list(StratifiedKFold(3).split(X, y))
    model = PSKEMClassifierCV(n_components=[6], n_blocks=[2], reg_covar=[0.3], cv=splits, random_state=4)
    expected = []
    for train, test in splits:
        fit = PSKEMClassifier(6, n_blocks=2, reg_covar=0.3, max_iter=10, tol=1e-3, random_state=4)
        fit.fit(X[train], y[train])
        log_proba = fit.predict_log_proba(X[test])[np.arange(len(test)), y[test]]
        expected.append(log_proba.clip(min=np.log(np.finfo(float).eps)).mean())
    assert_allclose(model.fit(X, y).best_score_, np.mean(expected))
    assert model.best_params_ == {"n_blocks": 2, "n_components": 6, "reg_covar": 0.3}


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
