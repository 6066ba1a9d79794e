"""Small fits of the estimators and options that no experiment of the regression test trains, on scikit-learn's digits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, log_loss

import skem
from skem import images
from skem.repro.gate.comparison import Record

RUNS = 5
"""Splits and seeds of each case."""


@dataclass(frozen=True)
class Digits:
    """Digits averaged over 2 x 2 pixels, in two halves: samples of shape (n_samples, 16) and their labels."""

    X_train: NDArray[np.float64]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]
    run: int

    @classmethod
    def split(cls, run: int) -> Digits:
        """Split the digits at random, by the number of the run."""
        X, y = load_digits(return_X_y=True)
        order = np.random.default_rng(run).permutation(len(y))
        X, y = X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)[order], y[order]
        half = len(y) // 2
        return cls(X[:half], y[:half], X[half:], y[half:], run)

    def with_missing(self) -> Digits:
        """The same samples without a tenth of their values."""
        rng = np.random.default_rng(self.run)
        X_train, X_test = (
            np.where(rng.random(X.shape) < 0.1, np.nan, X) for X in (self.X_train, self.X_test)
        )
        return Digits(X_train, self.y_train, X_test, self.y_test, self.run)


def _classified(model, data: Digits) -> dict[str, float]:
    """Accuracy and log-loss of a classifier on the test half."""
    model.fit(data.X_train, data.y_train)
    probabilities = model.predict_proba(data.X_test)
    return {
        "accuracy": float(accuracy_score(data.y_test, model.classes_[probabilities.argmax(axis=1)])),
        "log_loss": float(log_loss(data.y_test, probabilities, labels=model.classes_)),
    }


def _mixture(model, data: Digits) -> dict[str, float]:
    """Log-likelihood and iterations of a mixture."""
    model.fit(data.X_train)
    return {"log_likelihood": float(model.score(data.X_test)), "passes": float(model.n_iter_)}


def _discriminative(data: Digits, **options) -> dict[str, float]:
    model = skem.DiscriminativePSKEMClassifier(
        20, n_blocks=2, max_iter=5, discriminative_iter=5, random_state=data.run, **options
    )
    return _classified(model, data) | {"temperature": float(model.temperature_)}


def _sdgm(data: Digits, **options) -> dict[str, float]:
    """Two classes, 60 samples and four features: the sparse mixture takes seconds for more."""
    few = np.flatnonzero((data.y_train == 3) | (data.y_train == 8))[:60]
    many = np.flatnonzero((data.y_test == 3) | (data.y_test == 8))
    X_train, X_test = data.X_train[few][:, 4:8], data.X_test[many][:, 4:8]
    model = skem.SDGMClassifier(2, random_state=data.run, **options)
    return _classified(model, Digits(X_train, data.y_train[few], X_test, data.y_test[many], data.run))


def _k_means(data: Digits, **options) -> dict[str, float]:
    model = skem.KMeans(12, random_state=data.run, **options).fit(data.X_train)
    return {"inertia": float(model.inertia_), "passes": float(model.n_iter_)}


def _batches(data: Digits) -> dict[str, float]:
    model = skem.GaussianMixture(8, reg_covar=0.1, random_state=data.run)
    for X in np.array_split(data.X_train, 4):
        model.partial_fit(X)
    return {"log_likelihood": float(model.score(data.X_test))}


def _path(data: Digits) -> dict[str, float]:
    path = skem.GaussianMixturePath(
        skem.GaussianMixture(reg_covar=0.1, max_iter=20),
        n_components=[2, 4, 8],
        covariance_types=["full", "diag"],
        random_state=data.run,
    ).fit(data.X_train)
    return {
        "n_components": float(path.best_estimator_.n_components),
        "log_likelihood": float(path.best_estimator_.score(data.X_test)),
    }


def _rbf_network(data: Digits) -> dict[str, float]:
    model = skem.rbf_network(12, random_state=data.run).fit(data.X_train, data.y_train)
    return {"accuracy": float(model.score(data.X_test, data.y_test))}


def _features(data: Digits, recipe) -> dict[str, float]:
    """Mean of the absolute features that a recipe makes of small images."""
    pixels = load_digits().images[data.run :: RUNS].astype(np.float32)
    return {"features": float(np.abs(recipe.fit_transform(pixels)).mean())}


CASES: dict[str, Callable[[Digits], dict[str, float]]] = {
    "discriminative/ebw": lambda d: _discriminative(d),
    "discriminative/batches": lambda d: _discriminative(
        d, batch_size=100, feature_noise=0.1, smoothing=0.01, strength=0.03
    ),
    "discriminative/auto": lambda d: _discriminative(d, strength="auto", covariance_type="diag"),
    "sdgm/poly2": lambda d: _sdgm(d, max_iter=30),
    "sdgm/rbf": lambda d: _sdgm(d, kernel="rbf", max_iter=5, em_iter=5),
    "sdgm/primal": lambda d: _sdgm(d, form="primal", max_iter=30),
    "k-means/euclidean": lambda d: _k_means(d),
    "k-means/mahalanobis": lambda d: _k_means(d, metric="mahalanobis"),
    "missing/mixture": lambda d: _mixture(
        skem.GaussianMixture(5, reg_covar=0.1, max_iter=20, random_state=d.run), d.with_missing()
    ),
    "missing/skem": lambda d: _classified(
        skem.SKEMClassifier(20, max_iter=10, random_state=d.run), d.with_missing()
    ),
    "prbf": lambda d: _classified(skem.PRBFClassifier(20, max_iter=10, random_state=d.run), d),
    "prbf/ensemble": lambda d: _classified(
        skem.PRBFEnsemble(skem.PRBFClassifier(20, max_iter=10), random_state=d.run), d
    ),
    "prbf/search": lambda d: _classified(
        skem.PRBFClassifierCV(skem.PRBFClassifier(20, max_iter=10), cv=2, random_state=d.run), d
    ),
    "rbf network": _rbf_network,
    "pskem/search": lambda d: _classified(
        skem.PSKEMClassifierCV(n_components=[10, 20], n_blocks=[1, 2], cv=2, random_state=d.run), d
    ),
    "skem/early stopping": lambda d: _classified(
        skem.SKEMClassifier(20, early_stopping=True, random_state=d.run), d
    ),
    "skem/sharing": lambda d: _classified(
        skem.SKEMClassifier(20, sharing=0.3, max_iter=10, random_state=d.run), d
    ),
    "mixture/batches": _batches,
    "mixture/path": _path,
    "images/deskew": lambda d: _features(d, images.Deskew()),
    "images/standardised": lambda d: _features(d, images.ImageStandardizer()),
    "images/windows": lambda d: _features(d, images.WindowPCA(size=4, step=2, n_components=3)),
}


def measure(prefix: str = "") -> Record:
    """Fit every case whose name begins with ``prefix``.

    Returns
    -------
    Record
        Cases are "digits/estimator"; quantities have one value per run.
    """
    record: Record = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name, case in CASES.items():
            if name.startswith(prefix):
                fits = [case(Digits.split(run)) for run in range(RUNS)]
                record[f"digits/{name}"] = {quantity: [fit[quantity] for fit in fits] for quantity in fits[0]}
    return record
