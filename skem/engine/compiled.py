"""The modules that numba compiles, imported where they are first needed: that takes a third of a second.

Ctrl-C waits meanwhile. In the middle of an import it would leave half of numba behind, and every later fit would fail.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from skem.engine.interrupts import sigint, uninterrupted
from skem.engine.threads import single_threaded


@uninterrupted
def _whole(load: Callable[[], Any]) -> Any:
    _check_numba()
    module = load()
    sigint.handle_waiting()
    return module


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
            return _whole(load)

    return module


@_once
def kernels() -> Any:
    """The E-step's loops."""
    from skem.engine import kernels

    return kernels


@_once
def pass_loop() -> Any:
    """Several passes on little data."""
    from skem.engine import pass_loop

    return pass_loop


@_once
def factors() -> Any:
    """What fine-tuning does with the factors of precisions."""
    from skem.engine import factors

    return factors


@_once
def components() -> Any:
    """What every pass does with the parameters of components, and factors of many small matrices."""
    from skem.engine import components

    return components


@_once
def nearest() -> Any:
    """The loops of k-means."""
    from skem.engine import nearest

    return nearest
