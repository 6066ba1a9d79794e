"""EM for Gaussian mixtures by mlpack, called as `fit_by_program` in skem/repro/papers/sanderson2017/engines.py says."""

import sys
from pathlib import Path
from time import perf_counter

import mlpack
import numpy as np

model, folder, (n, m, k, iterations, kmeans, seed) = sys.argv[1], Path(sys.argv[2]), map(int, sys.argv[3:9])
# The binding ignores seeds and initial parameters: the order of the samples varies its k-means.
X = np.fromfile(folder / "data").reshape(n, m)[np.random.default_rng(seed).permutation(n)]
begin = perf_counter()
try:
    fitted = mlpack.gmm_train(
        input_=X,
        gaussians=k,
        kmeans_max_iterations=kmeans or 1,
        max_iterations=iterations,
        seed=1,  # zero is the time of day
        no_force_positive=model == "unclamped",
        copy_all_inputs=True,
    )["output_model"].get_cpp_params()["GMM"]
except RuntimeError as error:
    sys.exit(
        "mlpack stopped, probably at a singular covariance" if "Log::Fatal" in str(error) else str(error)
    )
seconds = perf_counter() - begin
gaussians = fitted["dists"]
parameters = [fitted["weights"], *(g["mean"] for g in gaussians), *(g["covariance"] for g in gaussians)]
np.concatenate([np.ravel(a) for a in parameters]).tofile(folder / "fitted")
print(seconds)
