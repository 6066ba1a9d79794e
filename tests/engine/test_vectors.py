"""A fit has the same bits whatever the width of vector registers, and whatever processor numba, BLAS and NumPy take for this one."""

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

import skem
from skem import DiscriminativePSKEMClassifier, GaussianMixture, SKEMClassifier
from skem.engine import vectors


def models():
    """Fits in both types with an odd number of features; classes share components, and fill no tile."""
    X, y = load_wine(return_X_y=True)
    missing = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    options = {"max_iter": 8, "random_state": 0}
    forms = (np.float32, "full"), (np.float64, "diag"), (np.float64, "tied"), (np.float32, "spherical")
    for dtype, covariance_type in forms:
        model = SKEMClassifier(6, init_params="sample", covariance_type=covariance_type, **options)
        yield model.fit(X.astype(dtype), y)
        assert model.dtype_used_ == np.dtype(dtype).name
    for covariance_type in ("full", "diag"):
        yield SKEMClassifier(6, covariance_type=covariance_type, **options).fit(missing, y)
    yield GaussianMixture(4, init_params="kmeans", **options).fit(X)
    # Doubles the number of components.
    yield DiscriminativePSKEMClassifier(discriminative_iter=3, **options).fit(X, y)


def digests():
    for model in models():
        arrays = [model.log_likelihood_ if hasattr(model, "log_likelihood_") else 0.0]
        for block in getattr(model, "blocks_", [model]):
            arrays += [
                getattr(block, f"{name}{'_' * (block is model)}")
                for name in ("weights", "means", "covariances")
            ]
        yield hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def features_of_numpy():
    """Processor features, present in this one, with which NumPy has other loops."""
    from numpy._core import _multiarray_umath as loops

    return [name for name in loops.__cpu_dispatch__ if loops.__cpu_features__.get(name)]


@pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64") or not vectors.HAS_FMA,
    reason="needs an x86 processor with fused multiply-adds, to take it for another one",
)
def test_a_fit_has_the_same_bits_with_other_vectors_and_for_another_processor(tmp_path):
    environment = os.environ | {
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CACHE_DIR": str(tmp_path),
        "OPENBLAS_CORETYPE": "Sandybridge",
        "NPY_DISABLE_CPU_FEATURES": " ".join(features_of_numpy()),
        "PYTHONPATH": str(Path(skem.__file__).parents[1]),
    }
    command = [sys.executable, __file__, str({32: 64, 64: 32}[vectors.BYTES])]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == list(digests())


if __name__ == "__main__":
    # Before kernels are imported, which compile with it.
    vectors.BYTES, vectors.HALVES = int(sys.argv[1]), 64 // int(sys.argv[1])
    print(*digests())
