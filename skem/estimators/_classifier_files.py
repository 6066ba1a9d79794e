"""Files of fitted shared-kernel classifiers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from skem.engine.given_start import checked_mixture
from skem.engine.parameters import Mixture
from skem.estimators._densities import Densities
from skem.estimators._saving import Saving
from skem.estimators._units import check_units


class ClassifierFiles(Saving, Densities):
    """What a fitted shared-kernel classifier consists of. A subclass with more fitted attributes adds them to ``_saved``."""

    _saved: ClassVar[tuple[str, ...]] = (
        *Saving._saved,
        *("classes_", "class_prior_", "n_components_", "groups_", "n_blocks_", "block_indices_", "blocks_"),
        *("log_likelihood_", "objective_", "n_iter_", "best_iter_", "converged_", "dtype_used_"),
        *("validation_scores_", "best_validation_score_", "_shift", "_scale", "_mean_variance"),
        *("_fitted_type", "_fitted_with", "_reserved"),
    )
    _records = (Mixture,)

    def _refuse_impossible(self) -> None:
        check_units(self._shift, self._scale, (self.n_features_in_,))
        n_classes = len(self.classes_)
        if n_classes < 2 or len(np.unique(self.classes_)) < n_classes:
            raise ValueError("classes_ must be two or more distinct labels")
        prior = self.class_prior_
        if prior.shape != (n_classes,) or not (prior >= 0).all() or not np.isclose(prior.sum(), 1.0):
            raise ValueError(f"class_prior_ must be {n_classes} non-negative numbers that sum to one")
        for r, (columns, mixture) in enumerate(zip(self.block_indices_, self.blocks_, strict=True)):
            if columns.dtype.kind not in "iu" or not ((columns >= 0) & (columns < self.n_features_in_)).all():
                raise ValueError(f"block {r} must have features from 0 to {self.n_features_in_ - 1}")
            arrays = mixture.weights, mixture.means, mixture.covariances
            sizes = len(mixture.means), len(columns), n_classes
            checked_mixture(arrays, sizes, self._covariance_type, f"{{}} of block {r}")
