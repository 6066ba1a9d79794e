"""What Figures 1, 3 and 6 of Hayashi and Uchida (2021) show: decision boundaries, and those between components."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import contourpy
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skem import datasets
from skem.estimators.sdgm import SDGMClassifier
from skem.repro.papers.hayashi2021.errors import MGPClassifier, checkerboard, models

Rows = list[dict[str, Any]]


def panels(
    setup: Mapping[str, Any], params: Mapping[str, Any], synthetic: Mapping[str, Any], seed: int
) -> Rows:
    """Every line of the three figures, and the training rows behind them.

    Parameters
    ----------
    setup : mapping
        snapshots (iterations), n_components (per class at first, of figure 6) and grid (points along a side).
    params : mapping
        Of ``SDGMClassifier``.
    synthetic : mapping
        Appendix B.
    seed : int
        Of starts, and of the rows of Figure 6.

    Returns
    -------
    list of dict
        figure, panel, kind ("row", "decision" or "component"), class (of a row or component), line (a number within
        its panel), x, y; and of each panel error (%), n_components and weights that are left.
    """
    ripley, start = datasets.load("ripley"), seed % 2**31
    rng = np.random.default_rng([seed, 0])
    board = [checkerboard(synthetic[name], synthetic["deviation"], rng) for name in ("n_train", "n_test")]
    splits = {"figure1": [ripley.train, ripley.test], "figure6": board}
    splits["figure3"] = splits["figure1"]
    rows: Rows = []
    for figure, panel, model in _models(setup, params, start):
        train, test = splits[figure]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # snapshots have not converged
            model.fit(*train)
        found: dict[str, Any] = {"figure": figure, "panel": panel, "error": 100 * (1 - model.score(*test))}
        if isinstance(model, SDGMClassifier):
            found["n_components"] = model.n_components_
            found["weights"] = int(np.count_nonzero(model.coef_[:, 1:]))
        points = [
            {"kind": "row", "class": int(c), "line": -1, "x": float(x), "y": float(y)}
            for (x, y), c in zip(*train, strict=True)
        ]
        rows += [found | row for row in [*points, *_lines(model, train[0], setup["grid"])]]
    return rows


def _models(
    setup: Mapping[str, Any], params: Mapping[str, Any], start: int
) -> Iterator[tuple[str, str, Any]]:
    """Figure, panel, and the model in it."""
    sdgm, known = dict(params, random_state=start), models(params, 2, start)
    yield "figure1", "softmax", make_pipeline(StandardScaler(), LogisticRegression())
    yield "figure1", "gp", known["gp"]()
    yield "figure1", "rvm", known["rvm"]()
    yield "figure1", "dgmm", MGPClassifier(form="primal", **sdgm)
    yield "figure1", "sdgm", known["sdgm"]()
    for n_iter in setup["snapshots"]:
        yield "figure3", str(n_iter), SDGMClassifier(**dict(sdgm, max_iter=n_iter))
    for m in setup["n_components"]:
        yield "figure6", str(m), SDGMClassifier(**dict(sdgm, n_components=m))


def _lines(model: Any, X: np.ndarray, n: int) -> Rows:
    """Where P(c|x) = 1/2, and where the most probable component gives way to another of its class."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.1 * (high - low)
    x, y = np.linspace(low - margin, high + margin, n).T
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    log_proba = np.log(np.maximum(model.predict_proba(grid), 1e-300))
    surfaces: list[tuple[str, int, Any]] = [("decision", -1, log_proba[:, 1] - log_proba[:, 0])]
    if isinstance(model, SDGMClassifier) and model.n_components_ > 1:
        joint, classes = model.component_log_proba(grid), model.component_classes_
        first, second = np.sort(np.argsort(joint, axis=1)[:, -2:], axis=1).T
        for k, j in combinations(range(len(classes)), 2):
            if classes[k] == classes[j]:
                elsewhere = (first != k) | (second != j)
                surface = np.ma.masked_array(joint[:, k] - joint[:, j], elsewhere)
                surfaces.append(("component", int(classes[k]), surface))
    rows: Rows = []
    number = 0
    for kind, c, surface in surfaces:
        lines: Any = contourpy.contour_generator(x, y, surface.reshape(n, n)).lines(0.0)
        for line in lines:
            for a, b in line:
                rows.append({"kind": kind, "class": c, "line": number, "x": float(a), "y": float(b)})
            number += 1
    return rows
