"""The limit of BLAS, and an ordered map over threads.

The engine distributes chunks of samples over its own threads, so BLAS and OpenMP keep to one thread meanwhile: with two layers
of threads an iteration took fifty times longer on a loaded machine. Only this module sets thread pools.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController, threadpool_limits

from skem.engine.interrupts import defer, resume, safe_point
from skem.engine.warn import Warnings, deferring, warn

Item = TypeVar("Item")
Result = TypeVar("Result")

CACHE_LINE = 64
"""Bytes of a cache line and of an AVX-512 vector. Loops over vectors that straddle two lines take 1.5 times as long."""

LATENCY = 0.1
"""Seconds after which a thread that waits for a result looks for Ctrl-C."""

_lock = threading.Lock()
# A child process would wait forever for the lock if another thread of its parent held it.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)

_users = 0
_limits: Any = None
_max_workers = sys.maxsize


class _ThreadContext(threading.local):
    """True within `single_threaded`, and the map that this thread works for."""

    limited = False
    work: _OrderedMap | None = None


_thread = _ThreadContext()


@cache
def _libraries() -> tuple[ThreadpoolController, ThreadpoolController]:
    """Libraries with limits per process, and libraries with limits per thread; the search takes milliseconds."""
    loaded = ThreadpoolController()
    per_thread = loaded.select(user_api="openmp", threading_layer="openmp")
    others = [library for library in loaded.lib_controllers if library not in per_thread.lib_controllers]
    return loaded.select(filepath=[library.filepath for library in others]), per_thread


def _take_control() -> None:
    """Let any thread set OpenBLAS's limit next: since threadpoolctl 3.8 only the first thread can, until it ends."""
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


def aligned(size: int, dtype: np.dtype) -> np.ndarray:
    """Return an uninitialised vector that begins with a cache line."""
    memory = np.empty(size * dtype.itemsize + CACHE_LINE, np.uint8)
    first = -memory.ctypes.data % CACHE_LINE
    return memory[first : first + size * dtype.itemsize].view(dtype)


class Scratch(threading.local):
    """Memory that each thread reuses: the system hands out new memory page by page."""

    _memory: np.ndarray | None = None

    def empty(self, size: int, dtype: np.dtype) -> np.ndarray:
        """Return an uninitialised vector that begins with a cache line: the previous one if it is long enough."""
        if self._memory is None or self._memory.size < size or self._memory.dtype != dtype:
            self._memory = aligned(size, dtype)
        return self._memory[:size]


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep BLAS and OpenMP at one thread until the last user in the process leaves, and defer SIGINT in the main thread."""
    global _users, _limits
    if _thread.limited:
        yield
        return
    defer()
    per_process, per_thread = _libraries()
    with _lock:
        if _users == 0:
            _take_control()
            _limits = per_process.limit(limits=1)
        _users += 1
    limits = per_thread.limit(limits=1)
    _thread.limited = True
    try:
        yield
    finally:
        _thread.limited = False
        limits.restore_original_limits()
        with _lock:
            _users -= 1
            if _users == 0:
                _take_control()
                _limits.restore_original_limits()
                _take_control()
        resume()


@contextmanager
def interruptible() -> Iterator[None]:
    """Handle SIGINT at once within `single_threaded`: around foreign code, which has no safe points."""
    limited, _thread.limited = _thread.limited, False
    deferred = resume()
    yield
    # After an error `single_threaded` is about to end. Nothing may defer SIGINT after that, so there is no ``finally``.
    if deferred:
        defer()
    _thread.limited = limited


def limit_process(n_workers: int = 1) -> None:
    """Limit fits to ``n_workers`` threads and BLAS to one from now on: two BLAS threads change the last bits of a result."""
    global _max_workers, _users
    if n_workers < 1:
        raise ValueError(f"n_workers must be at least 1, got {n_workers}")
    threadpool_limits(limits=1)
    # Like `single_threaded` without an end: setting limits takes as long as a small matrix product.
    _thread.limited, _max_workers = True, n_workers
    with _lock:
        _users += 1


class Cancelled(BaseException):
    """End of a task whose result is no longer needed."""


def go_on() -> None:
    """Safe point of every loop: handle Ctrl-C, or raise `Cancelled` if the result is no longer needed."""
    if _thread.work is not None and _thread.work.cancelled:
        raise Cancelled
    safe_point()


def _at_safe_points(items: Sequence[Item]) -> Iterator[Item]:
    for item in items:
        go_on()
        yield item


class _OrderedMap:
    """A map under way: the queue of the threads' tasks, and for each task a queue for its result or error."""

    def __init__(self, function: Callable[[Any], Any], tasks: SimpleQueue[Callable[[], None] | None]) -> None:
        self._function, self._tasks, self.cancelled = function, tasks, False
        self._answers: deque[SimpleQueue[tuple[Any, BaseException | None, Warnings]]] = deque()

    def results(self, items: Sequence[Any], window: int) -> Iterator[Any]:
        """Yield the results; at most ``window`` tasks are under way, or wait for the caller."""
        for item in items:
            self._answers.append(SimpleQueue())
            self._tasks.put(partial(self._work, item, self._answers[-1]))
            if len(self._answers) == window:
                yield self._first()
        while self._answers:
            yield self._first()

    def _work(self, item: Any, answer: SimpleQueue[tuple[Any, BaseException | None, Warnings]]) -> None:
        _thread.work = self
        with deferring() as deferred:
            try:
                go_on()
                answer.put((self._function(item), None, deferred))
            except BaseException as error:
                answer.put((None, error, deferred))
            finally:
                _thread.work = None

    def _first(self) -> Any:
        while True:
            go_on()
            with suppress(Empty):
                result, error, deferred = self._answers[0].get(timeout=LATENCY)
                break
        self._answers.popleft()
        try:
            for message, category in deferred:
                warn(message, category)
            if error is not None:
                raise error
            return result
        finally:
            del error  # Its traceback refers to this frame.

    def cancel(self) -> None:
        """End the tasks under way at their next safe point, and wait for them."""
        self.cancelled = True
        for answer in self._answers:
            answer.get()


def _run(tasks: SimpleQueue[Callable[[], None] | None]) -> None:
    """Run tasks until None arrives."""
    _libraries()[1].limit(limits=1)
    while (task := tasks.get()) is not None:
        task()
        del task  # An idle thread keeps no data alive.


class Workers:
    """Context manager of a pool of threads with an ordered map.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads as in scikit-learn: None is one, -1 one per core. A single thread is the caller's.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_workers = min(effective_n_jobs(n_jobs), _max_workers)
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return ``function(item)`` of all items."""
        with self.imap(function, items) as results:
            return list(results)

    @contextmanager
    def imap(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Iterator[Result]]:
        """Context manager of an iterator over ``function(item)`` in the order of ``items``; its end cancels the rest.

        At most two results per thread wait at any time, so memory does not grow with the number of items. A task that maps
        does so in its own thread.
        """
        n_threads = 1 if _thread.work is not None else min(self.n_workers, len(items))
        with single_threaded():
            if n_threads <= 1:
                yield map(function, _at_safe_points(items))
                return
            while len(self._threads) < n_threads:
                # A generator that nobody closes must not keep the process from ending, so the thread is a daemon.
                self._threads.append(threading.Thread(target=_run, args=(self._tasks,), daemon=True))
                self._threads[-1].start()
            work = _OrderedMap(function, self._tasks)
            try:
                yield work.results(items, 2 * n_threads)
            finally:
                work.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """End the threads."""
        for _ in self._threads:
            self._tasks.put(None)
        while self._threads:
            self._threads.pop().join()
