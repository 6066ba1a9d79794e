"""A fit has the same bits whatever the width of vector registers, and whatever processor numba compiles for."""

import hashlib
import os
import subprocess
import sys

import numpy as np
from sklearn.datasets import load_iris

from skem import SKEMClassifier
from skem.engine import vectors


def digest():
    X, y = load_iris(return_X_y=True)
    model = SKEMClassifier(4, init="sample", max_iter=5, random_state=0).fit(X.astype(np.float32), y)
    assert model.dtype_used_ == "float32"
    arrays = model.means_, model.covariances_, model.weights_, model.objective_
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def test_a_fit_has_the_same_bits_with_other_vectors_and_for_another_processor(tmp_path):
    other = {32: 64, 64: 32}[vectors.BYTES]
    environment = os.environ | {"NUMBA_CPU_NAME": "haswell", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, __file__, str(other)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == [digest()]


if __name__ == "__main__":
    # Before kernels are imported, which compile with it.
    vectors.BYTES, vectors.HALVES = int(sys.argv[1]), 64 // int(sys.argv[1])
    print(digest())
