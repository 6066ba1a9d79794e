"""How the tests are run."""

import os

# scikit-learn leaves its array API checks out without this, which SciPy reads when it is imported.
os.environ["SCIPY_ARRAY_API"] = "1"


def pytest_collection_modifyitems(items):
    """The file that takes longest first, so that no worker is left waiting for the other one at the end."""
    items.sort(key=lambda item: item.path.name != "test_pipeline.py")
