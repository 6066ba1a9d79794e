"""Which instructions of the processor the libraries use."""

from __future__ import annotations

from typing import Any

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

_BEYOND_AVX2 = [name for name in __cpu_dispatch__ if name == "X86_V4" or name.startswith("AVX512")]

WITHOUT_AVX512 = [
    "OPENBLAS_CORETYPE=Haswell",
    f"NPY_DISABLE_CPU_FEATURES='{' '.join(_BEYOND_AVX2)}'",
    # Without the second numba takes the features of the processor all the same.
    "NUMBA_CPU_NAME=haswell",
    "NUMBA_CPU_FEATURES=",
    "MKL_ENABLE_INSTRUCTIONS=AVX2",
]
"""Variables that keep OpenBLAS, NumPy, numba and MKL from AVX-512. They are read once, when a process starts. oneDAL has none
for its own loops, only for the matrix products, which are MKL's."""


def numpy_instructions() -> str:
    """The widest instructions that NumPy uses in this process: "AVX-512", "AVX2", or "" on other processors."""
    features: dict[str, Any] = __cpu_features__
    for name, found in (
        ("AVX-512", any(features.get(feature) for feature in _BEYOND_AVX2)),
        ("AVX2", features.get("AVX2")),
    ):
        if found:
            return name
    return ""
