"""The one place that sets every thread pool.

The engine cuts its data into chunks and hands them to its own workers, so BLAS and OpenMP have to keep
to one thread meanwhile: on a loaded machine two layers of threads made one pass fifty times slower.
``threadpoolctl`` sets process-wide limits, and two of them that overlap in time restore each other's
values; so there is one limit here, counted and guarded by a lock.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import islice
from typing import Any, Self, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController, threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")

_lock = threading.Lock()
_users = 0
_limits: Any = None
_max_workers: int | None = None


@cache
def _controller() -> ThreadpoolController:
    # Looking for the loaded libraries takes milliseconds, a pass on a small data set less.
    return ThreadpoolController()


class _SingleThreaded:
    def __enter__(self) -> None:
        global _users, _limits
        with _lock:
            # A process that was limited for good has nothing to set, and setting costs as much as a small product.
            if _users == 0 and _max_workers is None:
                _limits = _controller().limit(limits=1)
            _users += 1

    def __exit__(self, *exception: object) -> None:
        global _users, _limits
        with _lock:
            _users -= 1
            if _users == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None


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
    global _max_workers
    if n_workers < 1:
        raise ValueError(f"n_workers must be at least 1, got {n_workers}")
    threadpool_limits(limits=1)
    _max_workers = n_workers


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
        self._pool = ThreadPoolExecutor(self.n_workers) if self.n_workers > 1 else None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` in the order of ``items``, with BLAS and OpenMP at one thread.

        No more than two results per worker wait at any time, so memory does not grow with the items.
        """
        with single_threaded():
            if self._pool is None:
                yield from map(function, items)
                return
            items = iter(items)
            waiting = deque(self._pool.submit(function, x) for x in islice(items, 2 * self.n_workers))
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(self._pool.submit(function, x) for x in islice(items, 1))

    def close(self) -> None:
        """End the threads; what is still running is waited for."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
