"""numba's cache on disk: of the code that runs, never of another revision, and unable to end a fit.

numba alone checks the file of a function, and none of the files whose constants, options and inlined functions are part of
the machine code. Two revisions of the library, or two versions of numba, would load each other's.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import FunctionCache

from skem.engine.warn import warn

MODULES = ("kernels", "matrices", "nearest", "parameters", "vectors")
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


@cache
def delete_outdated(folder: str) -> None:
    """Delete what other revisions of the library left in a folder of numba's, once per process."""
    with suppress(OSError):
        for path in Path(folder).iterdir():
            ours = path.suffix in (".nbi", ".nbc") and path.name.split(".")[0] in MODULES
            if ours and code_key() not in path.name and time.time() - path.stat().st_mtime > OUTDATED:
                path.unlink(missing_ok=True)


class TolerantCache(FunctionCache):
    """The cache of one compiled function. A failure to read or write is one warning per process."""

    def __init__(self, function: Callable) -> None:
        name = function.__qualname__
        try:
            # The files are named for it.
            function.__qualname__ = f"{name}.{code_key()}"
            super().__init__(function)
        finally:
            function.__qualname__ = name
        # Of two processes that compile at once, one would write its code to the file of the other's.
        files = self._cache_file
        files._data_name_pattern = files._data_name_pattern.replace(".{number", f".{os.getpid()}-{{number")
        delete_outdated(self.cache_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
            if found is None:
                _announce()
            return found
        except Exception:  # damaged bytes break a pickle or an object file in any way
            _warn_once(self.cache_path, "has damaged files, which are compiled and written again")
            with suppress(OSError):
                self.flush()  # a damaged index would prevent the next save
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # a full disk, no permission, or an index damaged since it was read
            _warn_once(
                self.cache_path, f"cannot be written, so each process compiles for half a minute: {error}"
            )


@cache
def _announce() -> None:
    """Say once per process why the first fit takes long; ``logging.getLogger("skem").setLevel("ERROR")`` switches it off."""
    logging.getLogger("skem").warning(
        "skem compiles its loops for this processor, which takes some ten seconds, once per installation "
        "(ahead of time: python -m skem.warm_up)"
    )


@cache
def _warn_once(folder: str, problem: str) -> None:
    warn(
        f"numba's cache in {folder} {problem}. NUMBA_CACHE_DIR names another folder.",
        RuntimeWarning,
    )
