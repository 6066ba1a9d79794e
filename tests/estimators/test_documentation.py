"""Docstrings of the estimators describe their parameters, defaults and attributes."""

import ast
import inspect
import re
from numbers import Integral, Real

import numpy as np
import pytest
from sklearn.datasets import load_iris

import skem

EVERYTHING = [getattr(skem, name) for name in skem.__all__ if hasattr(getattr(skem, name), "fit")]

X, y = load_iris(return_X_y=True, as_frame=True)
QUICK = {
    skem.SDGMClassifier: {"max_iter": 2},
    skem.DiscriminativePSKEMClassifierCV: {"n_components": 3, "n_blocks": 1, "cv": 2},
}


TYPES = {kind.__name__: kind for kind in (bool, dict, list, np.ndarray, str, tuple)} | {
    "float": Real,
    "int": Integral,
}


def entries(section, text):
    """Return the names that a section of a docstring describes, in order, each with its type or None."""
    pattern = re.compile(rf"^{section}\n-+\n(.*?)(?=\n\n\S|\Z)", re.MULTILINE | re.DOTALL)
    body = pattern.search(inspect.cleandoc(text))[1]
    described = {}
    for head, types in re.findall(r"^(\w[\w, ]*?)(?: : (.*))?$", body, re.MULTILINE):
        names, types = head.split(", "), re.split(r", (?=\w)", types)
        types = types if len(types) == len(names) else types[:1] * len(names)
        described |= {name: TYPES.get(kind.split(" ")[0]) for name, kind in zip(names, types, strict=True)}
    return described


@pytest.mark.parametrize("Estimator", EVERYTHING)
def test_documented_parameters(Estimator):
    parameters = inspect.signature(Estimator).parameters
    assert [*entries("Parameters", Estimator.__doc__)] == list(parameters)
    defaults = re.findall(r"^(\w[\w, ]*) : .*, default=(.+)$", inspect.getdoc(Estimator), re.MULTILINE)
    described = {name: ast.literal_eval(text) for names, text in defaults for name in names.split(", ")}
    assert all(parameters[name].default == default for name, default in described.items())


@pytest.mark.parametrize("Estimator", EVERYTHING)
def test_documented_attributes(Estimator):
    model = Estimator(**QUICK.get(Estimator, {}))
    if "early_stopping" in model.get_params():
        model.set_params(early_stopping=True)
    model.fit(X, y)
    described = entries("Attributes", Estimator.__doc__)
    assert {name for name in vars(model) if name.endswith("_") and not name.startswith("_")} <= {*described}
    types = {name: (getattr(model, name), kind) for name, kind in described.items() if hasattr(model, name)}
    assert [name for name, (value, kind) in types.items() if kind and not isinstance(value, kind)] == []
