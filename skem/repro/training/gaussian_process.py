"""Gaussian process of the classifier comparison, on tables that it can be fitted to in seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

MOST_SAMPLES = 1000
"""Most training samples: the time of a fit grows with their cube."""

MOST_ITERATIONS = 20
"""Most iterations of L-BFGS-B for the two parameters of the kernel; three times as many change no log-loss on yeast."""


class GaussianProcess(GaussianProcessClassifier):
    """`GaussianProcessClassifier` with an RBF kernel whose variance and length scale maximise the marginal likelihood.

    The length scale starts at sqrt(M) for M standardised features: from 1, the default, samples of many features are so far apart
    that the likelihood has no gradient.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> GaussianProcess:
        """Fit one process per class, `X` of shape (n, M), `y` of shape (n,); of two classes one."""
        n_samples, n_features = np.shape(X)
        if n_samples > MOST_SAMPLES:
            raise ValueError(f"more than {MOST_SAMPLES} training samples, the most for a Gaussian process")
        self.kernel = ConstantKernel() * RBF(np.sqrt(n_features))
        self.optimizer, self.warm_start = _l_bfgs_b, True
        return super().fit(X, y)


def _l_bfgs_b(
    objective: Callable[[Any], Any], start: NDArray[np.float64], bounds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    found = minimize(
        objective, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": MOST_ITERATIONS}
    )
    return found.x, found.fun
