"""Settings of the test run."""

import os

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
