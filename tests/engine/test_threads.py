"""Workers and limits of BLAS threads: results in order, bits for any number of threads, and interrupts."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from skem import SKEMClassifier
from skem.engine import threads
from skem.engine.threads import Workers


@pytest.mark.parametrize("place", [0, 17])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_errors_end_the_work(place, error):
    begun = []

    def work(n):
        begun.append(n)
        if n == place:
            raise error("no")
        time.sleep(1e-3)

    before = threading.active_count()
    with Workers(3) as workers, pytest.raises(error, match="no"):
        workers.map(work, range(1000))
    assert len(begun) < 60
    assert threading.active_count() == before


def test_threads_of_blas_do_not_change_the_bits():
    """With 100 features, whose factors they do change."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3500, 100)) @ rng.normal(size=(100, 100)), np.arange(3500) % 2
    found = []
    for n in (1, 2):
        with threadpool_limits(limits=n):
            model = SKEMClassifier(2, max_iter=3, random_state=0).fit(X, y)
            found.append([model.covariances_, model.objective_, model.class_log_density(X[:300])])
    for one, two in zip(*found, strict=True):
        assert_array_equal(one, two)


def numbers_of_threads():
    return [library["num_threads"] for library in threadpool_info()]


def in_turn(*generators):
    """Run each in a thread of its own, as far as its next ``yield``, one after the other."""
    pools = [ThreadPoolExecutor(1) for _ in generators]
    found = []
    for _ in range(2):
        for pool, generator in zip(pools, generators, strict=True):
            found.append(pool.submit(next, generator, None).result())
    for pool in pools:
        pool.shutdown()
    return found


def test_blas_is_limited_in_every_thread_and_restored():
    """Also where another thread did so before, came first, or leaves last."""

    def enter():
        with threads.single_threaded():
            yield numbers_of_threads()

    with threadpool_limits(limits=2):
        ones, before = [1] * len(numbers_of_threads()), numbers_of_threads()
        assert in_turn(enter()) == [ones, None]
        with threads.single_threaded():
            assert numbers_of_threads() == ones
            # Of two that overlap both compute on one, and the last to leave changes nothing of that.
            assert in_turn(enter(), enter()) == [ones, ones, None, None]
            assert numbers_of_threads() == ones
        assert numbers_of_threads() == before
        # The one that came first leaves first.
        assert in_turn(enter(), enter()) == [ones, ones, None, None]
        assert numbers_of_threads() == before
        with Workers(2) as workers:
            numbers = workers.map(lambda _: (time.sleep(1e-3), numbers_of_threads())[1], range(20))
        assert all(each == ones for each in numbers)


INTERRUPTED = """
import signal, sys, threading, time
import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits
from skem import GaussianMixture, GaussianMixturePath, SKEMClassifier

signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 6))
y = rng.integers(0, 3, 3000)
holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
cases = [
    (SKEMClassifier(20, max_iter=4000, n_jobs=2, random_state=0), X),
    (GaussianMixturePath(GaussianMixture(max_iter=4000, tol=0), n_jobs=2, random_state=0), X),
    (GaussianMixture(3, max_iter=4000, tol=0, n_jobs=2, random_state=0), holes),
]
threadpool_limits(2)
limits = [(library["prefix"], library["num_threads"]) for library in threadpool_info()]
before = threading.active_count()
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
for model, samples in cases:
    for delay in rng.uniform(0.01, 0.3, 3):
        signal.setitimer(signal.ITIMER_REAL, delay)
        try:
            model.fit(samples, y)
        except KeyboardInterrupt:
            pass
        else:
            sys.exit(f"the fit of {model} was not interrupted")
        assert not hasattr(model, "n_iter_"), model
        assert threading.active_count() == before, (model, threading.enumerate())
        assert [(library["prefix"], library["num_threads"]) for library in threadpool_info()] == limits, model
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, model
print("stopped")
"""


def test_interrupts_end_a_fit_and_all_its_threads():
    """Of a classifier, of a search, and with missing values; one process, as its imports take seconds."""
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=100)
    assert ended.stdout == "stopped\n", ended.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_fork_while_another_thread_sets_the_limit():
    held = threading.Event()

    def hold():
        with threads._lock:
            held.set()
            time.sleep(0.5)

    model = SKEMClassifier(2, max_iter=1, random_state=0)
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    child = multiprocessing.get_context("fork").Process(target=model.fit, args=(X, y))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        held.wait()
        child.start()
    child.join(30)
    child.kill()
    assert child.exitcode == 0
