"""One fit of mlpack: ``python -m skem.repro.peers.mlpack_fit rows.npy options fitted.npz``; `from_kmeans` says why.

Options are those of ``mlpack.gmm_train``, as JSON.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter

import numpy as np


def main(rows: str, options: str, out: str) -> None:
    """Write weights (K,), means (K, m), covariances (K, m, m) and the seconds of the fit."""
    import mlpack

    X = np.load(rows)
    begin = perf_counter()
    output = mlpack.gmm_train(input_=X, copy_all_inputs=True, **json.loads(options))
    seconds = perf_counter() - begin
    fitted = output["output_model"].get_cpp_params()["GMM"]
    np.savez(
        out,
        weights=np.ravel(fitted["weights"]),
        means=np.stack([np.ravel(gaussian["mean"]) for gaussian in fitted["dists"]]),
        covariances=np.stack([gaussian["covariance"] for gaussian in fitted["dists"]]),
        seconds=seconds,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
