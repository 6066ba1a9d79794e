"""The one place that sets every thread pool.

The engine cuts its data into chunks and hands them to its own workers, so BLAS and OpenMP have to keep
to one thread meanwhile: on a loaded machine two layers of threads made one pass fifty times slower.
``threadpoolctl`` sets limits of the whole process, and two of them that overlap in time restore each other's
values; so there is one limit here, counted and guarded by a lock. Limits of OpenMP are a thread's own, and
so each thread sets them for itself.

Ctrl-C waits where this module enters or leaves something, see ``interrupts``. Work in other threads, which it does not
reach, ends with its next pass.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Generic, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController, threadpool_limits

from skem.engine.interrupts import in_main_thread, sigint, uninterrupted

Item = TypeVar("Item")
Result = TypeVar("Result")

CACHE_LINE = 64
"""Bytes of a line of the cache. Vectors of AVX-512 are as long: where they lie across two lines, loops take half as long again."""

INTERRUPT_SECONDS = 0.05
"""How long Ctrl-C has to wait at most for a thread that waits for another."""

_lock = threading.Lock()
_users = 0
_limits: Any = None
_max_workers: int | None = None


class _Thread(threading.local):
    """How often this thread is inside `single_threaded`, the limits it set for itself, and what it works on."""

    depth = 0
    limits: Any = None
    work: _Shared | None = None


_thread = _Thread()


@cache
def _controller() -> ThreadpoolController:
    # Looking for the loaded libraries takes milliseconds, a pass on a small data set less.
    return ThreadpoolController()


@cache
def _libraries_of_a_thread() -> ThreadpoolController:
    """The libraries whose limits are a thread's own."""
    return _controller().select(user_api="openmp", threading_layer="openmp")


@cache
def _libraries_of_the_process() -> ThreadpoolController:
    of_a_thread = _libraries_of_a_thread().lib_controllers
    return _controller().select(
        filepath=[library.filepath for library in _controller().lib_controllers if library not in of_a_thread]
    )


def _take_control() -> None:
    """Make threadpoolctl listen to this thread: from 3.8 on, only the first thread that set OpenBLAS's limits can.

    All others do so without effect, for as long as that thread lives and does not give the right away.
    """
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


class Scratch(threading.local):
    """Memory that a thread works in again and again: what is asked for anew is handed out page by page."""

    _memory: np.ndarray | None = None

    def empty(self, size: int, dtype: np.dtype) -> np.ndarray:
        """A vector with any content; it is the one handed out before, if that was as long. It begins with a line of the cache."""
        if self._memory is None or self._memory.size < size or self._memory.dtype != dtype:
            memory = np.empty(size * dtype.itemsize + CACHE_LINE, np.uint8)
            first = -memory.ctypes.data % CACHE_LINE
            self._memory = memory[first : first + size * dtype.itemsize].view(dtype)
        return self._memory[:size]


class Cancelled(BaseException):
    """Ends work whose results nobody waits for any more."""


class _SingleThreaded:
    @uninterrupted
    def __enter__(self) -> None:
        global _users, _limits
        if _thread.depth == 0:
            if in_main_thread():
                sigint.take()
            with _lock:
                if _users == 0:
                    _take_control()
                    _limits = _libraries_of_the_process().limit(limits=1)
                _users += 1
            _thread.limits = _libraries_of_a_thread().limit(limits=1)
        _thread.depth += 1
        try:
            sigint.handle_waiting()
        except BaseException:
            self.__exit__()
            raise

    @uninterrupted
    def __exit__(self, *exception: object) -> None:
        global _users
        _thread.depth -= 1
        if _thread.depth == 0:
            _thread.limits.restore_original_limits()
            with _lock:
                _users -= 1
                if _users == 0:
                    _take_control()
                    _limits.restore_original_limits()
                    _take_control()  # and give it back, to whichever thread sets limits next
            if in_main_thread():
                sigint.let_go()
        sigint.handle_waiting()


_single_threaded = _SingleThreaded()


def single_threaded() -> AbstractContextManager[None]:
    """Hold BLAS and OpenMP at one thread; the first caller in sets the limit, the last one out restores it."""
    return _single_threaded


def limit_process(n_workers: int = 1) -> None:
    """Keep this process to ``n_workers`` threads from now on.

    BLAS and OpenMP are set to one thread, because two BLAS threads change the last bits of a result; the
    library's own workers, which do not, may use all ``n_workers``.

    Parameters
    ----------
    n_workers : int
        How many threads a fit may use at most, whatever its ``n_jobs``.
    """
    global _max_workers, _users
    if n_workers < 1:
        raise ValueError(f"n_workers must be at least 1, got {n_workers}")
    threadpool_limits(limits=1)
    # As if this thread had entered `single_threaded` and never left: setting limits costs as much as a small product.
    _thread.depth += 1
    with _lock:
        _users += 1
    _max_workers = n_workers


class _Shared(Generic[Item, Result]):
    """Items that several threads work on, each taking the next one; results are handed out in order.

    No more than two items per thread are begun and not handed out, so memory does not grow with the items.
    """

    def __init__(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        pool: ThreadPoolExecutor,
        n_helpers: int,
    ) -> None:
        self._function, self._items = function, items
        self._pool, self._n_helpers = pool, n_helpers
        self._ahead = 2 * (n_helpers + 1)
        self._begun = self._handed = 0
        self._results: dict[int, Result] = {}
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self.closed = False

    def _take(self) -> int | None:
        """The place of an item to work on, if there is one now."""
        if self._begun >= min(len(self._items), self._handed + self._ahead):
            return None
        self._begun += 1
        return self._begun - 1

    def _put(self, place: int) -> None:
        _thread.work = self
        self._keep(place, self._function(self._items[place]))

    @uninterrupted
    def _keep(self, place: int, result: Result) -> None:
        with self._changed:
            self._results[place] = result
            self._changed.notify_all()
        sigint.handle_waiting()

    def _help(self) -> None:
        """Work until nothing is left to begin."""
        try:
            while True:
                with self._changed:
                    while (place := self._take()) is None:
                        if self._begun == len(self._items):
                            return
                        self._changed.wait()
                self._put(place)
        except BaseException as error:
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def result(self, place: int) -> Result:
        """The result of one place after the other; who waits for it helps."""
        while True:
            other = self._next(place)
            if other is not None:
                self._put(other)
            elif place in self._results:
                return self._hand_out(place)

    @uninterrupted
    def _next(self, place: int) -> int | None:
        """The place of an item to work on while ``place`` has no result; else, or after a while, None."""
        with self._changed:
            if self._error is not None:
                raise self._error
            other = None
            if place not in self._results:
                other = self._take()
                if other is None:
                    self._changed.wait(INTERRUPT_SECONDS)
        sigint.handle_waiting()
        return other

    @uninterrupted
    def _hand_out(self, place: int) -> Result:
        with self._changed:
            self._handed = place + 1
            self._changed.notify_all()
        _thread.work = self._outer
        sigint.handle_waiting()
        return self._results.pop(place)

    @uninterrupted
    def __enter__(self) -> Self:
        self._outer = _thread.work
        self._helpers = [self._pool.submit(self._help) for _ in range(self._n_helpers)]
        return self

    @uninterrupted
    def __exit__(self, *exception: object) -> None:
        """Begin nothing more, and wait for what is under way: that ends at its next pass."""
        with self._changed:
            self.closed = True
            self._begun = len(self._items)
            self._changed.notify_all()
        wait(self._helpers)
        _thread.work = self._outer
        sigint.handle_waiting()


def _go_on() -> None:
    """Raise `Cancelled` where this thread works on something that nobody waits for."""
    if _thread.work is not None and _thread.work.closed:
        raise Cancelled


class Workers:
    """A pool of threads with an ordered map; with one worker, no pool at all.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn: None is one worker, -1 one per core.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_workers = effective_n_jobs(n_jobs)
        if _max_workers is not None:
            self.n_workers = min(self.n_workers, _max_workers)
        if _thread.work is not None:
            self.n_workers = 1  # as one of several already
        # Who asks for the results is a worker too.
        self._pool = None
        if self.n_workers > 1:
            self._pool = ThreadPoolExecutor(
                self.n_workers - 1, initializer=lambda: _libraries_of_a_thread().limit(limits=1)
            )

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterable[Result]:
        """``function(item)`` in the order of ``items``, with BLAS and OpenMP at one thread.

        No more than two results per worker wait at any time, so memory does not grow with the items. Where this is itself
        part of the work of other threads, it ends in `Cancelled` once nobody waits for that.
        """
        if len(items) != 1:
            return self._map(function, items)
        # Of one item there is nothing to share, and asking others costs a pass on small data a seventh of its time.
        _go_on()
        with single_threaded():
            return [function(items[0])]

    def _map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        _go_on()
        with single_threaded():
            if self._pool is None:
                yield from map(function, items)
                return
            with _Shared(function, items, self._pool, self.n_workers - 1) as shared:
                for place in range(len(items)):
                    yield shared.result(place)

    def __enter__(self) -> Self:
        return self

    @uninterrupted
    def __exit__(self, *exception: object) -> None:
        """End the threads; what is still running is waited for."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        sigint.handle_waiting()
