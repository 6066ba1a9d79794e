"""The one place that sets every thread pool.

The engine cuts its data into chunks and hands them to its own workers, so BLAS and OpenMP have to keep
to one thread meanwhile: on a loaded machine two layers of threads made one pass fifty times slower.
``threadpoolctl`` sets limits of the whole process, and two of them that overlap in time restore each other's
values; so there is one limit here, counted and guarded by a lock. Limits of OpenMP are a thread's own, and
so each thread sets them for itself.

Ctrl-C waits where this module enters or leaves something, see ``interrupts``. The thread that needs results computes none
of them: it hands out tasks and waits, both in single C calls of `SimpleQueue`, which an exception leaves intact.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache, partial
from queue import SimpleQueue
from typing import Any, Generic, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController, threadpool_limits

from skem.engine.interrupts import in_main_thread, sigint, uninterrupted

Item = TypeVar("Item")
Result = TypeVar("Result")

CACHE_LINE = 64
"""Bytes of a line of the cache. Vectors of AVX-512 are as long: where they lie across two lines, loops take half as long again."""

_lock = threading.Lock()
_users = 0
_limits: Any = None
_max_workers: int | None = None


class _Thread(threading.local):
    """Depth of `single_threaded` in this thread, the limits it set for itself, and the work it is part of."""

    depth = 0
    limits: Any = None
    work: _OrderedResults | None = None


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


class _OrderedResults(Generic[Item, Result]):
    """Context manager: iterate over ``function(item)`` in the order of ``items``, computed by the threads of `Workers`.

    Leaving it ends the work. So clean-up does not wait until a suspended generator is collected, which a traceback can delay.
    """

    def __init__(
        self, function: Callable[[Item], Result], items: Sequence[Item], workers: Workers, n_threads: int
    ) -> None:
        self._function, self._items = function, items
        self._workers, self._n_threads = workers, n_threads
        self._n_begun = 0
        self._results: dict[int, Result] = {}
        self._ended: list[int] = []
        self._news: SimpleQueue[None] = SimpleQueue()
        self._error: BaseException | None = None
        self.stopped = False

    @uninterrupted
    def __enter__(self) -> Iterator[Result]:
        _single_threaded.__enter__()
        return self._in_order() if self._n_threads > 1 else self._one_by_one()

    def _one_by_one(self) -> Iterator[Result]:
        for item in self._items:
            go_on()
            yield self._function(item)

    def _in_order(self) -> Iterator[Result]:
        tasks = self._workers.started(self._n_threads)
        for place in range(len(self._items)):
            while self._n_begun < min(len(self._items), place + 2 * self._n_threads):
                tasks.put(partial(self._work, self._n_begun))
                self._n_begun += 1  # Counted last: `__exit__` waits for every counted task.
            while place not in self._results:
                self._news.get()
                if self._error is not None:
                    raise self._error
            yield self._results.pop(place)

    def _work(self, place: int) -> None:
        """Compute one result, in a thread of the workers."""
        _thread.work = self
        try:
            if not self.stopped:
                self._results[place] = self._function(self._items[place])
        except BaseException as error:
            self._error = error
        finally:
            _thread.work = None
            self._ended.append(place)
            self._news.put(None)

    @uninterrupted
    def __exit__(self, *exception: object) -> None:
        """Begin nothing more, and wait for the running work, which ends at its next chunk or iteration."""
        self.stopped = True
        while len(self._ended) < self._n_begun:
            self._news.get()
        self._error = None  # Its traceback refers to this object.
        _single_threaded.__exit__()


def go_on() -> None:
    """Raise `Cancelled` if the results of this thread are no longer needed."""
    if _thread.work is not None and _thread.work.stopped:
        raise Cancelled


def _run(tasks: SimpleQueue[Callable[[], None] | None]) -> None:
    """Run tasks until there is None."""
    _libraries_of_a_thread().limit(limits=1)
    while (task := tasks.get()) is not None:
        task()
        del task  # A waiting thread keeps no data alive.


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
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """All results, as from `imap`."""
        if len(items) == 1:  # `imap` takes 7 us more, a fiftieth of an iteration on 300 samples.
            go_on()
            with single_threaded():
                return [function(items[0])]
        with self.imap(function, items) as results:
            found = list(results)
        return found

    def imap(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> AbstractContextManager[Iterator[Result]]:
        """Context manager of an iterator over ``function(item)`` in the order of ``items``; BLAS and OpenMP have one thread.

        At most two results per worker wait at any time, so memory does not grow with the items. Work within a thread of
        workers is done by this thread, and ends in `Cancelled` once its results are no longer needed.
        """
        n_threads = 1 if _thread.work is not None else min(self.n_workers, len(items))
        return _OrderedResults(function, items, self, n_threads)

    @uninterrupted
    def started(self, n_threads: int) -> SimpleQueue[Callable[[], None] | None]:
        """The tasks of the threads, of which there are at least ``n_threads`` now."""
        while len(self._threads) < n_threads:
            # A daemon, since a generator that nobody closes must not keep the process from ending.
            thread = threading.Thread(target=_run, args=(self._tasks,), daemon=True)
            thread.start()
            self._threads.append(thread)
        sigint.handle_waiting()
        return self._tasks

    def __enter__(self) -> Self:
        return self

    @uninterrupted
    def __exit__(self, *exception: object) -> None:
        """End the threads."""
        for _ in self._threads:
            self._tasks.put(None)
        while self._threads:
            self._threads.pop().join()
        sigint.handle_waiting()
