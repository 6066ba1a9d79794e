"""Job of Figures 1, 3 and 6 of Hayashi and Uchida (2021): boundaries between classes and between components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import contourpy
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skem import datasets
from skem.repro.papers.hayashi2021.errors import MGPClassifier, checkerboard, fitted, models
from skem.repro.papers.measured import Rows
from skem.repro.training.splits import seed as seed_of
from skem.sdgm.classifier import SDGMClassifier


def panels(
    setup: Mapping[str, Any], model: Mapping[str, Any], synthetic: Mapping[str, Any], seed: int
) -> Rows:
    """Compute the lines of the three figures (``kind`` "decision" or "component"), and the training samples behind them ("sample")."""
    seed = seed_of(seed, "hayashi2021", "boundaries")
    rng, ripley = np.random.default_rng([seed, 0]), datasets.load("ripley")
    board = [checkerboard(synthetic[name], synthetic["deviation"], rng) for name in ("n_train", "n_test")]
    rows: Rows = []
    for figure, panel, unfitted in _models(setup, model, seed % 2**31):
        train, test = board if figure == "figure6" else (ripley.train, ripley.test)
        classifier, _ = fitted(unfitted, *train)
        keys: dict[str, Any] = {"figure": figure, "panel": panel}
        keys["error"] = 100 * (1 - classifier.score(*test))
        if isinstance(classifier, SDGMClassifier):
            keys["n_components"] = classifier.n_components_
            keys["weights"] = int(np.count_nonzero(classifier.coef_[:, 1:]))
        points = [
            {"kind": "sample", "class": int(c), "line": -1, "x": float(x), "y": float(y)}
            for (x, y), c in zip(*train, strict=True)
        ]
        rows += [keys | row for row in (*points, *_lines(classifier, train[0], setup["grid"]))]
    return rows


def _models(
    setup: Mapping[str, Any], params: Mapping[str, Any], random_state: int
) -> Iterator[tuple[str, str, Any]]:
    sdgm, known = dict(params, random_state=random_state), models(params, 2, random_state)
    yield "figure1", "softmax", make_pipeline(StandardScaler(), LogisticRegression())
    yield "figure1", "gp", known["gp"]()
    yield "figure1", "rvm", known["rvm"]()
    yield "figure1", "dgmm", MGPClassifier(form="primal", **sdgm)
    yield "figure1", "sdgm", known["sdgm"]()
    for n_iter in setup["snapshots"]:
        yield "figure3", str(n_iter), SDGMClassifier(**dict(sdgm, max_iter=n_iter))
    for m in setup["n_components"]:
        yield "figure6", str(m), SDGMClassifier(**dict(sdgm, n_components=m))


def _lines(model: Any, X: np.ndarray, n: int) -> Iterator[dict[str, Any]]:
    """Points where P(c|x) = 1/2, and where the two most probable components have one class and are even."""
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
                surface = np.ma.masked_array(joint[:, k] - joint[:, j], (first != k) | (second != j))
                surfaces.append(("component", int(classes[k]), surface))
    number = 0
    for kind, c, surface in surfaces:
        lines: Any = contourpy.contour_generator(x, y, surface.reshape(n, n)).lines(0.0)
        for line in lines:
            for a, b in line:
                yield {"kind": kind, "class": c, "line": number, "x": float(a), "y": float(b)}
            number += 1
