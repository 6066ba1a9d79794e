"""Scale of the features of a classifier: its own, or a quantile transform to a normal distribution in front of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import QuantileTransformer

from skem.engine.masked import with_nan
from skem.estimators._options import nested

STANDARDIZE: dict[str, bool | str] = {"standard": True, "robust": "robust", "quantile": True}
"""The classifier's ``standardize`` for each ``scaling``."""


class ScaledClassifier(Pipeline):
    """Transform of each feature and classifier. Densities are those of the transformed features."""

    @property
    def priors_(self) -> np.ndarray:
        return self[-1].priors_

    def class_log_density(self, X: Any) -> np.ndarray:
        return self[-1].class_log_density(self[:-1].transform(X))

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        return self[-1].predict_joint_log_proba(self[:-1].transform(X))

    def sample(self, *arguments: Any, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        X, y = self[-1].sample(*arguments, **options)
        return self[:-1].inverse_transform(X), y


class QuantilesToNormal(QuantileTransformer):
    """Quantile transform to a normal distribution that takes masked arrays."""

    def fit(self, X: Any, y: Any = None) -> QuantilesToNormal:
        return super().fit(with_nan(X))

    def transform(self, X: Any) -> np.ndarray:
        return super().transform(with_nan(X))


def quantiles_to_normal(n_samples: int) -> QuantilesToNormal:
    return QuantilesToNormal(n_quantiles=min(1000, n_samples), output_distribution="normal", random_state=0)


def of_classifier(params: dict[str, Any], options: dict[str, Any] | None = None) -> dict[str, Any]:
    """Parameters of the classifier for those of the search, which has ``scaling``; ``options`` are its other options."""
    kept = {name: value for name, value in params.items() if name != "scaling"}
    return nested(kept | {"standardize": STANDARDIZE[params["scaling"]]}, options)


def scaled_classifier(classifier: Any, scaling: str, n_samples: int) -> Any:
    if scaling != "quantile":
        return classifier
    return ScaledClassifier([("scaler", quantiles_to_normal(n_samples)), ("classifier", classifier)])
