"""The workers: results in the order of the items, little ahead of them, and an end to everything when one fails."""

import threading
import time

import numpy as np
import pytest

from skem.threads import Workers


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7])
def test_results_come_in_the_order_of_the_items(n_jobs):
    delays = np.random.default_rng(0).uniform(0, 2e-3, 60)

    def work(n):
        time.sleep(delays[n])
        return n * n

    with Workers(n_jobs) as workers:
        for _ in range(2):
            assert list(workers.map(work, range(60))) == [n * n for n in range(60)]
        assert list(workers.map(work, [])) == []


@pytest.mark.parametrize("slow", [0, 30])
def test_no_worker_runs_far_ahead_of_a_slow_one(slow):
    begun, handed, furthest = [], 0, 0

    def work(n):
        nonlocal furthest
        begun.append(n)
        furthest = max(furthest, len(begun) - handed)
        time.sleep(0.1 if n == slow else 0)

    with Workers(3) as workers:
        for _ in workers.map(work, range(60)):
            handed += 1
    assert sorted(begun) == list(range(60))
    assert furthest <= 2 * 3 + 1  # the one that is being handed out has not been counted yet


@pytest.mark.parametrize("place", [0, 1, 17])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_ends_the_work(place, error):
    begun = []

    def work(n):
        begun.append(n)
        if n == place:
            raise error("no")
        time.sleep(1e-3)

    before = threading.active_count()
    with Workers(3) as workers, pytest.raises(error, match="no"):
        list(workers.map(work, range(1000)))
    assert len(begun) < 60
    assert threading.active_count() == before


def test_who_stops_asking_stops_the_work():
    begun = []
    with Workers(2) as workers:
        results = workers.map(begun.append, range(1000))
        next(results)
        results.close()
        time.sleep(0.05)
        assert len(begun) <= 6
        assert list(workers.map(str, range(3))) == ["0", "1", "2"]
