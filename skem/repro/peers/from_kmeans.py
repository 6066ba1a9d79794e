"""Whole fits: each engine's EM from its own k-means, called as the program of Sanderson and Curtin (2017) calls theirs.

Others than `skem.repro.peers.engines`, which all go on from the same start.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem.estimators.gaussian_mixture import GaussianMixture
from skem.repro.peers import engines, mlpack_fit
from skem.repro.peers.engines import Start


@dataclass(frozen=True)
class Request:
    """What is fitted.

    Attributes
    ----------
    n_components : int
    kmeans_iter, em_iter : int
        Iterations.
    floor : float
        Of Armadillo's variances; of skem, the ridge.
    seed : int
    n_threads : int
    """

    n_components: int
    kmeans_iter: int
    em_iter: int
    floor: float
    seed: int
    n_threads: int = 1


@dataclass(frozen=True)
class Fitted:
    """A mixture, and how long it took.

    Attributes
    ----------
    parameters : tuple of weights (K,), means (K, m), covariances (K, m, m)
    seconds : float
        Of the whole fit.
    kmeans_seconds : float
        Of its start, where the engine tells; else NaN.
    """

    parameters: Start
    seconds: float
    kmeans_seconds: float = float("nan")


@dataclass(frozen=True)
class FromKMeans:
    """Somebody's k-means and EM.

    Attributes
    ----------
    fit : callable
        From rows (n, m) and a `Request` to a `Fitted`.
    install : str
        The command that installs it.
    version : callable
        Its version, or None where it is not installed.
    """

    fit: Callable[[NDArray[np.float64], Request], Fitted]
    install: str
    version: Callable[[], str | None]


def _skem(covariance_type: str) -> Callable[[NDArray[np.float64], Request], Fitted]:
    def fit(X: NDArray[np.float64], request: Request) -> Fitted:
        model = GaussianMixture(
            request.n_components,
            covariance_type=covariance_type,
            init="random_subset",
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
        covariances = model.covariances_
        if covariance_type == "diag":
            covariances = covariances[:, :, None] * np.eye(X.shape[1])
        return Fitted((model.weights_, model.means_, covariances), seconds)

    return fit


def _environment(request: Request) -> dict[str, str]:
    """Of a process with so many threads."""
    return {**os.environ} | {f"{name}_NUM_THREADS": str(request.n_threads) for name in ("OMP", "OPENBLAS")}


def _armadillo(X: NDArray[np.float64], request: Request) -> Fitted:
    N, m = X.shape
    K = request.n_components
    with tempfile.TemporaryDirectory() as folder:
        data, out = (str(Path(folder, name)) for name in ("data", "out"))
        np.ascontiguousarray(X, dtype=np.float64).tofile(data)
        numbers = (N, m, K, request.em_iter, request.kmeans_iter, request.seed % 2**31, request.floor)
        done = subprocess.run(
            [str(engines._compiled()), "diag-from-kmeans", data, "-", out, *map(str, numbers)],
            capture_output=True,
            text=True,
            env=_environment(request),
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"ended with {done.returncode}")
        values = np.fromfile(out)
    weights, means, covariances = np.split(values, [K, K + K * m])
    kmeans, em = map(float, done.stdout.split())
    return Fitted((weights, means.reshape(K, m), covariances.reshape(K, m, m)), kmeans + em, kmeans)


def _mlpack(**options: Any) -> Callable[[NDArray[np.float64], Request], Fitted]:
    def fit(X: NDArray[np.float64], request: Request) -> Fitted:
        order = np.random.default_rng(request.seed).permutation(len(X))
        asked = {
            "gaussians": request.n_components,
            "kmeans_max_iterations": request.kmeans_iter,
            "max_iterations": request.em_iter,
            "seed": 1,  # zero would be the time of day
            **options,
        }
        with tempfile.TemporaryDirectory() as folder:
            rows, out = Path(folder, "rows.npy"), Path(folder, "fitted.npz")
            np.save(rows, X[order])
            done = subprocess.run(
                [sys.executable, "-m", mlpack_fit.__name__, str(rows), json.dumps(asked), str(out)],
                capture_output=True,
                text=True,
                env=_environment(request),
            )
            if done.returncode:
                if "Log::Fatal" in done.stderr:  # why stands on the terminal alone
                    raise RuntimeError("mlpack gave up, as where a covariance is singular")
                raise RuntimeError(
                    (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
                )
            with np.load(out) as fitted:
                parameters = (fitted["weights"], fitted["means"], fitted["covariances"])
                return Fitted(parameters, float(fitted["seconds"]))

    return fit


def _of(name: str, fit: Callable[[NDArray[np.float64], Request], Fitted]) -> FromKMeans:
    engine = engines.ENGINES[name]
    return FromKMeans(fit, engine.install, engine.version)


ENGINES: dict[str, FromKMeans] = {
    "armadillo_diag": _of("Armadillo, diag", _armadillo),
    "mlpack_full": _of("mlpack", _mlpack()),
    "mlpack_full_unclamped": _of("mlpack", _mlpack(no_force_positive=True)),
    "skem_diag": _of("skem, diag", _skem("diag")),
    "skem_full": _of("skem", _skem("full")),
}
"""By name. mlpack holds the condition number of each covariance below 1e5, unless it is told not to force positive
definite ones; its k-means knows the Euclidean distance alone. Its Python package (4.8.0) draws the same starts whatever
the seed: the first fit of a process has one start, the second another. So each of its fits has a process of its own, and
rows in an order drawn by the seed.
"""
