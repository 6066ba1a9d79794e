"""One fit of mlpack: ``python -m skem.repro.peers.mlpack_fit rows.npy options fitted.npz``; `from_kmeans` says why.

Options are those of ``mlpack.gmm_train``, as JSON.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray


def mixture(output: dict[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Weights (K,), means (K, m) and covariances (K, m, m) of what ``mlpack.gmm_train`` returns."""
    fitted = output["output_model"].get_cpp_params()["GMM"]
    return (
        np.ravel(fitted["weights"]),
        np.stack([np.ravel(gaussian["mean"]) for gaussian in fitted["dists"]]),
        np.stack([gaussian["covariance"] for gaussian in fitted["dists"]]),
    )


def main(rows: str, options: str, out: str) -> None:
    """Write weights, means, covariances and the seconds of the fit."""
    import mlpack

    X = np.load(rows)
    begin = perf_counter()
    output = mlpack.gmm_train(input_=X, copy_all_inputs=True, **json.loads(options))
    seconds = perf_counter() - begin
    weights, means, covariances = mixture(output)
    np.savez(out, weights=weights, means=means, covariances=covariances, seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
