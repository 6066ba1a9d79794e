"""Fits without what scikit-learn does not promise to keep, and without what only arrays of other libraries need."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn.utils._array_api

import skem
from skem.estimators import _sklearn

PACKAGE = Path(skem.__file__).parent
ALONE = """
import os, sys
assert "SCIPY_ARRAY_API" not in os.environ
from sklearn import base, datasets, linear_model, model_selection, pipeline  # these import callbacks, too
sys.modules["sklearn.callback"] = None
import skem
X, y = datasets.load_iris(return_X_y=True)
search, classifier = skem.GaussianMixturePath(n_components=2), skem.SKEMClassifier(6, random_state=0)
for model in classifier, skem.GaussianMixture(3), skem.KMeans(3), search:
    model.fit(X, y).predict(X)
    try:
        model.set_callbacks()
    except NotImplementedError as error:
        print(error)
import pyarrow
assert classifier.responsibilities(X, pyarrow.array(y)).shape == (1, 150, 6)
assert not {"dask", "skem.estimators._out_of_core", "skem.estimators._armadillo"} & {*sys.modules}
"""


def test_one_module_imports_private_names():
    private = re.compile(
        r"^ *(?:from|import) sklearn\b.*?(?:[ .]_\w+|\.callback|\.experimental).*", re.MULTILINE
    )
    found = {path: private.findall(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
    found = {path.name: lines for path, lines in found.items() if lines}
    assert {*found} == {"_sklearn.py", "_callbacks.py"}
    assert found["_callbacks.py"] == ["    from sklearn.callback import CallbackSupportMixin, with_callbacks"]


def test_without_array_api_support(monkeypatch):
    monkeypatch.delattr(sklearn.utils._array_api, "move_to")
    names = runpy.run_path(_sklearn.__file__)
    with pytest.raises(NotImplementedError, match="no array API support that skem can use: give NumPy"):
        names["get_namespace_and_device"](np.ones(2))


def test_numpy_and_arrow_need_neither_callbacks_nor_the_array_api():
    command = [sys.executable, "-W", "ignore", "-c", ALONE]
    environment = {name: value for name, value in os.environ.items() if name != "SCIPY_ARRAY_API"}
    done = subprocess.run(command, cwd=PACKAGE.parent, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all("has no callbacks that skem can use: install scikit-learn 1.9" in line for line in lines)
