"""A fit has the same bits whatever the width of vector registers, and whatever processor numba and BLAS take for this one."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine

import skem
from skem import SKEMClassifier
from skem.engine import vectors


def digests():
    """Of fits in both types with an odd number of features; classes share components, and fill no tile."""
    X, y = load_wine(return_X_y=True)
    for dtype, covariance_type in ((np.float32, "full"), (np.float64, "diag")):
        model = SKEMClassifier(
            6, init_params="sample", covariance_type=covariance_type, max_iter=8, random_state=0
        )
        model.fit(X.astype(dtype), y)
        assert model.dtype_used_ == np.dtype(dtype).name
        arrays = model.means_, model.covariances_, model.weights_, model.objective_
        yield hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def test_a_fit_has_the_same_bits_with_other_vectors_and_for_another_processor(tmp_path):
    environment = os.environ | {
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CACHE_DIR": str(tmp_path),
        "OPENBLAS_CORETYPE": "Sandybridge",
        "PYTHONPATH": str(Path(skem.__file__).parents[1]),
    }
    command = [sys.executable, __file__, str({32: 64, 64: 32}[vectors.BYTES])]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == list(digests())


if __name__ == "__main__":
    # Before kernels are imported, which compile with it.
    vectors.BYTES, vectors.HALVES = int(sys.argv[1]), 64 // int(sys.argv[1])
    print(*digests())
