"""EM for Gaussian mixtures by others, on identical work: same data, same start, same number of passes.

What is timed is a pass: the difference of two fits of different length, so that neither reading the data
nor setting up counts. Rounds visit all engines in turn, and engines are compared by the median of their
ratios within rounds, which a change of the machine's pace leaves alone.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from skem.estimators.gaussian_mixture import GaussianMixture
from skem.repro.peers import mlpack_fit

LOG_LIKELIHOOD_ROWS = 100_000
"""The first so many rows say whether two engines did the same; millions would take longer than the fits."""

Start = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class Work:
    """One fit, the same for every engine.

    Attributes
    ----------
    X : ndarray of shape (N, m)
    start : tuple of weights (K,), means (K, m), covariances (K, m, m)
    n_threads : int
    """

    X: NDArray[Any]
    start: Start
    n_threads: int


@dataclass(frozen=True)
class Engine:
    """Somebody's EM.

    Attributes
    ----------
    fit : callable
        From work and a number of passes to (seconds, parameters).
    dtypes : tuple of str
        What it computes in.
    covariance : {"full", "diag"}
    install : str
        The command that installs it.
    version : callable
        Its version, or None where it is not installed.
    """

    fit: Callable[[Work, int], tuple[float, Start]]
    dtypes: tuple[str, ...]
    covariance: str
    install: str
    version: Callable[[], str | None]


def draw(
    N: int, m: int, K: int, dtype: str, seed: int = 0, *, clusters: int = 0
) -> tuple[NDArray[Any], Start]:
    """Rows of K overlapping Gaussian clusters, and a start that any engine can go on from.

    With ``clusters`` the rows are of so many clusters, whose centres are four deviations apart in each feature.

    Returns
    -------
    X : ndarray of shape (N, m)
    start : tuple
    """
    rng = np.random.default_rng(seed)
    centres = 4.0 * rng.standard_normal((clusters, m)) if clusters else 1.5 * rng.standard_normal((K, m))
    X = np.empty((N, m), dtype=dtype)
    for begin in range(0, N, 100_000):
        n = min(100_000, N - begin)
        X[begin : begin + n] = rng.standard_normal((n, m)) + centres[rng.integers(len(centres), size=n)]
    return X, start_from(X, K, rng)


def start_from(X: NDArray[Any], K: int, rng: np.random.Generator) -> Start:
    """Equal weights, means at rows, the covariance of all rows for each component."""
    N, m = X.shape
    means = X[rng.choice(N, size=K, replace=N < K)].astype(np.float64)
    covariance = np.cov(X[:100_000].T.astype(np.float64)).reshape(m, m)
    return np.full(K, 1 / K), means, np.repeat(covariance[None], K, axis=0)


def _installed(distribution: str) -> Callable[[], str | None]:
    def version() -> str | None:
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            return None

    return version


def _skem(covariance_type: str) -> Callable[[Work, int], tuple[float, Start]]:
    def fit(work: Work, passes: int) -> tuple[float, Start]:
        weights, means, covariances = work.start
        diagonal = covariance_type == "diag"
        start = weights, means, np.diagonal(covariances, axis1=1, axis2=2) if diagonal else covariances
        model = GaussianMixture(
            len(weights), covariance_type=covariance_type, init=start, max_iter=passes, tol=0.0
        )
        model.set_params(n_jobs=work.n_threads)
        begin = perf_counter()
        model.fit(work.X)
        seconds = perf_counter() - begin
        fitted = model.covariances_
        return seconds, (
            model.weights_,
            model.means_,
            fitted[:, :, None] * np.eye(means.shape[1]) if diagonal else fitted,
        )

    return fit


def _scikit_learn(work: Work, passes: int) -> tuple[float, Start]:
    from sklearn.mixture import GaussianMixture as Peer

    weights, means, covariances = (a.astype(work.X.dtype) for a in work.start)
    model = Peer(
        len(weights),
        weights_init=weights,
        means_init=means,
        precisions_init=np.linalg.inv(covariances),
        max_iter=passes,
        tol=0.0,
    )
    with threadpool_limits(work.n_threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = perf_counter()
        model.fit(work.X)
        return perf_counter() - begin, (model.weights_, model.means_, model.covariances_)


def _onedal(work: Work, passes: int) -> tuple[float, Start]:
    import daal4py

    daal4py.daalinit(nthreads=work.n_threads)
    weights, means, covariances = (a.astype(work.X.dtype) for a in work.start)
    algorithm = daal4py.em_gmm(
        len(weights),
        fptype="float" if work.X.dtype == np.float32 else "double",
        maxIterations=passes,
        accuracyThreshold=0.0,
        regularizationFactor=1e-6,
        covarianceStorage="full",
    )
    inputs = weights[None], means, list(covariances)
    begin = perf_counter()
    result = algorithm.compute(work.X, *inputs)
    seconds = perf_counter() - begin
    # It stops where the objective does not grow, whatever its threshold.
    if int(result.nIterations[0, 0]) < passes:
        raise RuntimeError(f"stopped after {int(result.nIterations[0, 0])} of {passes} passes")
    return seconds, (np.ravel(result.weights), result.means, np.stack(result.covariances))


def _mlpack(work: Work, passes: int) -> tuple[float, Start]:
    import mlpack

    # Its Python binding starts from k-means whatever model it is given, so its log-likelihood is another's.
    own = {"gaussians": len(work.start[0]), "kmeans_max_iterations": 1, "seed": 1, "tolerance": 0.0}
    with threadpool_limits(work.n_threads):
        begin = perf_counter()
        output = mlpack.gmm_train(input_=work.X, max_iterations=passes, copy_all_inputs=True, **own)
        seconds = perf_counter() - begin
    return seconds, mlpack_fit.mixture(output)


SOURCE = Path("workflow/scripts/peers.cpp")


@cache
def _compiled() -> Path | None:
    """The program of ``peers.cpp``, compiled once; None where compiler or library are missing."""
    compiler = shutil.which("g++")
    if compiler is None or not SOURCE.exists():
        return None
    folder = Path("results/peers")
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / f"program-{os.getpid()}"
    command = [compiler, "-O3", "-march=native", "-std=c++17", "-fopenmp", "-DARMA_NO_DEBUG"]
    done = subprocess.run(
        [*command, str(SOURCE), "-o", str(program), "-larmadillo"], capture_output=True, text=True
    )
    atexit.register(program.unlink, missing_ok=True)
    return program.absolute() if done.returncode == 0 else None


def _program(command: Callable[[], list[str]], engine: str) -> Callable[[Work, int], tuple[float, Start]]:
    """A program that reads data and a start from files, writes the parameters to a file, and prints its seconds."""

    def fit(work: Work, passes: int) -> tuple[float, Start]:
        N, m = work.X.shape
        K = len(work.start[0])
        with tempfile.TemporaryDirectory() as folder:
            data, start, out = (str(Path(folder, name)) for name in ("data", "start", "out"))
            work.X.astype(np.float64).tofile(data)
            np.concatenate([np.ravel(a) for a in work.start]).tofile(start)
            threads = {f"{name}_NUM_THREADS": str(work.n_threads) for name in ("OMP", "OPENBLAS")}
            done = subprocess.run(
                [*command(), engine, data, start, out, *map(str, (N, m, K, passes))],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, **threads},
            )
            values = np.fromfile(out)
        weights, means, covariances = np.split(values, [K, K + K * m])
        return float(done.stdout), (weights, means.reshape(K, m), covariances.reshape(K, m, m))

    return fit


def _armadillo(engine: str) -> Callable[[Work, int], tuple[float, Start]]:
    return _program(lambda: [str(_compiled())], engine)


def _mclust() -> str | None:
    """The version of R's package, or None where R or the package are missing."""
    if shutil.which("Rscript") is None:
        return None
    query = ["Rscript", "-e", 'cat(as.character(packageVersion("mclust")))']
    done = subprocess.run(query, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def _debian(package: str) -> Callable[[], str | None]:
    def version() -> str | None:
        if _compiled() is None:
            return None
        if shutil.which("dpkg-query") is None:
            return "unknown"
        query = ["dpkg-query", "-W", "-f", "${Version}", package]
        return subprocess.run(query, capture_output=True, text=True).stdout or "unknown"

    return version


ENGINES: dict[str, Engine] = {
    "skem": Engine(_skem("full"), ("float64", "float32"), "full", "pip install -e .", _installed("pskem")),
    "skem, diag": Engine(
        _skem("diag"), ("float64", "float32"), "diag", "pip install -e .", _installed("pskem")
    ),
    "scikit-learn": Engine(
        _scikit_learn,
        ("float64", "float32"),
        "full",
        "pip install scikit-learn",
        _installed("scikit-learn"),
    ),
    "oneDAL": Engine(
        _onedal,
        ("float64", "float32"),
        "full",
        "pip install scikit-learn-intelex",
        _installed("scikit-learn-intelex"),
    ),
    "Armadillo": Engine(
        _armadillo("full"),
        ("float64",),
        "full",
        "apt-get install g++ libarmadillo-dev",
        _debian("libarmadillo-dev"),
    ),
    "Armadillo, diag": Engine(
        _armadillo("diag"),
        ("float64",),
        "diag",
        "apt-get install g++ libarmadillo-dev",
        _debian("libarmadillo-dev"),
    ),
    "mclust": Engine(
        _program(lambda: ["Rscript", str(SOURCE.with_suffix(".R"))], "full"),
        ("float64",),
        "full",
        "apt-get install r-cran-mclust",
        _mclust,
    ),
    "mlpack": Engine(_mlpack, ("float64",), "full", "pip install mlpack", _installed("mlpack")),
}


def mean_log_likelihood(X: NDArray[Any], parameters: Start) -> float:
    """Mean of log p(x) of these parameters over the rows, by scikit-learn: nobody wins by doing less.

    NaN where a covariance is not positive definite.
    """
    from sklearn.mixture import GaussianMixture as Peer

    weights, means, covariances = (np.asarray(a, dtype=np.float64) for a in parameters)
    model = Peer(len(weights))
    model.weights_, model.means_, model.covariances_ = weights, means, covariances
    try:
        lower = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        return float("nan")
    model.precisions_cholesky_ = np.swapaxes(np.linalg.inv(lower), 1, 2)
    parts = [model.score_samples(X[i : i + 50_000].astype(np.float64)) for i in range(0, len(X), 50_000)]
    return float(np.concatenate(parts).mean())
