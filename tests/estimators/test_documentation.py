"""Docstrings of the estimators describe their parameters, defaults and attributes."""

import ast
import inspect
import re

import pytest
from sklearn.datasets import load_iris

import skem

EVERYTHING = [getattr(skem, name) for name in skem.__all__ if hasattr(getattr(skem, name), "fit")]

X, y = load_iris(return_X_y=True)
QUICK = {
    skem.SDGMClassifier: {"max_iter": 2},
    skem.DiscriminativePSKEMClassifierCV: {"n_components": 3, "n_blocks": 1, "cv": 2},
}


def entries(section, text):
    """Return the names that a section of a docstring describes, in order."""
    pattern = re.compile(rf"^{section}\n-+\n(.*?)(?=\n\n\S|\Z)", re.MULTILINE | re.DOTALL)
    body = pattern.search(inspect.cleandoc(text))[1]
    heads = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", body, re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


@pytest.mark.parametrize("Estimator", EVERYTHING)
def test_documented_parameters(Estimator):
    parameters = inspect.signature(Estimator).parameters
    assert entries("Parameters", Estimator.__doc__) == list(parameters)
    defaults = re.findall(r"^(\w[\w, ]*) : .*, default=(.+)$", inspect.getdoc(Estimator), re.MULTILINE)
    described = {name: ast.literal_eval(text) for names, text in defaults for name in names.split(", ")}
    assert all(parameters[name].default == default for name, default in described.items())


@pytest.mark.parametrize("Estimator", EVERYTHING)
def test_documented_attributes(Estimator):
    model = Estimator(**QUICK.get(Estimator, {})).fit(X, y)
    names = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    # Models with one feature block have these attributes of the family, but need not document them.
    names -= {"blocks_", "block_indices_", "n_blocks_"}
    assert names <= set(entries("Attributes", Estimator.__doc__))
