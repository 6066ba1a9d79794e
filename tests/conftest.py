"""Settings of the test run."""

import os
import re
import sys

import pytest
from threadpoolctl import threadpool_limits

# scikit-learn leaves its array API checks out without this, which SciPy reads when it is imported.
os.environ["SCIPY_ARRAY_API"] = "1"


def pytest_collection_modifyitems(items):
    """The file that takes longest first, so that no worker is left waiting for the other one at the end."""
    items.sort(key=lambda item: item.path.name != "test_pipeline.py")


@pytest.fixture(scope="session", autouse=True)
def _one_thread_of_blas():
    """Threads that wait for small matrices of other libraries would take most of the time of the tests."""
    import sklearn.utils  # noqa: F401 (loads BLAS and OpenMP)

    with threadpool_limits(1):
        yield


COMPILED = ("kernels", "matrices", "nearest")


def signatures():
    """The types of arguments that the entries of the engine have been compiled for, or loaded from the cache."""
    for name in COMPILED:
        module = sys.modules.get(f"skem.engine.{name}")
        for entry in vars(module).values() if module else ():
            if hasattr(entry, "dispatcher"):
                yield from ((f"{name}.{entry.__name__}", types) for types in entry.dispatcher.signatures)


@pytest.fixture(autouse=True)
def _one_layout():
    """An array that is not in C order, or read-only, costs a user seconds: numba compiles the loop again."""
    before = set(signatures())
    yield
    for name, types in set(signatures()) - before:
        arrays = re.findall(r"Array\([^()]*\)", str(types))
        odd = {array for array in arrays if "'C', False" not in array}
        assert not odd, f"{name} is compiled for {', '.join(sorted(odd))}"
