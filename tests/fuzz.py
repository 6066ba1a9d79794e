"""Fits of all estimators to small, hostile data, and what no fit may do: `python tests/fuzz.py 50000` tries as many.

Further numbers are the first seed and the share of values that are missing.

A fit ends in one of two ways: a ValueError that names what is wrong with the input, or a model without NaN, with positive
definite covariances and an objective that did not fall by more than rounding. Nothing but a ConvergenceWarning is warned
of. What is tried follows from the seed alone.
"""

import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from unittest.mock import patch

import numpy as np
from reference_missing import holes
from sklearn.exceptions import ConvergenceWarning

import skem
from skem.engine import problem
from skem.engine.seeds import SEEDS

REFUSALS = (
    "spreads too little",
    "too far",
    "of one class only",
    "too little to learn from",
    "too few",
    "n_components=",
    "n_blocks=",
    "sample_weight is zero for all",
    "cannot be held out",
    "n_splits=",
    "least populated class",
    "a minimum of 2 is required",
    "no value at all",
    "Input X of",
    "samples with a weight",
    "divides by the standard deviation of each feature, and feature",
    "none of the 12 mixtures converged",
    "too large for their squares",
    "too large for float64 beside the features",
    "distinct samples",
)
ANNOUNCED = ("least populated class", "dropped all weights", "singular", "distinct training samples")


def draw_rows(rng):
    """Features (n, m), labels (n,) and sample weights (n,) or None."""
    n, m = int(rng.choice([2, 3, 5, 8, 13, 30, 60, 120])), int(rng.choice([1, 2, 3, 5, 8]))
    dtype, L = rng.choice([np.float32, np.float64]), int(rng.integers(2, 4))
    y = rng.permutation(np.arange(n) % min(L, n))
    clusters = rng.normal(size=(3, m))[rng.integers(0, 3, n)]
    shapes = {
        "normal": rng.normal(size=(n, m)),
        "heavy tails": rng.standard_t(1.0, (n, m)),
        "clusters": rng.normal(size=(n, m)) + 4 * clusters,
        "far clusters": 1e-3 * rng.normal(size=(n, m)) + 10.0 ** rng.integers(0, 6) * clusters,
        "few values": rng.integers(0, 3, (n, m)).astype(float),
        "line": rng.normal(size=(n, 1)) * rng.normal(size=m)
        + 10.0 ** rng.integers(-9, 0) * rng.normal(size=(n, m)),
    }
    X = shapes[str(rng.choice(list(shapes)))]
    if rng.random() < 0.2:  # duplicates
        X = X[rng.integers(0, max(1, n // 3), n)]
    if rng.random() < 0.2:
        X[:, rng.integers(m)] = rng.choice([0.0, 1.0, 1e6])
    if rng.random() < 0.2:
        X = X + 10.0 ** rng.integers(0, 7)
    least, most = (-70, 140) if dtype == np.float64 else (-30, 30)
    scale = rng.choice(["one", "common", "each"])
    if scale == "common":
        X = X * 10.0 ** rng.integers(least, most + 1)
    elif scale == "each":
        width = float(rng.choice([3, 10, most]))
        X = X * 10.0 ** rng.uniform(max(least, -width), width, m)
    with np.errstate(over="ignore"):
        X = X.astype(dtype)
    X[~np.isfinite(X)] = 0.0
    if rng.random() >= 0.4:
        return X, y, None
    sample_weight = 10.0 ** rng.uniform(*rng.choice([(0, 1), (-3, 3), (-12, 12), (-12, 12), (-300, 300)]), n)
    sample_weight[rng.random(n) < 0.1] = 0.0
    return X, y, sample_weight


def draw_options(rng, **values):
    """One of the values of each option."""
    return {name: allowed[rng.integers(len(allowed))] for name, allowed in values.items()}


def draw_model(rng, seed):
    starts = ["class", "class_kmeans", "sample", "kmeans", "k-means++"]
    common = draw_options(
        rng,
        n_components=range(1, 7),
        covariance_type=["full", "full", "tied", "diag", "spherical"],
        standardize=[True, False],
        reg_covar=[0.0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-3, 0.1],
        max_iter=[1, 3, 10, 30],
    ) | {"random_state": seed}
    classifier = common | {"init_params": starts[rng.integers(len(starts))]}
    if rng.random() < 0.1:
        classifier |= {"init_params": "uniform", "options": {"init_scale": 10.0 ** rng.integers(-3, 6)}}
    path = skem.GaussianMixture(standardize=common["standardize"], reg_covar=common["reg_covar"])
    # Estimator, fixed parameters, and values of others.
    kinds = {
        "mixture": (
            skem.GaussianMixture,
            common,
            {"init_params": starts[2:], "tol": [0.0, 1e-3], "prune": [True, False, False, False]},
        ),
        "skem": (skem.SKEMClassifier, classifier, {"early_stopping": [True, *[False] * 9]}),
        "pskem": (skem.PSKEMClassifier, classifier, {"n_blocks": [1, 2, 3]}),
        "discriminative": (
            skem.DiscriminativePSKEMClassifier,
            classifier | {"discriminative_iter": 3},
            {"n_blocks": [1, 2, 3], "batch_size": [None, 20]},
        ),
        "mda": (
            skem.MDAClassifier,
            {name: value for name, value in classifier.items() if name != "covariance_type"},
            {"n_blocks": [1, 2]},
        ),
        "prbf": (
            skem.PRBFClassifier,
            common,
            {"init_params": starts, "sharing": [0.0, 0.3, 1.0], "variance_floor": [0.0, 1e-9, 1e-3]},
        ),
        "k-means": (
            skem.KMeans,
            {"random_state": seed, "n_clusters": common["n_components"]},
            {"init": list(SEEDS), "n_init": [1, 2], "metric": ["euclidean", "mahalanobis"], "tol": [0, 1e-4]},
        ),
        "path": (
            skem.GaussianMixturePath,
            {"estimator": path, "n_components": (1, 2, 3), "random_state": seed},
            {"criterion": ["bic", "aic", "icl", "held_out"]},
        ),
        "sdgm": (
            skem.SDGMClassifier,
            {"random_state": seed},
            {"n_components": [1, 2, 3], "form": ["dual", "primal"], "standardize": [True, False]}
            | {"init": ["class_kmeans", "class"], "max_iter": [1, 10, 30], "em_iter": [5, 50]},
        ),
    }
    shares = [0.28, 0.22, 0.1, 0.1, 0.08, 0.1, 0.04, 0.04, 0.04]
    Estimator, fixed, choices = kinds[str(rng.choice(list(kinds), p=shares))]
    return Estimator(**fixed, **draw_options(rng, **choices))


def fitted_arrays(model):
    """Arrays of every mixture of a fitted estimator, its objective, and the worst condition of its covariances."""
    model = getattr(model, "best_estimator_", model)
    if isinstance(model, (skem.KMeans, skem.SDGMClassifier)):
        return [], np.zeros(1), 1.0
    blocks = getattr(model, "blocks_", [])
    arrays = [(b.weights, b.means, b.covariances) for b in blocks] or [
        (model.weights_, model.means_, model.covariances_)
    ]
    diagonal = getattr(model, "covariance_type", "tied") in ("diag", "spherical")
    worst = max(1.0 if diagonal and (P > 0).all() else condition(P) for _, _, P in arrays)
    # Only covariances up to this iteration are known.
    return arrays, np.asarray(model.objective_)[: getattr(model, "best_iter_", None)], worst


def condition(covariances):
    """The largest condition of the covariances in units of deviations; infinite where one has no Cholesky factor."""
    if covariances.ndim < 2 or covariances.shape[-1] != covariances.shape[-2] or (covariances <= 0).all():
        return np.inf
    deviations = np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1))
    try:
        L = np.linalg.cholesky(covariances / deviations[..., None, :] / deviations[..., None])
        return float(np.max(np.linalg.norm(np.linalg.inv(L), 2, axis=(-2, -1)) ** 2))
    except np.linalg.LinAlgError:
        return np.inf


def faults(seed, missing=0.0):
    """Faults of the fit of a seed. A share ``missing`` of the values is taken away before."""
    rng = np.random.default_rng(seed)
    X, y, sample_weight = draw_rows(rng)
    model = draw_model(rng, seed)
    if missing:
        X = holes(X, missing, seed)
    # Small data takes the way of all classes as one chunk; large data goes class by class.
    with patch.object(problem, "ONE_CHUNK", problem.ONE_CHUNK if rng.random() < 0.5 else 0):
        return faults_of_fit(model, X, y, sample_weight)


def faults_of_fit(model, X, y, sample_weight):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = faults_of_model(model.fit(X, y, sample_weight), X, sample_weight)
        except ValueError as error:  # LinAlgError is one, too
            return [] if any(refusal in str(error) for refusal in REFUSALS) else [f"ValueError: {error}"]
        except Exception as error:
            return [f"{type(error).__name__}: {error}"]
    for warning in caught:
        announced = any(part in str(warning.message) for part in ANNOUNCED)
        if not (issubclass(warning.category, ConvergenceWarning) or announced):
            found.append(f"{warning.category.__name__}: {warning.message}")
    return sorted(set(found))


def faults_of_model(model, X, sample_weight):
    arrays, objective, worst = fitted_arrays(model)
    results = [*(array for each in arrays for array in each), objective]
    results += [
        getattr(model, method)(X)
        for method in ("score_samples", "predict_proba", "predict", "transform")
        if hasattr(model, method)
    ]
    results += [model.sample(5)[0]] if hasattr(model, "sample") else []
    found = [] if all(np.isfinite(array).all() for array in results) else ["a result is not finite"]
    if worst == np.inf:
        found.append("indefinite covariance")
    # In its least direction a covariance is rounded by so much.
    loss = -np.diff(objective) / (1 + 1e-6 * np.abs(objective[1:])) - np.finfo(np.float64).eps * worst
    if loss.max(initial=0.0) > (2e-3 if X.dtype == np.float32 else 1e-4):
        found.append(f"objective fell by {loss.max():.3g}")
    if hasattr(model, "predict_proba") and not np.allclose(model.predict_proba(X).sum(axis=1), 1.0):
        found.append("predict_proba does not sum to one")
    if isinstance(model, skem.KMeans) and not np.array_equal(model.predict(X), model.labels_):
        found.append("labels are not those of the nearest centres")
    return found


if __name__ == "__main__":
    n, first, missing = (float(argument) for argument in [*sys.argv[1:], "0", "0"][:3])
    seeds, failed = range(int(first), int(first + n)), 0
    with ProcessPoolExecutor(2) as pool:
        for seed, found in zip(
            seeds, pool.map(partial(faults, missing=missing), seeds, chunksize=50), strict=True
        ):
            failed += bool(found)
            if found:
                print(seed, *found, sep=" | ", flush=True)
    sys.exit(bool(failed))
