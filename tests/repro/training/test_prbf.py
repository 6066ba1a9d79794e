"""The average of several lambdas (Titsias and Likas 2001)."""

import numpy as np
from numpy.testing import assert_array_equal
from scipy.special import logsumexp
from sklearn.datasets import load_wine

from skem import PRBFClassifier
from skem.repro.papers.titsias2001.errors import predict_by_average


def test_average_of_densities():
    """Eq. 38."""
    X, y = load_wine(return_X_y=True)
    models = [PRBFClassifier(6, sharing=sharing, random_state=3).fit(X, y) for sharing in (0.0, 0.3, 1.0)]
    average = logsumexp([model.class_log_density(X) for model in models], axis=0) - np.log(3)
    predicted = predict_by_average(models, X)
    assert_array_equal(predicted, (average + np.log(models[0].priors_)).argmax(axis=1))
    assert np.mean(predicted == y) > 0.95
