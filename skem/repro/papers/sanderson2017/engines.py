"""EM for Gaussian mixtures by other implementations and by ours, from samples and a `Request` to a `Fitted`.

``benchmarks/peers.py`` adds further ones.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem.estimators.gaussian_mixture import GaussianMixture

Parameters = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Weights (K,), means (K, m) and covariances (K, m, m)."""

PROGRAMS = Path(__file__).parents[4] / "workflow/scripts"


@dataclass(frozen=True)
class Request:
    """One fit; without initial parameters, the k-means of the engine initialises EM."""

    n_components: int
    kmeans_iter: int
    em_iter: int
    floor: float  # variance floor of Armadillo, covariance regularisation of the others
    seed: int
    n_threads: int = 1
    init: Parameters | None = None


@dataclass(frozen=True)
class Fitted:
    """A mixture, the seconds of the whole fit, and those of k-means (NaN if unknown)."""

    parameters: Parameters
    seconds: float
    kmeans_seconds: float = float("nan")


@dataclass(frozen=True)
class Engine:
    """An implementation of EM."""

    fit: Callable[[NDArray[Any], Request], Fitted]
    version: Callable[[], str | None]  # None if not installed
    install: str  # command


def attempt(engine: Engine, X: NDArray[Any], request: Request) -> tuple[Fitted | None, str]:
    """Fit, or return None and the reason."""
    if engine.version() is None:
        return None, f"not installed: {engine.install}"
    try:
        return engine.fit(X, request), ""
    except Exception as error:
        return None, f"failed: {(str(error).strip() or type(error).__name__).splitlines()[0]}"


def draw(
    N: int, m: int, K: int, dtype: str, seed: int = 0, *, clusters: int = 0
) -> tuple[NDArray[Any], Parameters]:
    """Draw samples of K overlapping Gaussian clusters, and initial parameters.

    With ``clusters``, samples come from that many clusters, with centres four standard deviations apart in each feature.
    """
    rng = np.random.default_rng(seed)
    centres = 4.0 * rng.standard_normal((clusters, m)) if clusters else 1.5 * rng.standard_normal((K, m))
    X = np.empty((N, m), dtype=dtype)
    for begin in range(0, N, 100_000):
        n = min(100_000, N - begin)
        X[begin : begin + n] = rng.standard_normal((n, m)) + centres[rng.integers(len(centres), size=n)]
    return X, initial_parameters(X, K, rng)


def initial_parameters(X: NDArray[Any], K: int, rng: np.random.Generator) -> Parameters:
    """Equal weights, means at samples, the covariance of all samples for each component."""
    N, m = X.shape
    means = X[rng.choice(N, size=K, replace=N < K)].astype(np.float64)
    covariance = np.cov(X[:100_000].T.astype(np.float64)).reshape(m, m)
    return np.full(K, 1 / K), means, np.repeat(covariance[None], K, axis=0)


def mean_log_likelihood(X: NDArray[Any], parameters: Parameters) -> float:
    """Compute the mean of log p(x) by scikit-learn; NaN if a covariance is not positive definite."""
    from sklearn.mixture import GaussianMixture as Reference

    weights, means, covariances = (np.asarray(a, dtype=np.float64) for a in parameters)
    model = Reference(len(weights))
    model.weights_, model.means_, model.covariances_ = weights, means, covariances
    try:
        lower = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        return float("nan")
    model.precisions_cholesky_ = np.swapaxes(np.linalg.inv(lower), 1, 2)
    parts = [model.score_samples(X[i : i + 50_000].astype(np.float64)) for i in range(0, len(X), 50_000)]
    return float(np.concatenate(parts).mean())


def _native(init: Parameters, covariance: str) -> Parameters:
    weights, means, covariances = init
    return weights, means, np.diagonal(covariances, axis1=1, axis2=2) if covariance == "diag" else covariances


def _full(weights: NDArray[Any], means: NDArray[Any], covariances: NDArray[Any]) -> Parameters:
    K, m = means.shape
    covariances = covariances.reshape(K, m, -1)
    return weights, means, covariances if covariances.shape[2] == m else covariances * np.eye(m)


def _skem(covariance: str, X: NDArray[Any], request: Request) -> Fitted:
    model = GaussianMixture(
        request.n_components,
        covariance_type=covariance,
        init_params=_native(request.init, covariance) if request.init else "random_subset",
        metric="mahalanobis",
        kmeans_iter=request.kmeans_iter,
        max_iter=request.em_iter,
        tol=0.0,
        reg_covar=request.floor,
        random_state=request.seed,
        n_jobs=request.n_threads,
    )
    begin = perf_counter()
    model.fit(X)
    seconds = perf_counter() - begin
    return Fitted(_full(model.weights_, model.means_, model.covariances_), seconds)


def fit_by_program(command: Callable[[], list[str]], model: str) -> Callable[[NDArray[Any], Request], Fitted]:
    """Fit by a program: ``MODEL FOLDER N M K ITERATIONS KMEANS_ITERATIONS SEED FLOOR``.

    The folder holds doubles: samples in ``data``, initial parameters in ``init`` (if KMEANS_ITERATIONS is 0), the result in
    ``fitted``; covariances of MODEL "diag" are variances (K, m). The program prints the seconds of k-means, if it measures
    them, and of EM.
    """

    def fit(X: NDArray[Any], request: Request) -> Fitted:
        (N, m), K = X.shape, request.n_components
        kmeans_iter = 0 if request.init else request.kmeans_iter
        numbers = N, m, K, request.em_iter, kmeans_iter, request.seed, request.floor
        threads = {f"{name}_NUM_THREADS": str(request.n_threads) for name in ("OMP", "OPENBLAS")}
        with tempfile.TemporaryDirectory() as folder:
            X.astype(np.float64).tofile(Path(folder, "data"))
            if request.init:
                init = _native(request.init, model)
                np.concatenate([np.ravel(a) for a in init]).tofile(Path(folder, "init"))
            arguments = [*command(), model, folder, *map(str, numbers)]
            done = subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, **threads})
            if done.returncode:
                raise RuntimeError((done.stderr.strip() or f"ended with {done.returncode}").splitlines()[-1])
            fitted = np.fromfile(Path(folder, "fitted"))
        weights, means, covariances = np.split(fitted, [K, K + K * m])
        *kmeans, em = map(float, done.stdout.split())
        return Fitted(_full(weights, means.reshape(K, m), covariances), sum(kmeans) + em, *kmeans)

    return fit


@cache
def armadillo() -> list[str]:
    """Compile the program, once per process, as another machine may share the folder."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    flags = ["-O3", "-march=native", "-std=c++17", "-fopenmp", "-DARMA_NO_DEBUG"]
    source, binary = PROGRAMS / "peers.cpp", f"{folder}/peers"
    subprocess.run(["g++", *flags, source, "-o", binary, "-larmadillo"], capture_output=True, check=True)
    return [binary]


def mlpack() -> list[str]:
    """A process per fit: within one process, mlpack initialises every fit differently."""
    return [sys.executable, str(PROGRAMS / "peers_mlpack.py")]


def version_of(source: str | Callable[[], list[str]]) -> Callable[[], str | None]:
    """Look up the version of a Python distribution, or of a program, which prints it without arguments."""

    @cache
    def version() -> str | None:
        try:
            if isinstance(source, str):
                return importlib.metadata.version(source)
            return subprocess.run(source(), capture_output=True, text=True, check=True).stdout.strip()
        except (ImportError, OSError, subprocess.CalledProcessError):
            return None

    return version


DEBIAN = "apt-get install g++ libarmadillo-dev"
ENGINES: dict[str, Engine] = {
    "armadillo_diag": Engine(fit_by_program(armadillo, "diag"), version_of(armadillo), DEBIAN),
    "mlpack_full": Engine(fit_by_program(mlpack, "full"), version_of("mlpack"), "pip install mlpack"),
    # Without its bound of 1e5 on the condition number of a covariance.
    "mlpack_full_unclamped": Engine(
        fit_by_program(mlpack, "unclamped"), version_of("mlpack"), "pip install mlpack"
    ),
    "skem_diag": Engine(partial(_skem, "diag"), version_of("pskem"), "pip install -e ."),
    "skem_full": Engine(partial(_skem, "full"), version_of("pskem"), "pip install -e ."),
}
"""EM from the implementation's own k-means."""
