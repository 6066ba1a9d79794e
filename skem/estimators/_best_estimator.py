"""Methods that a search answers with the model that it chose."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted


class BestEstimator:
    """Samples and files of ``best_estimator_``."""

    best_estimator_: Any

    def sample(self, n_samples: int = 1, *args: Any, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        """Draw samples from ``best_estimator_``, whose ``sample`` names the other arguments."""
        check_is_fitted(self)
        return self.best_estimator_.sample(n_samples, *args, **options)

    def save(self, path: str | PathLike) -> None:
        """Write ``best_estimator_`` to a file, which the ``load`` of its class reads. Results of the search are left out."""
        check_is_fitted(self)
        self.best_estimator_.save(path)
