"""The modules that numba compiles, imported where they are first needed: that takes a third of a second.

Ctrl-C waits meanwhile. In the middle of an import it would leave half of numba behind, and every later fit would fail.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from skem.engine.interrupts import sigint, uninterrupted
from skem.engine.threads import single_threaded


@uninterrupted
def _whole(load: Callable[[], Any]) -> Any:
    module = load()
    sigint.handle_waiting()
    return module


@cache
def kernels() -> Any:
    """The E-step's loops."""

    def load() -> Any:
        from skem.engine import kernels

        return kernels

    with single_threaded():
        return _whole(load)


@cache
def pass_loop() -> Any:
    """Several passes on little data."""

    def load() -> Any:
        from skem.engine import pass_loop

        return pass_loop

    with single_threaded():
        return _whole(load)


@cache
def factors() -> Any:
    """What fine-tuning does with the factors of precisions."""

    def load() -> Any:
        from skem.engine import factors

        return factors

    with single_threaded():
        return _whole(load)


@cache
def components() -> Any:
    """What every pass does with the parameters of components, and factors of many small matrices."""

    def load() -> Any:
        from skem.engine import components

        return components

    with single_threaded():
        return _whole(load)


@cache
def nearest() -> Any:
    """The loops of k-means."""

    def load() -> Any:
        from skem.engine import nearest

        return nearest

    with single_threaded():
        return _whole(load)
