"""Compile all loops ahead of the first fit, for containers and CI: ``python -m skem.warm_up``.

numba keeps the machine code in ``__pycache__`` beside the modules, in the user's cache folder if that cannot be written, or in
``NUMBA_CACHE_DIR``.
"""

from __future__ import annotations

import logging
import time
import warnings
from typing import Any

import numpy as np

from skem import (
    DiscriminativePSKEMClassifier,
    GaussianMixture,
    KMeans,
    MDAClassifier,
    SDGMClassifier,
    SKEMClassifier,
)

__all__ = ["warm_up"]


def warm_up() -> None:
    """Compile every loop that fits and predictions use, for both types of numbers.

    Compiled loops take no time.
    """
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that do not converge in two iterations
        for dtype in (np.float64, np.float32):
            X = (rng.normal(size=(120, 3)) + y[:, None]).astype(dtype)
            missing = np.where(rng.random(X.shape) < 0.1, np.nan, X).astype(dtype)
            for covariance_type in ("full", "diag", "spherical", "tied"):
                options: dict[str, Any] = {
                    "covariance_type": covariance_type,
                    "max_iter": 2,
                    "random_state": 0,
                }
                DiscriminativePSKEMClassifier(3, **options).fit(X, y).predict_proba(X)
                for samples in (X, missing):
                    shared = SKEMClassifier(4, init_params="sample", **options)
                    shared.fit(samples, y, y + 0.5).predict_proba(samples)
                    mixture = GaussianMixture(2, **options).fit(samples)
                    mixture.score_samples(samples)
                    mixture.predict(samples)
            MDAClassifier(3, max_iter=2, random_state=0).fit(X, y).predict_proba(X)
            KMeans(2, random_state=0).fit(X).transform(X)
            SDGMClassifier(random_state=0).fit(X, y).predict(X)


if __name__ == "__main__":
    logging.getLogger("skem").setLevel(logging.ERROR)
    begin = time.perf_counter()
    warm_up()
    print(f"skem: all loops are compiled ({time.perf_counter() - begin:.0f} s)")
