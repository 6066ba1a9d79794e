"""Time Gaussian mixtures on a GPU beside the CPU of the same machine, and compare their results.

    SCIPY_ARRAY_API=1 python benchmarks/device.py --output DIR

writes DIR/device.csv and DIR/device.md, in about four minutes. Fits of a size begin with the same parameters. Seconds per
iteration are the difference between a long and a short fit, so checks and the copy to the host do not count. Implementations
take turns within rounds; results are medians over the rounds after the first.
"""

import argparse
import warnings
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import torch
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as ScikitLearnMixture

from skem import GaussianMixture
from skem.repro import environment
from skem.repro.files import write_table, write_text

SIZES = [(60_000, 15, 100), (30_000, 36, 40), (1_000_000, 15, 100), (200_000, 64, 64)]
SMALL_SIZES = [(2_000, 4, 5), (3_000, 6, 4)]
SHORT, LONG, ROUNDS = 2, 10, 5
SECONDS = 200
"""Time for all sizes. Sizes share the time that is left, so a slow machine has fewer rounds."""
CPU = "skem, NumPy on all cores"


def draw(n, m, K):
    """Samples (n, m) of K Gaussians that overlap, for which float32 is exact enough; the first K are of different ones."""
    rng = np.random.default_rng(0)
    k, scales, means = np.arange(n) % K, rng.uniform(0.7, 1.4, (K, m)), 6 / m**0.5 * rng.normal(size=(K, m))
    return rng.normal(size=(n, m)) * scales[k] + means[k]


def implementations(X, K, dtype, device):
    """Samples and an estimator by name. Initial means are the first K samples, covariances that of all samples."""
    covariances = np.tile(np.cov(X.T), (K, 1, 1))
    arrays = (X, np.full(K, 1 / K), X[:K], covariances, np.linalg.inv(covariances))
    host = [array.astype(dtype) for array in arrays]
    there = [torch.asarray(array, device=device) for array in host]
    init = {"weights_init": there[1], "means_init": there[2], "precisions_init": there[4]}
    theirs = ScikitLearnMixture(K, tol=0.0, init_params="random", **init)
    return {
        CPU: (host[0], GaussianMixture(K, init_params=tuple(host[1:4]), tol=0.0, n_jobs=-1)),
        f"skem, torch on {device}": (there[0], GaussianMixture(K, init_params=tuple(there[1:4]), tol=0.0)),
        f"scikit-learn, torch on {device}": (there[0], theirs),
    }


def timed(function, X):
    """Seconds until the device has finished, and the result."""
    begin = perf_counter()
    result = function(X)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return perf_counter() - begin, result


def one_round(X, model):
    """Times, log-densities and predictions of an implementation."""
    short = timed(model.set_params(max_iter=SHORT).fit, X)[0]
    long = timed(model.set_params(max_iter=LONG).fit, X)[0]
    (predict, predictions), (score, densities) = timed(model.predict, X), timed(model.score_samples, X)
    times = {"seconds_per_iteration": (long - short) / (LONG - SHORT), "fit_seconds": long}
    times |= {"predict_seconds": predict, "score_samples_seconds": score}
    densities, predictions = (torch.asarray(array).cpu().numpy() for array in (densities, predictions))
    return times, densities.astype(np.float64), predictions


def measure(cases, budget):
    """A row per implementation; one that fails has its error instead of values."""
    rounds, errors, stop = {name: [] for name in cases}, {}, np.inf
    for turn in range(ROUNDS + 1):
        in_time = turn <= 1 or perf_counter() < stop
        for name in [name for name in cases if in_time and name not in errors]:
            try:
                rounds[name].append(one_round(*cases[name]))
            except Exception as error:  # Rows of the others are still of use.
                errors[name] = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        stop = stop if turn else perf_counter() + budget
    return [
        {"implementation": name} | (errors.get(name) or summary(model, rounds[name], rounds[CPU]))
        for name, (_, model) in cases.items()
    ]


def summary(model, rounds, of_cpu):
    """Medians over the rounds after the first, and differences from the results of the CPU."""
    times, cpu_times = (pd.DataFrame([one[0] for one in each[1:]]) for each in (rounds, of_cpu))
    (_, densities, predictions), (_, cpu_densities, cpu_predictions) = rounds[-1], of_cpu[-1]
    return {
        "dtype_used": getattr(model, "dtype_used_", ""),
        "rounds": len(times),
        **times.median(),
        "speedup_per_iteration": (cpu_times / times)["seconds_per_iteration"].median(),
        "log_likelihood": densities.mean(),
        "log_likelihood_difference": abs(densities.mean() - cpu_densities.mean()),
        "largest_density_difference": np.abs(densities - cpu_densities).max(),
        "different_predictions": np.count_nonzero(predictions != cpu_predictions),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", required=True, type=Path, help="directory of device.csv and device.md")
    parser.add_argument("--device", default="cuda", help="device of PyTorch; cpu for a trial without a GPU")
    parser.add_argument("--small", action="store_true", help="tiny sizes")
    parser.add_argument("--commit", help="commit to record where there is no git")
    options = parser.parse_args()
    if options.device != "cpu" and not torch.cuda.is_available():
        parser.exit(2, "No CUDA device is available; --device cpu tries this script without one.\n")
    machine = environment.describe()
    labels = {
        "processor": f"{machine['machine']['processor']}, {machine['machine']['cores']} cores",
        "gpu": "none" if options.device == "cpu" else torch.cuda.get_device_name(options.device),
        "versions": f"{environment.versions(machine)}, torch {torch.__version__}, CUDA {torch.version.cuda}",
        "commit": options.commit or machine["commit"],
    }
    cases = list(product(SMALL_SIZES if options.small else SIZES, ("float32", "float64")))
    rows, deadline = [], perf_counter() + SECONDS
    for i, ((n, m, K), dtype) in enumerate(cases):
        left = deadline - perf_counter()
        print(f"{n} x {m}, K={K}, {dtype}; {left:.0f} s left", flush=True)
        try:
            if left < 0:
                raise TimeoutError(f"{SECONDS} s were over")
            part = measure(implementations(draw(n, m, K), K, dtype, options.device), left / (len(cases) - i))
        except Exception as error:  # Rows of other sizes are still of use.
            part = [{"error": f"{type(error).__name__}: {error}"}]
        print(pd.DataFrame(part).T.to_string(header=False), flush=True)
        rows += [{"n_samples": n, "n_features": m, "n_components": K, "dtype": dtype} | row for row in part]
        write_table(options.output / "device.csv", [row | labels for row in rows])
        lines = [f"- {name}: {value}" for name, value in labels.items()]
        text = pd.DataFrame(rows).to_markdown(index=False, floatfmt=".3g")
        write_text(options.output / "device.md", "\n".join([*lines, "", text, ""]))


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    with config_context(array_api_dispatch=True):
        main()
