"""Warnings that point to the user's call: the line outside skem and the packages that call it."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

INNER = {"skem", "sklearn", "joblib", "numba", "contextlib"}
"""Packages whose frames are not the user's."""

Warnings = list[tuple[str, type[Warning]]]


class _Thread(threading.local):
    deferred: Warnings | None = None


_thread = _Thread()


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the line of the user's call; in a task of `Workers`, the thread that asked for the task warns."""
    if _thread.deferred is not None:
        _thread.deferred.append((message, category))
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in INNER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def deferring() -> Iterator[Warnings]:
    """Collect the warnings of this thread for another one to issue."""
    deferred: Warnings = []
    _thread.deferred = deferred
    try:
        yield deferred
    finally:
        _thread.deferred = None
