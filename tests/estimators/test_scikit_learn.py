"""Names of scikit-learn that it does not promise to keep: the behaviour that estimators rely on, and fits without the names."""

import ast
import runpy
import subprocess
import sys
from numbers import Real
from pathlib import Path

import array_api_strict
import numpy as np
import pandas as pd
import pytest
import sklearn.utils._array_api
from sklearn import config_context
from sklearn.base import BaseEstimator

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


class Checked(BaseEstimator):
    _parameter_constraints = {  # noqa: RUF012
        "number": [_sklearn.Interval(Real, 0, None, closed="left"), None],
        "word": [_sklearn.StrOptions({"a", "b"})],
        "object": [_sklearn.HasMethods(["fit"]), None],
    }

    def __init__(self, number=None, word="a", object=None):
        self.number, self.word, self.object = number, word, object


@pytest.mark.parametrize(
    ("parameter", "allowed"), [({"number": -1}, r"\[0"), ({"word": "c"}, "'b'"), ({"object": "c"}, "'fit'")]
)
def test_constraints_name_the_parameter_and_what_it_allows(parameter, allowed):
    Checked(0.0, "b", skem.KMeans())._validate_params()
    (name,) = parameter
    with pytest.raises(ValueError, match=f"'{name}' parameter of Checked must be .*{allowed}"):
        Checked(**parameter)._validate_params()


@pytest.mark.parametrize("samples", [[1, 2, 3], np.arange(1, 4), pd.Series([1, 2, 3])])
def test_indexing_keeps_the_type(samples):
    taken = _sklearn.safe_indexing(samples, np.array([2, 0]))
    assert (type(taken), list(taken)) == (type(samples), [3, 1])


def test_arrays_move_between_libraries():
    array = array_api_strict.asarray([1.0, 2.0])
    with config_context(array_api_dispatch=True):
        xp, is_array_api, device = _sklearn.get_namespace_and_device(array)
        back = _sklearn.move_to(_sklearn.move_to(array, xp=np, device="cpu"), xp=xp, device=device)
    assert (xp, is_array_api) == (array_api_strict, True)
    assert (type(back), back.device) == (type(array), array.device)


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
