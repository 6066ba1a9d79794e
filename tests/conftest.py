"""scikit-learn leaves its array API checks out without this, which SciPy reads when it is imported."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"
