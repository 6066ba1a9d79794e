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


def compiled_types():
    """Of each entry of the engine the types of arguments for which it was compiled, or loaded from the cache, in order."""
    modules = [sys.modules.get(f"skem.engine.{name}") for name in ("kernels", "matrices", "nearest")]
    entries = [entry for module in modules if module for entry in vars(module).values()]
    return {e.__name__: e.dispatcher.signatures for e in entries if hasattr(e, "dispatcher")}


@pytest.fixture(autouse=True)
def new_types():
    """Function for what a test adds. An array that is not in C order, or read-only, costs a user seconds: numba compiles again."""
    before = compiled_types()

    def found():
        return [
            (name, types)
            for name, known in compiled_types().items()
            for types in known[len(before.get(name, [])) :]
        ]

    yield found
    for name, types in found():
        arrays = re.findall(r"Array\([^()]*\)", str(types))
        odd = {array for array in arrays if "'C', False" not in array}
        assert not odd, f"{name} is compiled for {', '.join(sorted(odd))}"
