"""Log-odds of classes: the decisions and the order of the probabilities, without ties."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_expit, softmax
from sklearn.base import clone
from sklearn.datasets import load_iris

import skem

X, y = load_iris(return_X_y=True)
QUICK = {"max_iter": 3, "tol": 0, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:.*did not converge")


@pytest.mark.parametrize(
    "model",
    [
        skem.PSKEMClassifier(6, n_blocks=2, **QUICK),
        skem.DiscriminativePSKEMClassifier(6, discriminative_iter=2, **QUICK),
        skem.SDGMClassifier(1, max_iter=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_two_classes_have_the_log_odds_of_the_second(model):
    few = y > 0
    model.fit(X[few][::2], np.array(["no", "no", "yes"])[y][few][::2])
    decision = model.decision_function(X)
    assert decision.shape == (150,)
    assert_array_equal(model.classes_[(decision > 0).astype(int)], model.predict(X))
    modest = np.abs(decision) < 30
    assert modest.any()
    assert_allclose(log_expit(decision[modest]), model.predict_log_proba(X)[modest, 1], rtol=1e-9, atol=1e-14)


ROBUST = {"priors": [0.8, 0.15, 0.05], "standardize": "robust"} | QUICK
DISCRIMINATIVE = skem.DiscriminativePSKEMClassifier(6, discriminative_iter=2, **ROBUST)
SEARCH = {"n_components": 3, "n_blocks": 1, "reg_covar": 0.1, "cv": 2}
PRBF = skem.PRBFClassifier(6, **ROBUST)


@pytest.mark.parametrize(
    "model",
    [
        *(kind(6, **ROBUST) for kind in (skem.SKEMClassifier, skem.PSKEMClassifier, skem.MDAClassifier)),
        DISCRIMINATIVE,
        clone(DISCRIMINATIVE).set_params(options={"background": 0.3}, n_blocks=2),
        clone(DISCRIMINATIVE).set_params(temperature=5.0),
        *(
            skem.DiscriminativePSKEMClassifierCV(
                DISCRIMINATIVE, scaling=scaling, training_temperature=2.0, max_doublings=0, **SEARCH
            )
            for scaling in ("robust", "standard", "quantile")
        ),
        PRBF,
        skem.SDGMClassifier(1, max_iter=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_public_methods_agree_on_classes_and_probabilities(model):
    """Also of samples beyond the limits, with a background, and with another prior than the shares of the classes."""
    model.fit(X, y)
    noise = np.random.default_rng(0).normal(size=X.shape)
    noisy = np.concatenate([X + scale * noise for scale in (0, 0.3, 1, 3, 30)])
    predicted, proba = model.predict(noisy), model.predict_proba(noisy)
    for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba", "decision_function"):
        if hasattr(model, method):
            values = getattr(model, method)(noisy)
            assert_array_equal(model.classes_[values.argmax(axis=1)], predicted)
            if "proba" in method:
                assert_allclose(
                    values if method == "predict_proba" else softmax(values, axis=1), proba, atol=1e-9
                )
