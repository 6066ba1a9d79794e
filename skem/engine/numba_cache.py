"""Machine code on disk, by numba: its files are named for the code of all compiled modules and for the compiler.

numba alone checks the file of a function, and none of the files whose constants, options and inlined functions are part of
the machine code. Two revisions of the library, or two versions of numba, would load each other's.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba

MODULES = ("kernels", "components", "factors", "nearest", "pass_loop", "parameters")
"""Modules of this folder that are compiled, or whose constants are."""

OUTDATED = 30 * 24 * 60 * 60
"""Age in seconds at which the files of other revisions are deleted: a branch switch and back compiles nothing."""


@cache
def code_key() -> str:
    """Hash of all that machine code is made of, but for the processor, which numba checks."""
    options = (numba.config.OPT, numba.config.LOOP_VECTORIZE, numba.config.SLP_VECTORIZE)  # type: ignore[attr-defined]
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {options}".encode())
    for name in MODULES:
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.hexdigest()[:12]


def cached(function: Callable, **options: Any) -> Any:
    """Compile a function when it is called, and keep the machine code where numba keeps it.

    It is not kept if neither the folder of the library nor that of the user's cache can be written to.
    """
    name = function.__qualname__
    try:
        function.__qualname__ = f"{name}.{code_key()}"
        dispatcher = numba.njit(cache=True, **options)(function)
    except (RuntimeError, OSError):
        return numba.njit(**options)(function)
    finally:
        function.__qualname__ = name
    with suppress(AttributeError):
        # Of two processes that compile at once, one would write its signature's code to the file of the other's.
        files = dispatcher._cache._cache_file
        files._data_name_pattern = files._data_name_pattern.replace(".{number", f".{os.getpid()}-{{number")
    delete_outdated(dispatcher.stats.cache_path)
    return dispatcher


@cache
def delete_outdated(folder: str) -> None:
    """Delete what other revisions of the library left in a folder of numba's, once per process."""
    with suppress(OSError):
        for path in Path(folder).iterdir():
            ours = path.suffix in (".nbi", ".nbc") and path.name.split(".")[0] in MODULES
            if ours and code_key() not in path.name and time.time() - path.stat().st_mtime > OUTDATED:
                path.unlink(missing_ok=True)
