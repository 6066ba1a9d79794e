"""Names of scikit-learn that it does not promise to keep: the behaviour that estimators rely on, and fits without the names."""

import ast
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
WITHOUT_CALLBACKS = """
import sys
from sklearn import base, datasets, linear_model, model_selection, pipeline  # these import callbacks, too
sys.modules["sklearn.callback"] = None
import skem
X, y = datasets.load_iris(return_X_y=True)
search = skem.GaussianMixturePath(n_components=2)
for model in skem.SKEMClassifier(6, random_state=0), skem.GaussianMixture(3), skem.KMeans(3), search:
    base.clone(model).fit(X, y).predict(X)
    try:
        model.set_callbacks()
    except NotImplementedError as error:
        print(error)
"""


def private_imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for name in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            package, *parts = f"{module}{name.name}".split(".")
            if package == "sklearn" and any(
                part[0] == "_" or part in ("callback", "experimental") for part in parts
            ):
                yield ".".join([package, *parts])


def test_one_module_imports_private_names():
    found = {path.name: {*private_imports(path)} for path in PACKAGE.rglob("*.py")}
    found = {name: imports for name, imports in found.items() if imports}
    assert {*found} == {"_sklearn.py", "_callbacks.py"}
    assert found["_callbacks.py"] == {
        "sklearn.callback.CallbackSupportMixin",
        "sklearn.callback.with_callbacks",
    }


def test_without_array_api_support(monkeypatch):
    monkeypatch.delattr(sklearn.utils._array_api, "move_to")
    names = runpy.run_path(_sklearn.__file__)
    with pytest.raises(
        NotImplementedError, match="no array API support that skem can use: give NumPy arrays"
    ):
        names["get_namespace_and_device"](np.ones(2))


def test_fits_without_callbacks():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_CALLBACKS],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all("has no callbacks that skem can use: install scikit-learn 1.9" in line for line in lines)
