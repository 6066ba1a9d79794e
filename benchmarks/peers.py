"""Time other implementations of EM and k-means beside ours, two threads each: python -m benchmarks.peers

Every cell of the tables is one file in results/peers/cells. A run that was stopped continues with the cells that have no file;
delete the folder to measure all cells again. The results are results/peers/peers.csv, peers_classes.csv and the figure.

The time of an iteration is the difference between a longer and a shorter fit, divided by their iterations, so neither reading
the data nor setting up counts. Fits take turns, and a ratio is the median of the ratios within rounds, which a change of the
machine's pace leaves alone.
"""

from __future__ import annotations

import argparse
import os
import pkgutil
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from llvmlite import binding
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from skem import KMeans, PSKEMClassifier, plots
from skem.repro import environment
from skem.repro.config.documents import read_mapping
from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.papers.sanderson2017 import engines
from skem.repro.papers.sanderson2017.engines import (
    DEBIAN,
    Engine,
    Fitted,
    Request,
    fit_by_program,
    version_of,
)
from skem.repro.study import load_study
from skem.repro.training import feature_store, features, splits
from skem.repro.training.classifiers.shared_kernel import ENTRIES as MODELS

Array = NDArray[Any]
Rows = list[dict[str, Any]]
Fit = Callable[[int], float]
"""Seconds by number of iterations."""

THREADS = 2
ROUNDS = 5
ONE_ROUND = ("Armadillo", "mlpack", "mclust")
"""Implementations that take one round, as they are ten and more times slower."""
ENOUGH_SECONDS, MOST_FITS = 0.3, 200
"""Repeat fits of milliseconds within a round."""
CHECKED_SAMPLES = 20_000
AGREEMENT = 1e-3
"""Largest difference of mean log-likelihoods, in nats, or mean squared distances. Those that agree differ by at most 4e-5."""

INSTRUCTIONS = {
    "AVX-512": {},
    # oneDAL's own loops have no such switch.
    "AVX2": {
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR",
        "NUMBA_CPU_NAME": "haswell",
        # Otherwise numba uses the features of the processor; without "+fma" the engine would not fuse products with sums.
        "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+bmi,+bmi2,+f16c,+lzcnt,+movbe,+popcnt",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
}
"""Environment variables of a process that is limited to some instructions of a processor with AVX-512."""

SLOW_TOO = [(60_000, 15, 100), (30_000, 13, 60), (30_000, 36, 40)]
SIZES = [
    *((*size, 0) for size in SLOW_TOO),
    # Thirty clusters, four standard deviations apart, for as many components as above: some components end with few samples.
    *((60_000, 15, 100, 30), (30_000, 36, 40, 30)),
    *((60_000, 15, 2, 0), (60_000, 15, 8, 0)),
    *((40_000, 64, 40, 0), (40_000, 64, 40, 30), (30_000, 100, 20, 0), (30_000, 100, 20, 30)),
    *((2000, 8, 10, 0), (300, 8, 8, 0)),
]
"""Samples, features, components, and clusters of the samples; 0 for overlapping clusters, one per component."""
DTYPES = ("float64", "float32")
SCALING = {"N": (1000, 4000, 16_000, 64_000), "m": (2, 4, 8, 16, 32), "K": (2, 8, 32, 128)}
"""One of N, m and K varies, the others are those of the first size."""
KMEANS_SIZES, KMEANS_ITERATIONS = [(60_000, 15, 100), (10_000, 10, 8)], 20
PAPER_SECONDS = {"mnist": 26.0, "fashion_mnist": 238.0, "cifar10": 274.0}
"""Seconds per iteration in Table 1 of Pulford (2022)."""


@dataclass(frozen=True)
class Cell:
    """One data set, on which implementations take turns; the first one is ours."""

    part: str
    names: tuple[str, ...] = ()
    size: str = ""
    N: int = 0
    m: int = 0
    K: int = 0
    clusters: int = 0
    dtype: str = "float32"
    iterations: tuple[int, int] = (2, 5)

    def labels(self) -> dict[str, Any]:
        """Columns that identify the cell."""
        names = ("part", "size", "N", "m", "K", "clusters", "dtype")
        return {name: getattr(self, name) for name in names} | {"threads": THREADS}


def cells(native: bool) -> dict[str, Cell]:
    """Cells by name: all of them if all instructions of the processor are used, otherwise those that the page shows."""
    found = {}
    for (N, m, K, clusters), dtype in product(SIZES, DTYPES):
        size, names = f"{N}x{m}-K{K}" + "-clustered" * (clusters > 0), ("skem", "oneDAL")
        if (N, m, K) in SLOW_TOO and not clusters:
            names += ("scikit-learn",) * (native or (N, m, K) == SLOW_TOO[0])
            names += ONE_ROUND * (native and dtype == "float64")
        # oneDAL stops once nothing changes, so fits are short; those of few samples are repeated many times.
        iterations = (2, 10) if N <= 2000 else (2, 5)
        found[f"em-{size}-{dtype}"] = Cell("sizes", names, size, N, m, K, clusters, dtype, iterations)
    for (N, m, K), dtype in product(KMEANS_SIZES, DTYPES):
        size, iterations = f"{N}x{m}-K{K}", (0, KMEANS_ITERATIONS)
        found[f"kmeans-{size}-{dtype}"] = Cell("kmeans", tuple(KMEANS), size, N, m, K, 0, dtype, iterations)
    for axis, values in SCALING.items() if native else ():
        for value in values:
            base = dict(zip("NmK", SIZES[0], strict=False)) | {axis: value}
            found[f"scaling-{axis}-{value}"] = Cell("scaling", ("skem", "oneDAL"), axis, **base)
    return found | {f"classes-{name}": Cell("classes", size=name) for name in PAPER_SECONDS}


# Implementations


def _scikit_learn(X: Array, request: Request) -> Fitted:
    from sklearn.mixture import GaussianMixture

    weights, means, covariances = (a.astype(X.dtype) for a in request.init or ())
    model = GaussianMixture(
        len(weights),
        weights_init=weights,
        means_init=means,
        precisions_init=np.linalg.inv(covariances),
        max_iter=request.em_iter,
        tol=0.0,
        reg_covar=request.floor,
    )
    with threadpool_limits(request.n_threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # EM has not converged
        begin = perf_counter()
        model.fit(X)
        seconds = perf_counter() - begin
    return Fitted((model.weights_, model.means_, model.covariances_), seconds)


def _onedal(X: Array, request: Request) -> Fitted:
    import daal4py

    daal4py.daalinit(nthreads=request.n_threads)
    weights, means, covariances = (a.astype(X.dtype) for a in request.init or ())
    algorithm = daal4py.em_gmm(
        len(weights),
        fptype="float" if X.dtype == np.float32 else "double",
        maxIterations=request.em_iter,
        accuracyThreshold=0.0,
        regularizationFactor=request.floor,
        covarianceStorage="full",
    )
    inputs = weights[None], means, list(covariances)
    begin = perf_counter()
    result = algorithm.compute(X, *inputs)
    seconds = perf_counter() - begin
    # oneDAL stops once the objective does not grow, whatever the threshold.
    if (done := int(result.nIterations[0, 0])) < request.em_iter:
        raise RuntimeError(f"stopped after {done} of {request.em_iter} iterations")
    return Fitted((np.ravel(result.weights), result.means, np.stack(result.covariances)), seconds)


def _mclust() -> list[str]:
    return ["Rscript", str(Path(__file__).with_name("mclust.R"))]


ENGINES = {
    "skem": engines.ENGINES["skem_full"],
    "oneDAL": Engine(_onedal, version_of("scikit-learn-intelex"), "pip install scikit-learn-intelex"),
    "scikit-learn": Engine(_scikit_learn, version_of("scikit-learn"), "pip install scikit-learn"),
    "Armadillo": Engine(fit_by_program(engines.armadillo, "full"), version_of(engines.armadillo), DEBIAN),
    "mlpack": engines.ENGINES["mlpack_full"],
    "mclust": Engine(fit_by_program(_mclust, "full"), version_of(_mclust), "apt-get install r-cran-mclust"),
}
ENGINES["scikit-learn-intelex"] = ENGINES["oneDAL"]  # its estimators, of which k-means is one


def _kmeans_skem(X: Array, centres: Array, n_iter: int) -> float:
    model = KMeans(len(centres), init=centres, max_iter=n_iter, tol=0.0, n_jobs=THREADS)
    return float(model.fit(X).inertia_)


def _kmeans_of(package: str, X: Array, centres: Array, n_iter: int) -> float:
    """k-means of scikit-learn, or oneDAL's behind the same checks of its input."""
    estimator = pkgutil.resolve_name(f"{package}.cluster:KMeans")
    model = estimator(len(centres), init=centres, n_init=1, max_iter=n_iter, tol=0.0)
    with threadpool_limits(THREADS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # k-means has not converged
        return float(model.fit(X).inertia_)


def _kmeans_onedal(X: Array, centres: Array, n_iter: int) -> float:
    import daal4py

    daal4py.daalinit(nthreads=THREADS)
    fptype = "float" if X.dtype == np.float32 else "double"
    algorithm = daal4py.kmeans(len(centres), maxIterations=n_iter, accuracyThreshold=0.0, fptype=fptype)
    return float(algorithm.compute(X, centres).objectiveFunction[0, 0])


KMEANS = {
    "skem": _kmeans_skem,
    "oneDAL": _kmeans_onedal,
    "scikit-learn-intelex": partial(_kmeans_of, "sklearnex"),
    "scikit-learn": partial(_kmeans_of, "sklearn"),
}
"""From samples, centres and iterations to the inertia."""


# Measurement


def interleaved(fits: Mapping[str, Fit], iterations: Sequence[int]) -> dict[str, Array]:
    """Seconds per iteration by round; fits take turns, in an order that rotates."""
    names, seconds = list(fits), {name: [] for name in fits}
    for turn in range(ROUNDS):
        for place in range(len(names)):
            name = names[(turn + place) % len(names)]
            if turn == 0 or name not in ONE_ROUND:
                seconds[name].append(seconds_per_iteration(fits[name], *iterations))
    return {name: np.array(values) for name, values in seconds.items()}


def seconds_per_iteration(fit: Fit, short: int, long: int) -> float:
    """Median over fits of two lengths."""
    found: list[float] = []
    spent = 0.0
    while not found or (spent < ENOUGH_SECONDS and len(found) < MOST_FITS):
        before, after = fit(short), fit(long)
        found.append((after - before) / (long - short))
        spent += before + after
    return float(np.median(found))


def summary(name: str, values: Array) -> dict[str, float]:
    """Median and range over rounds."""
    return {name: np.median(values), f"{name}_low": values.min(), f"{name}_high": values.max()}


def fit_of(model: PSKEMClassifier, X: Array, y: Array) -> Fit:
    """Seconds of a classifier's fit by number of iterations."""

    def fit(n_iter: int) -> float:
        begin = perf_counter()
        model.set_params(max_iter=n_iter).fit(X, y)
        return perf_counter() - begin

    return fit


def em(cell: Cell) -> Rows:
    """Time EM from the same initialisation."""
    X, init = engines.draw(cell.N, cell.m, cell.K, cell.dtype, clusters=cell.clusters)
    request = Request(cell.K, 1, 0, 1e-6, 0, THREADS, init)

    def fit(name: str, n_iter: int) -> tuple[float, Any]:
        fitted = ENGINES[name].fit(X, replace(request, em_iter=n_iter))
        return fitted.seconds, fitted.parameters

    return compare(cell, fit, "log_likelihood", partial(engines.mean_log_likelihood, X[:CHECKED_SAMPLES]))


def kmeans(cell: Cell) -> Rows:
    """Time whole fits of k-means from the same centres."""
    X, (_, centres, _) = engines.draw(cell.N, cell.m, cell.K, cell.dtype)
    centres = centres.astype(cell.dtype)

    def fit(name: str, n_iter: int) -> tuple[float, float]:
        begin = perf_counter()
        inertia = KMEANS[name](X, centres, n_iter) if n_iter else 0.0
        return (perf_counter() - begin) * (n_iter > 0), inertia / len(X)

    return compare(cell, fit, "mean_inertia", float)


def compare(
    cell: Cell,
    fit: Callable[[str, int], tuple[float, Any]],
    quantity: str,
    of_result: Callable[[Any], float],
) -> Rows:
    """Time implementations in turns. One that fails, or whose quantity differs from ours, has only a note."""
    fits: dict[str, Fit] = {}
    rows: Rows = []
    for name in cell.names:
        row = cell.labels() | {"engine": name, "version": ENGINES[name].version(), "note": None}
        rows.append(row)
        try:
            if row["version"] is None:
                raise ImportError(f"not installed: {ENGINES[name].install}")
            row[quantity] = of_result(fit(name, max(cell.iterations))[1])  # also warms up
            found, ours = row[quantity], rows[0][quantity]
            # mlpack's binding starts from its own k-means.
            if name != "mlpack" and not abs(found - ours) <= AGREEMENT:
                raise ValueError(f"other result: {quantity} {found:.6f}, not {ours:.6f}")
            fits[name] = lambda n, name=name: fit(name, n)[0]
        except Exception as error:
            if name == cell.names[0]:
                raise
            row["note"] = (str(error).strip() or type(error).__name__).splitlines()[0]
    times = interleaved(fits, cell.iterations)
    for row in rows:
        if (name := row["engine"]) in times:
            row |= {"rounds": len(times[name])} | summary("seconds_per_iteration", times[name])
            row |= summary("ratio", times[name] / times[cell.names[0]][: len(times[name])])
    return rows


def classes(cell: Cell) -> Rows:
    """Time the model of Table 1 of Pulford (2022) on a data set, beside the paper and an implementation without classes."""
    path = "config/config.yaml"
    study = load_study(read_mapping(path), [path])
    entry = study.experiments["table1"]["data_sets"][cell.size]
    name = entry["paper"]["setting"]
    method = next(method for method, how in entry["methods"].items() if name in how["settings"])
    setting, seed = study.settings[cell.size, method, name], study.config.seed
    drawn = feature_store.names(setting.spec, ["all"], [0])
    arrays = features.prepare(cell.size, setting.spec, drawn, seed)
    trial = next(splits.trials(cell.size, setting.spec, arrays, ["all"], [0], seed))
    X = trial.X_train[:, : setting.n_features]
    labels = {"part": "classes", "dataset": cell.size, "N": len(X), "K": setting.params["n_components"]}
    labels |= {"dtype": str(X.dtype), "threads": THREADS, "rounds": ROUNDS}
    params = setting.params | {"random_state": seed, "n_jobs": THREADS}
    return [labels | row for row in compare_with_classes(X, trial.y_train, params, PAPER_SECONDS[cell.size])]


def compare_with_classes(
    X: Array, y: Array, params: Mapping[str, Any], paper_seconds: float, engine: str = "oneDAL"
) -> Rows:
    """Time a model beside the paper, and its first feature block, by initialisation, beside another implementation."""
    block, K = np.ascontiguousarray(X[:, : X.shape[1] // params["n_blocks"]]), params["n_components"]
    models = {"": MODELS["pskem"].build(**params)}
    models |= {
        init: MODELS["pskem"].build(**params | {"n_blocks": 1, "init_params": init})
        for init in ("uniform", "class")
    }
    fits = {init: fit_of(model, block if init else X, y) for init, model in models.items()}
    for fit in fits.values():  # warms up
        fit(10)
    init = engines.initial_parameters(block, K, np.random.default_rng(0))
    request, notes = Request(K, 1, 10, 1e-6, 0, THREADS, init), []

    def other(n_iter: int) -> float:
        fitted, note = engines.attempt(ENGINES[engine], block, replace(request, em_iter=n_iter))
        notes.append(note)
        return fitted.seconds if fitted else np.nan

    other(10)
    found, rows = interleaved(fits | {engine: other}, (2, 10)), []
    note = max(notes)  # a covariance may be ill-conditioned in some of the fits only
    for init, model in models.items():
        row = {"init": init, "m": (block if init else X).shape[1], "dtype_used": model.dtype_used_}
        row |= {"other": engine if init else "the paper", "note": note if init and note else None}
        theirs = found[engine] if init else np.full(ROUNDS, paper_seconds)
        row |= summary("seconds_per_iteration", found[init]) | summary("other_seconds", theirs)
        rows.append(row | summary("ratio", theirs / found[init]))
    return rows


MEASURE = {"sizes": em, "scaling": em, "kmeans": kmeans, "classes": classes}


# Results


def exponents(scaling: pd.DataFrame) -> pd.DataFrame:
    """Slope of log seconds against log N, log K and log H per implementation.

    Over the upper half of the sizes: in the lower half, the constant cost of an iteration still shows.
    """
    rows = []
    measured = scaling[scaling["seconds_per_iteration"] > 0]  # noise can exceed small times
    for (axis, engine), table in measured.groupby(["size", "engine"], sort=False):
        size = table[axis] if axis != "m" else 1 + table["m"] + table["m"] * (table["m"] + 1) // 2
        upper = size >= size.median()
        if upper.sum() > 1:
            slope = np.polyfit(np.log(size[upper]), np.log(table["seconds_per_iteration"][upper]), 1)[0]
            name = "H" if axis == "m" else axis
            rows.append({"part": "exponents", "size": name, "engine": engine, "exponent": float(slope)})
    return pd.DataFrame(rows)


def collect(folder: Path) -> None:
    """Write all cells as two tables, and the figure of their scaling."""
    paths = [folder / "cells" / kind / f"{name}.csv" for kind in INSTRUCTIONS for name in cells(True)]
    table = pd.concat([read_table(path) for path in paths if path.exists()], ignore_index=True)
    of_classes = table["part"] == "classes"
    if of_classes.any():
        write_table(folder / "peers_classes.csv", table[of_classes].dropna(axis="columns", how="all"))
    peers = table[~of_classes].dropna(axis="columns", how="all")
    peers = pd.concat([peers, exponents(peers[peers["part"] == "scaling"])], ignore_index=True)
    write_table(folder / "peers.csv", peers)
    if "exponent" in peers:
        with style():
            save(plots.engine_scaling(peers), [folder / "peers.svg", folder / "peers.pdf"])


def measure(native: bool, instructions: str, pattern: str, folder: Path) -> None:
    """Measure the cells that have no file yet, in this process."""
    machine = environment.describe()
    labels = {
        "instructions": instructions,
        "processor": machine["machine"]["processor"],
        "versions": environment.versions(machine),
        "commit": machine["commit"],
    }
    for name, cell in cells(native).items():
        path = folder / "cells" / instructions / f"{name}.csv"
        if re.search(pattern, name) and not path.exists():
            print(f"{instructions}: {name}", flush=True)
            write_table(path, [row | labels for row in MEASURE[cell.part](cell)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", default="", help="regular expression of the cells to measure")
    parser.add_argument("--folder", type=Path, default=Path("results/peers"), help="folder of the results")
    parser.add_argument("--instructions", choices=INSTRUCTIONS, help=argparse.SUPPRESS)  # of this process
    options = parser.parse_args()
    if not any(re.search(options.cells, name) for name in cells(True)):
        parser.error(f"--cells {options.cells} matches none of {', '.join(cells(True))}")
    has_avx512 = binding.get_host_cpu_features().get("avx512f", False)
    if options.instructions:
        native = has_avx512 == (options.instructions == "AVX-512")
        with plain_errors():
            measure(native, options.instructions, options.cells, options.folder)
        return
    command = [sys.executable, "-m", "benchmarks.peers", *sys.argv[1:]]
    for instructions in INSTRUCTIONS if has_avx512 else ["AVX2"]:
        limits = INSTRUCTIONS[instructions] if has_avx512 else {}
        done = subprocess.run(
            [*command, f"--instructions={instructions}"], env=os.environ | limits, check=False
        )
        if done.returncode:
            sys.exit(done.returncode)
    collect(options.folder)


if __name__ == "__main__":
    main()
