"""Hayashi and Uchida (2021): the networks of Table 2, on a few images."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from claims import ROOT

torch = pytest.importorskip("torch")
from skem.repro import papers  # noqa: E402
from skem.repro.papers.hayashi2021 import images, networks  # noqa: E402
from skem.repro.papers.hayashi2021.settings import NETWORKS  # noqa: E402

STATED = papers.settings("hayashi2021", ROOT / "config").images
SETUP = STATED["network"] | {"epochs": 3, "batch_size": 20}


def bars(n, seed):
    """Images with one bright row each, which is the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 10
    X = rng.integers(0, 100, size=(n, 28, 28), dtype=np.uint8)
    X[np.arange(n), 4 + 2 * y] = 255
    return X, y


@pytest.mark.parametrize("method", list(NETWORKS))
def test_networks_learn_and_are_repeatable(method):
    X_test, y_test = bars(100, 1)
    first, again = (networks.train(method, 10, SETUP, bars(300, 0), seed=0) for _ in range(2))
    log_proba, features = networks.predict(first, X_test)
    assert features.shape == (100, 10)
    np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1, rtol=1e-5)
    assert np.mean(log_proba.argmax(axis=1) == y_test) > 0.5
    np.testing.assert_array_equal(log_proba, networks.predict(again, X_test)[0])


def test_margin():
    torch.manual_seed(0)
    layer, x, y = networks.LargeMarginSoftmax(2, 3), torch.randn(50, 2), torch.arange(50) % 3
    scores = x @ layer.weight.T
    torch.testing.assert_close(layer.eval()(x, y), torch.log_softmax(scores, dim=1))
    layer.train().step.fill_(1e9)  # the margin alone
    angle = torch.arccos(torch.nn.functional.cosine_similarity(x, layer.weight[y]).clamp(-1, 1))
    norms = x.norm(dim=1) * layer.weight[y].norm(dim=1)
    psi = torch.where(angle < torch.pi / 2, torch.cos(2 * angle), -torch.cos(2 * angle) - 2)
    scores[torch.arange(50), y] = norms * psi
    torch.testing.assert_close(layer(x, y), torch.log_softmax(scores, dim=1), atol=1e-4, rtol=1e-4)
    assert (norms * psi <= norms * torch.cos(angle) + 1e-5).all()


def test_the_best_candidate_is_used(monkeypatch, tmp_path):
    data = SimpleNamespace(train=bars(300, 0), test=bars(100, 1))
    monkeypatch.setattr(images.datasets, "load", lambda name: data)
    stated = STATED | {"network": SETUP | {"epochs": 1}, "drawn": 30}
    stated["choice"] = {"n_train": 100, "n_validation": 100, "epochs": 1, "l1": [1e-4, 10.0], "ramp": [0.5]}
    rows = images.choices("mnist_d2", stated, seed=0)
    assert [(row["parameter"], row["value"]) for row in rows] == [("l1", 1e-4), ("l1", 10.0), ("ramp", 0.5)]
    pd.DataFrame(rows).assign(error=[30.0, 20.0, 10.0]).to_csv(tmp_path / "choice.csv", index=False)
    found = images.errors("mnist_d2", "softmax_l1", 0, stated, str(tmp_path / "choice.csv"), seed=0)
    assert found["errors"][0]["l1"] == 10.0
    assert len(found["features"]) == 30


def test_shape_of_classes():
    rng, y = np.random.default_rng(0), np.arange(1000) % 5
    ray = np.stack([np.cos(2 * np.pi * y / 5), np.sin(2 * np.pi * y / 5)], axis=1)
    fan = images.shape(ray * rng.uniform(0, 10, size=(1000, 1)) + 0.05 * rng.normal(size=(1000, 2)), y)
    clouds = images.shape(10 * ray + rng.normal(size=(1000, 2)), y)
    assert fan["radial"] > 0.98 > clouds["radial"]
    assert fan["silhouette"] < clouds["silhouette"]
