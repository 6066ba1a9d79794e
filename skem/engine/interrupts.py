"""Ctrl-C at the right moment.

It is an exception between any two instructions of the main thread, in the middle of setting a limit or of ending a thread,
too. So it waits while a function runs that has to be finished, and is handled at its end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_main_thread() -> bool:
    """Whether this is the thread that gets the signals."""
    return threading.current_thread() is threading.main_thread()


_uninterrupted: set[CodeType] = set()


def uninterrupted(function: Callable[..., Result]) -> Callable[..., Result]:
    """Decorator of what Ctrl-C has to wait for, within `single_threaded`; it ends with `sigint.handle_waiting`."""
    _uninterrupted.add(function.__code__)
    return function


class _Interrupts:
    """Stands between SIGINT and its handler: what comes in an `uninterrupted` function is handled at its end."""

    def __init__(self) -> None:
        self._handler: Any = None
        self._waiting = False

    def take(self) -> None:
        """From now on. Nothing comes in between: Python looks up the handler of a signal when it handles it."""
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler) and handler != self.handle:
            self._handler, self._waiting = handler, False
            signal.signal(signal.SIGINT, self.handle)

    def let_go(self) -> None:
        """Give SIGINT its handler back."""
        if signal.getsignal(signal.SIGINT) == self.handle:
            signal.signal(signal.SIGINT, self._handler)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGINT, or keep it until it can be."""
        caller = frame
        while caller is not None and caller.f_code not in _uninterrupted:
            caller = caller.f_back
        if caller is None:
            self._handler(number, frame)
        else:
            self._waiting = True

    def handle_waiting(self) -> None:
        """Handle what came meanwhile; nothing of other threads, which get no signals."""
        if self._waiting and in_main_thread():
            self._waiting = False
            self._handler(signal.SIGINT, None)


sigint = _Interrupts()
