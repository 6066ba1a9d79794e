"""Modules compiled by numba, imported on first use: an import takes a third of a second, in which Ctrl-C is deferred."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from skem.engine.threads import single_threaded


def _check_numba() -> None:
    """Refuse environment variables under which numba does not start, or does not compile, before half of it is imported."""
    threads = os.environ.get("NUMBA_NUM_THREADS", "1")
    if threads.strip().lstrip("+-").isdigit() and int(threads) < 1:
        raise RuntimeError(f"NUMBA_NUM_THREADS={threads}: numba needs at least 1 thread; unset the variable")
    from numba import config

    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise RuntimeError(
            "NUMBA_DISABLE_JIT is set: the loops of skem need numba's compiler; unset the variable"
        )


def _once(load: Callable[[], Any]) -> Callable[[], Any]:
    """Decorator of what imports a module and returns it."""

    @cache
    @wraps(load)
    def module() -> Any:
        with single_threaded():
            _check_numba()
            return load()

    return module


@_once
def kernels() -> Any:
    """The E-step's loops."""
    from skem.engine import kernels

    return kernels


@_once
def matrices() -> Any:
    """Factors of many small matrices, and the M-step."""
    from skem.engine import matrices

    return matrices


@_once
def nearest() -> Any:
    """The loops of k-means."""
    from skem.engine import nearest

    return nearest
