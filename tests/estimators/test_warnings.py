"""Warnings point to the line of the user's call, whatever calls skem, and in whichever thread."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skem import GaussianMixture, KMeans, SKEMClassifier

X, y = load_iris(return_X_y=True)
SHORT = {"max_iter": 2, "tol": 1e-9, "random_state": 0}
CALLS = {
    "mixture": lambda: GaussianMixture(2, **SHORT).fit(X),
    "classifier": lambda: SKEMClassifier(6, **SHORT).fit(X, y),
    "singular": lambda: GaussianMixture(1, reg_covar=0.0).fit(np.c_[X, X]),
    "k-means": lambda: KMeans(2, init=X[:2], n_init=3).fit(X),
    "fit_predict": lambda: GaussianMixture(2, **SHORT).fit_predict(X),
    "pipeline": lambda: make_pipeline(StandardScaler(), SKEMClassifier(6, **SHORT)).fit(X, y),
    "grid": lambda: GridSearchCV(SKEMClassifier(**SHORT), {"n_components": [6]}, cv=2).fit(X, y),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_warnings_point_to_the_call(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    assert {(each.filename, each.lineno) for each in caught} == {(__file__, call.__code__.co_firstlineno)}
