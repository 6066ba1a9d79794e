"""Scale of the features of a classifier: its own, or a quantile transform to a normal distribution in front of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import QuantileTransformer

from skem.engine.masked import with_nan
from skem.estimators._files import SavedMixin
from skem.estimators._options import nested
from skem.estimators._state import attributes_of, take, take_features

STANDARDIZE: dict[str, bool | str] = {"standard": True, "robust": "robust", "quantile": True}
"""The classifier's ``standardize`` for each ``scaling``."""


class ScaledClassifier(SavedMixin, Pipeline):
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

    def _state(self) -> dict[str, Any]:
        scaler = attributes_of(self[0], "quantiles_")
        return self[-1]._state() | {"_scaler": scaler}


class QuantilesToNormal(QuantileTransformer):
    """Quantile transform to a normal distribution that takes masked arrays."""

    def fit(self, X: Any, y: Any = None) -> QuantilesToNormal:
        return super().fit(with_nan(X))

    def transform(self, X: Any) -> np.ndarray:
        return super().transform(with_nan(X))


def with_saved_scaler(classifier: Any, state: dict[str, Any]) -> Any:
    """Remove the quantiles from the state that was saved with a classifier, and put them in front of it, if there are any."""
    if "_scaler" not in state:
        return classifier
    saved, m = state.pop("_scaler"), classifier.n_features_in_
    quantiles = take(saved, "quantiles_", (None, m))
    if (np.diff(quantiles, axis=0) < 0).any():
        raise ValueError("quantiles_ must not decrease")
    model = scaled_classifier(classifier, "quantile", len(quantiles))
    scaler = model[0]
    scaler.quantiles_, scaler.n_quantiles_ = quantiles, len(quantiles)
    scaler.references_ = np.linspace(0, 1, len(quantiles))
    if take_features(saved, scaler) != m:
        raise ValueError(f"n_features_in_ of the scaler must be {m}, got {scaler.n_features_in_}")
    for name in saved:
        raise ValueError(f"{name} is not an attribute of a fitted {type(scaler).__name__}")
    return model


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
