"""Ctrl-C at safe points.

Python raises KeyboardInterrupt between any two instructions of the main thread: while a limit is set, a thread ends, or half of
numba is imported, after which every later fit fails. So SIGINT is noted during a fit, and handled at the next safe point.
"""

import signal
import threading
from types import FrameType
from typing import Any

_handler: Any = None
_noted = False


def _note(number: int, frame: FrameType | None) -> None:
    global _noted
    _noted = True


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()  # No other thread receives signals.


def defer() -> None:
    """Note SIGINT from now on."""
    global _handler, _noted
    handler = signal.getsignal(signal.SIGINT)
    if _in_main_thread() and callable(handler) and handler is not _note:
        _handler, _noted = handler, False
        signal.signal(signal.SIGINT, _note)


def resume() -> bool:
    """Give SIGINT back to its handler, and return True if it was deferred; the handler may have changed meanwhile."""
    deferred = _in_main_thread() and signal.getsignal(signal.SIGINT) is _note
    if deferred:
        signal.signal(signal.SIGINT, _handler)
        safe_point()
    return deferred


def safe_point() -> None:
    """Handle a SIGINT that was noted."""
    global _noted
    if _noted and _in_main_thread():
        _noted = False
        _handler(signal.SIGINT, None)
