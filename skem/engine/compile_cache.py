"""numba's cache on disk, made unable to end a fit: damaged entries are compiled again, and a full disk is survived."""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import cache
from typing import Any

from numba.core.caching import FunctionCache


class TolerantCache(FunctionCache):
    """The cache of one compiled function. A failure to read or write is one warning per process."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
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
def _warn_once(folder: str, problem: str) -> None:
    warnings.warn(
        f"numba's cache in {folder} {problem}. NUMBA_CACHE_DIR names another folder.",
        RuntimeWarning,
        stacklevel=2,
    )
