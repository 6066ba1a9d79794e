"""Fits of all estimators to small, hostile data, and what no fit may do: `python tests/fuzz.py 50000` tries as many.

Further numbers are the first seed and the share of values that are missing.

A fit ends in one of two ways: a ValueError that names what is wrong with the input, or a model without NaN, with positive
definite covariances and an objective that did not fall by more than rounding. Nothing but a ConvergenceWarning is warned
of. What is tried follows from the seed alone.
"""

import sys
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from unittest.mock import patch

import numpy as np
from reference_missing import holes
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

import skem
from skem.engine import problem
from skem.engine.seeds import SEEDS

REFUSALS = (
    "spreads too far",
    "spreads too little",
    "too far",
    "of one class only",
    "too few",
    "fine-tuning goes by rows without missing values",
    "n_components=",
    "n_blocks=",
    "sample_weight is zero for all",
    "cannot be held out",
    "n_splits=",
    "least populated class",
    "a minimum of 2 is required",
    "too little to learn from",
    "no value at all",
    "Input X of",
    "samples with a weight",
    "divides by the standard deviation of each feature, and feature",
    "too few for 3 components",
    "none of the 12 mixtures converged",
    "too large for their squares",
    "too large for float64 beside the features",
)


def draw_rows(rng):
    """Features (n, m), labels (n,) and sample weights (n,) or None."""
    n = int(rng.choice([2, 3, 5, 8, 13, 30, 60, 120]))
    m = int(rng.choice([1, 2, 3, 5, 8]))
    dtype = rng.choice([np.float32, np.float64])
    L = int(rng.integers(2, 4))
    y = rng.permutation(np.arange(n) % min(L, n))
    shape = rng.choice(["normal", "heavy tails", "clusters", "few values", "line", "far clusters"])
    if shape == "normal":
        X = rng.normal(size=(n, m))
    elif shape == "heavy tails":
        X = rng.standard_t(1.0, (n, m))
    elif shape == "clusters":
        X = rng.normal(size=(n, m)) + 4 * rng.normal(size=(3, m))[rng.integers(0, 3, n)]
    elif shape == "far clusters":
        X = (
            1e-3 * rng.normal(size=(n, m))
            + 10.0 ** rng.integers(0, 6) * rng.normal(size=(3, m))[rng.integers(0, 3, n)]
        )
    elif shape == "few values":
        X = rng.integers(0, 3, (n, m)).astype(float)
    else:
        X = rng.normal(size=(n, 1)) * rng.normal(size=m) + 10.0 ** rng.integers(-9, 0) * rng.normal(
            size=(n, m)
        )
    if rng.random() < 0.2:  # duplicates
        X = X[rng.integers(0, max(1, n // 3), n)]
    if rng.random() < 0.2:
        X[:, rng.integers(m)] = rng.choice([0.0, 1.0, 1e6])
    if rng.random() < 0.2:
        X += 10.0 ** rng.integers(0, 7)
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
    sample_weight = None
    if rng.random() < 0.4:
        sample_weight = 10.0 ** rng.uniform(
            *rng.choice([(0, 1), (-3, 3), (-12, 12), (-12, 12), (-300, 300)]), n
        )
        sample_weight[rng.random(n) < 0.1] = 0.0
    return X, y, sample_weight


def draw_model(rng, seed):
    if seed % 8 == 7:
        return draw_other_model(rng, seed)
    family = rng.choice(
        ["mixture", "skem", "pskem", "tuned", "mda", "prbf"],
        p=[0.3, 0.25, 0.1, 0.1, 0.1, 0.15],
    )
    common = {
        "n_components": int(rng.integers(1, 7)),
        "covariance_type": str(rng.choice(["full", "full", "tied", "diag", "spherical"])),
        "standardize": bool(rng.random() < 0.5),
        "reg_covar": float(rng.choice([0.0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-3, 0.1])),
        "max_iter": int(rng.choice([1, 3, 10, 30])),
        "random_state": seed,
    }
    if family == "mixture":
        init = str(rng.choice(["kmeans", "k-means++", "sample"]))
        return skem.GaussianMixture(init_params=init, tol=float(rng.choice([0, 1e-3])), **common)
    starts = ["class", "class_kmeans", "sample", "kmeans", "k-means++"]
    if family in ("skem", "pskem", "tuned", "mda"):
        common["init_params"] = str(rng.choice([*starts, "uniform"]))
        if common["init_params"] == "uniform":
            common["options"] = {"init_scale": float(rng.choice([1e-3, 2.0, 1e5]))}
        if family == "skem":
            return skem.SKEMClassifier(early_stopping=bool(rng.random() < 0.1), **common)
        if family == "pskem":
            common["options"] = common.get("options", {}) | {"sharing": rng.choice([None, 0.0, 0.3])}
            return skem.PSKEMClassifier(n_blocks=int(rng.integers(1, 4)), **common)
        if family == "tuned":
            batch_size = [None, 20][int(rng.integers(2))]
            options = {"discriminative_iter": 3, "batch_size": batch_size}
            return skem.DiscriminativePSKEMClassifier(n_blocks=int(rng.integers(1, 4)), **options, **common)
        del common["covariance_type"]
        return skem.MDAClassifier(n_blocks=int(rng.integers(1, 3)), **common)
    return skem.PRBFClassifier(
        init_params=str(rng.choice(starts)),
        sharing=float(rng.choice([0, 0.3, 1])),
        variance_floor=float(rng.choice([0.0, 1e-9, 1e-3])),
        **common,
    )


def draw_other_model(rng, seed):
    """One that is not fitted by EM alone."""
    family = rng.choice(["kmeans", "path", "sdgm"])
    if family == "kmeans":
        return skem.KMeans(
            int(rng.integers(1, 7)),
            init=str(rng.choice(list(SEEDS))),
            n_init=int(rng.integers(1, 3)),
            metric=str(rng.choice(["euclidean", "mahalanobis"])),
            tol=float(rng.choice([0, 1e-4])),
            random_state=seed,
        )
    if family == "path":
        mixture = skem.GaussianMixture(
            standardize=bool(rng.random() < 0.5), reg_covar=float(rng.choice([0, 1e-9, 1e-6, 1e-3]))
        )
        criterion = str(rng.choice(["bic", "aic", "icl", "held_out"]))
        return skem.GaussianMixturePath(
            mixture, n_components=(1, 2, 3), criterion=criterion, random_state=seed
        )
    form = str(rng.choice(["dual", "primal"]))
    return skem.SDGMClassifier(
        int(rng.integers(1, 4)),
        form=form,
        kernel="rbf" if form == "dual" and rng.random() < 0.3 else "poly2",
        init=str(rng.choice(["class_kmeans", "class"])),
        standardize=bool(rng.random() < 0.6),
        max_iter=int(rng.choice([1, 10, 30])),
        em_iter=int(rng.choice([5, 50])),
        random_state=seed,
    )


def fitted_mixtures(model):
    """Means, covariances and the standard deviations of features of every mixture in a fitted estimator."""
    if hasattr(model, "best_estimator_"):
        return fitted_mixtures(model.best_estimator_)
    if isinstance(model, (skem.KMeans, skem.SDGMClassifier)):
        return []
    if isinstance(model, skem.GaussianMixture):
        return [(model.weights_, model.means_, model.covariances_, model.objective_, model.log_likelihood_)]
    kept = slice(model.best_iter_)  # what is known of covariances is that of this pass
    return [
        (b.weights, b.means, b.covariances, model.objective_[kept], model.log_likelihood_)
        for b in model.blocks_
    ]


def condition(covariances, covariance_type):
    """The largest condition of the covariances in units of deviations; infinite where one has no Cholesky factor."""
    if covariance_type in ("diag", "spherical"):
        return 1.0 if (covariances > 0).all() else np.inf
    deviations = np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1))
    try:
        L = np.linalg.cholesky(covariances / deviations[..., None, :] / deviations[..., None])
        return float(np.max(np.linalg.norm(np.linalg.inv(L), 2, axis=(-2, -1)) ** 2))
    except np.linalg.LinAlgError:
        return np.inf


def densities_differ(model, X, exact):
    """True if log p(x|c) is not that of the fitted parameters, whitened one by one in units of each one's deviations.

    ``exact`` is the error of the library; that of what stands here is estimated from the condition of the covariances.
    """
    X = X.astype(np.float64)
    n, eps = len(X), np.finfo(np.float64).eps
    if isinstance(model, skem.GaussianMixture):
        blocks = [(np.arange(X.shape[1]), (model.weights_[:, None], model.means_, model.covariances_))]
        found = model.score_samples(X)[:, None]
    else:
        blocks = [
            (columns, (block.weights, block.means, block.covariances))
            for columns, block in zip(model.block_indices_, model.blocks_, strict=True)
        ]
        found = model.class_log_density(X)
    total, allowed = np.zeros(found.shape), np.zeros(n)
    for columns, (weights, means, covariances) in blocks:
        (K, m), x = means.shape, X[:, columns]
        if getattr(model, "covariance_type", "tied") in ("diag", "spherical"):
            variances = covariances[:, None] if covariances.ndim == 1 else covariances
            covariances = np.stack([np.diag(np.broadcast_to(v, m)) for v in variances])
        covariances = np.broadcast_to(covariances, (K, m, m))
        log_density, worst = np.empty((n, K)), np.zeros(n)
        for k in range(K):
            d = np.sqrt(covariances[k].diagonal())
            inverse = np.linalg.inv(np.linalg.cholesky(covariances[k] / d / d[:, None]))
            z = (x - means[k]) / d @ inverse.T
            log_density[:, k] = (
                np.log(np.abs(inverse.diagonal())).sum()
                - np.log(d).sum()
                - 0.5 * (m * np.log(2 * np.pi) + (z**2).sum(axis=1))
            )
            norm = np.linalg.norm(inverse, 2)
            with np.errstate(over="ignore", invalid="ignore"):
                shift = 4 * eps * norm * np.linalg.norm((np.abs(x) + np.abs(means[k])) / d, axis=1)
                length = np.sqrt((z**2).sum(axis=1))
                worst = np.fmax(worst, (length + shift) * shift + 8 * m * eps * norm**2 * (1 + length**2))
        with np.errstate(divide="ignore"):
            total += logsumexp(log_density[:, :, None] + np.log(weights)[None], axis=1)
        allowed += worst
    return bool((np.abs(found - total) > exact + 4 * allowed[:, None] + 1e-6 * np.abs(total)).any())


def faults(seed, missing=0.0):
    """Faults of the fit of a seed, the largest fall of its objective, and its dtype: (list of str, float, str).

    A share ``missing`` of the values is taken away before.
    """
    rng = np.random.default_rng(seed)
    X, y, sample_weight = draw_rows(rng)
    model = draw_model(rng, seed)
    if missing:
        X = holes(X, missing, seed)
    # Small data takes the way of all classes as one chunk; large data goes class by class.
    with patch.object(problem, "ONE_CHUNK", problem.ONE_CHUNK if rng.random() < 0.5 else 0):
        return faults_of_fit(model, X, y, sample_weight)


def n_clusters(model):
    return np.max(getattr(model, "n_clusters", getattr(model, "n_components", 0)))


def n_distinct(model, X, sample_weight):
    """Number of samples with a weight that k-means can tell apart in float64."""
    X = X.astype(np.float64)
    if sample_weight is not None and not isinstance(model, (skem.GaussianMixture, skem.GaussianMixturePath)):
        X = X[sample_weight > 1e-30 * sample_weight.max()]
    X = X / np.fmax(np.abs(X).max(), 1e-300)
    X = X - X.mean(axis=0)
    if getattr(model, "standardize", getattr(model, "metric", "") == "mahalanobis"):
        X = X / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    X = np.round(X / np.fmax(np.linalg.norm(np.abs(X).max(axis=0)), 1e-300), 11)
    held_out = max(1, round(0.2 * len(X))) if getattr(model, "criterion", "") == "held_out" else 0
    return len(np.unique(X, axis=0)) - held_out


def faults_of_fit(model, X, y, sample_weight):
    found, fall, dtype = [], 0.0, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if isinstance(model, (skem.GaussianMixture, skem.GaussianMixturePath)):
                model.fit(X)
            else:
                model.fit(X, y, sample_weight)
        except ValueError as error:  # LinAlgError is one, too
            # k-means sees what is missing as the mean of its feature.
            too_few = "distinct samples" in str(error) and (
                np.isnan(X).any() or n_distinct(model, X, sample_weight) < n_clusters(model)
            )
            if not (too_few or any(refusal in str(error) for refusal in REFUSALS)):
                found.append(f"ValueError: {error}")
            return found, 0.0, "refused"
        except Exception as error:
            return [f"{type(error).__name__}: {error}"], 0.0, ""
        inner = getattr(model, "best_estimator_", getattr(model, "estimator", model))
        kind = getattr(inner, "covariance_type", "tied")
        mixtures = fitted_mixtures(model)
        with np.errstate(invalid="ignore"):
            worst = max((condition(covariances, kind) for _, _, covariances, *_ in mixtures), default=1.0)
        if worst == np.inf:
            found.append("indefinite covariance")
        for weights, means, covariances, objective, log_likelihood in mixtures:
            for name, values in (
                ("weights", weights),
                ("means", means),
                ("covariances", covariances),
                ("objective", objective),
                ("log_likelihood", log_likelihood),
            ):
                if not np.isfinite(values).all():
                    found.append(f"{name} not finite")
            # In its least direction a covariance is rounded by so much.
            loss = -np.diff(objective) / (1 + 1e-6 * np.abs(objective[1:])) - np.finfo(np.float64).eps * worst
            fall = max(fall, loss.max(initial=0.0))
        dtype = getattr(inner, "dtype_used_", "")
        try:
            results = {
                method: getattr(model, method)(X)
                for method in ("score_samples", "predict_proba", "predict", "transform")
                if hasattr(model, method)
            }
            if hasattr(model, "sample"):
                results["sample"] = model.sample(5)[0]
        except Exception as error:
            # A row without weight was not trained on, and may be anywhere.
            if "spreads from the training mean: too far" not in str(error):
                found.append(f"{type(error).__name__}: {error}")
            return found, fall, dtype
        for name, values in results.items():
            if not np.isfinite(values).all():
                found.append(f"{name} not finite")
        if (
            hasattr(model, "dtype_used_")
            and not np.isnan(X).any()
            and densities_differ(model, X, 2e-3 if X.dtype == np.float32 else 1e-5)
        ):
            found.append("densities are not those of the parameters")
        if "predict_proba" in results and not np.allclose(results["predict_proba"].sum(axis=1), 1.0):
            found.append("predict_proba does not sum to one")
        if isinstance(model, skem.KMeans):
            if not np.isfinite(model.cluster_centers_).all():
                found.append("centres not finite")
            weight = 1.0 if sample_weight is None else sample_weight.max()
            with np.errstate(over="ignore"):
                largest = weight * X.size * np.square(X, dtype=np.float64).max()
            if not (np.isfinite(model.inertia_) or largest == np.inf):
                found.append("inertia not finite")
            if not np.array_equal(results["predict"], model.labels_):
                found.append("labels are not those of the nearest centres")
    for warning in caught:
        parts = ("least populated class", "dropped all weights", "singular", "distinct training samples")
        announced = any(part in str(warning.message) for part in parts)
        if not (issubclass(warning.category, ConvergenceWarning) or announced):
            found.append(f"{warning.category.__name__}: {warning.message}")
    if fall > (2e-3 if X.dtype == np.float32 else 1e-4):
        found.append(f"objective fell by {fall:.3g}")
    return sorted(set(found)), fall, dtype


def faults_of_all(seeds, missing):
    return [(seed, *faults(seed, missing)) for seed in seeds]


if __name__ == "__main__":
    n, first, missing = (float(argument) for argument in [*sys.argv[1:], "0", "0"][:3])
    n, first = int(n), int(first)
    blocks = [range(first + i, min(first + i + 100, first + n)) for i in range(0, n, 100)]
    kinds, examples, outcome, falls = Counter(), {}, Counter(), []
    with ProcessPoolExecutor(2) as pool:
        for block in pool.map(partial(faults_of_all, missing=missing), blocks):
            for seed, found, fall, dtype in block:
                outcome[dtype] += 1
                falls.append((fall, seed, dtype))
                for fault in found:
                    kind = "".join(c for c in fault if not c.isdigit())[:60]
                    kinds[kind] += 1
                    examples.setdefault(kind, []).append((seed, fault))
    print(dict(outcome))
    for kind, count in kinds.most_common():
        print(count, "|", examples[kind][0][1][:300], "|", [seed for seed, _ in examples[kind]][:8])
    for dtype in ("float32", "float64", ""):
        print(
            dtype, [(f"{fall:.2g}", seed) for fall, seed, d in sorted(falls, reverse=True) if d == dtype][:8]
        )
    sys.exit(bool(kinds))
