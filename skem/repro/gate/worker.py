"""Process that times cases: it reads names from standard input, and answers with CPU seconds, or null after an error.

PYTHONPATH selects the library, that of any revision, so the cases use public names only.
"""

import json
import sys
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np


def samples(n_samples, n_features, n_clusters, dtype):
    """Samples of overlapping clusters, and some of them as means."""
    rng = np.random.default_rng(0)
    centres = 1.5 * rng.standard_normal((n_clusters, n_features))
    X = rng.standard_normal((n_samples, n_features)) + centres[rng.integers(n_clusters, size=n_samples)]
    X = X.astype(dtype)
    return X, X[rng.choice(n_samples, size=n_clusters, replace=False)].astype(np.float64)


def iteration(n_samples, n_features, n_components):
    """One iteration of a plain mixture, and the E-step that ends a fit."""
    from skem import GaussianMixture

    X, means = samples(n_samples, n_features, n_components, "float64")
    covariances = np.repeat(np.cov(X.T)[None], n_components, axis=0)
    init = (np.full(n_components, 1 / n_components), means, covariances)
    return partial(GaussianMixture(n_components, init_params=init, max_iter=1, tol=0.0).fit, X)


def supervised(n_samples, n_blocks, n_features, n_components, n_classes, dtype, method="fit", **params):
    from skem import PSKEMClassifier

    X, _ = samples(n_samples, n_blocks * n_features, n_classes, dtype)
    y = np.random.default_rng(1).integers(n_classes, size=n_samples)
    params |= {"n_blocks": n_blocks, "init_params": "sample", "random_state": 0}
    model = PSKEMClassifier(n_components, **params)
    return partial(model.fit, X, y) if method == "fit" else partial(getattr(model.fit(X, y), method), X)


def clusters(n_samples, n_features, n_clusters):
    from skem import KMeans

    X, centres = samples(n_samples, n_features, n_clusters, "float64")
    return partial(KMeans(n_clusters, init=centres, max_iter=20, tol=0.0).fit, X)


def deskew():
    from skem.images import Deskew

    images = np.random.default_rng(0).integers(0, 256, size=(500, 28, 28), dtype=np.uint8)
    return partial(Deskew().fit(images).transform, images)


# Some ten milliseconds each: on shared machines twice the time has the same relative noise, and many short turns average it out.
CASES = {
    "A, float64": partial(iteration, 2048, 15, 100),
    "B, float64": partial(iteration, 3072, 13, 60),
    "C, float64": partial(iteration, 1024, 36, 40),
    "MNIST 3x13, K=60": partial(supervised, 400, 3, 13, 60, 10, "float32", reg_covar=0.03, max_iter=3),
    "ionosphere 2x16, K=12": partial(supervised, 280, 2, 16, 12, 2, "float64", reg_covar=0.03, max_iter=15),
    "prediction": partial(supervised, 4000, 3, 13, 60, 10, "float32", "predict_log_proba", max_iter=1),
    "k-means": partial(clusters, 25_000, 10, 8),
    "deskew": deskew,
}


def cpu_seconds(work):
    """CPU seconds of a run: neighbours on the machine change them less than wall seconds."""
    begin = process_time()
    work()
    return process_time() - begin


def main():
    answers, sys.stdout = sys.stdout, sys.stderr
    import skem

    assert Path(skem.__file__).resolve().is_relative_to(Path.cwd().resolve()), skem.__file__
    ready = {}
    for name in map(str.strip, sys.stdin):
        try:
            work = ready[name] = ready.get(name) or CASES[name]()
            seconds = cpu_seconds(work)
        except (ImportError, AttributeError, TypeError, ValueError) as error:
            print(f"{name} with {skem.__file__}: {type(error).__name__}: {error}")
            seconds = None
        print(json.dumps(seconds), file=answers, flush=True)


if __name__ == "__main__":
    main()
