"""Hayashi and Uchida (2021): the networks of Table 2, on a few images."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from skem.repro import papers  # noqa: E402
from skem.repro.papers.hayashi2021 import images, networks  # noqa: E402
from skem.repro.papers.hayashi2021.settings import NETWORKS  # noqa: E402

ROOT = Path(__file__).parents[4]
STATED = papers.settings("hayashi2021", ROOT / "config").images
SETUP = networks.setup_of(STATED["network"], epochs=3, batch_size=20)


def bars(n, seed):
    """Images of one bright row each; which one is the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 10
    X = rng.integers(0, 100, size=(n, 28, 28), dtype=np.uint8)
    X[np.arange(n), 4 + 2 * y] = 255
    return X, y


@pytest.fixture
def few(monkeypatch):
    data = SimpleNamespace(train=bars(300, 0), test=bars(100, 1))
    monkeypatch.setattr(images.datasets, "load", lambda name: data)


def test_there_is_a_network_for_every_method():
    assert list(networks.LAST) == list(NETWORKS)


@pytest.mark.parametrize("method", list(NETWORKS))
def test_a_network_learns_and_is_the_same_again(method):
    X, y = bars(300, 0)
    X_test, y_test = bars(100, 1)
    first, again = (networks.train(method, 10, SETUP, X, y, seed=0) for _ in range(2))
    log_proba, features = networks.predict(first, X_test)
    assert features.shape == (100, 10)
    np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1, rtol=1e-5)
    assert np.mean(log_proba.argmax(axis=1) == y_test) > 0.5
    np.testing.assert_array_equal(log_proba, networks.predict(again, X_test)[0])


def test_a_margin_lowers_the_score_of_the_true_class_in_training_only():
    torch.manual_seed(0)
    layer, x, y = networks.LargeMarginSoftmax(2, 3), torch.randn(50, 2), torch.arange(50) % 3
    plain = torch.log_softmax(x @ layer.weight.T, dim=1)
    torch.testing.assert_close(layer.eval()(x, y), plain)
    layer.train().step.fill_(1e9)  # the margin alone
    scores = x @ layer.weight.T
    angle = torch.arccos(torch.nn.functional.cosine_similarity(x, layer.weight[y]).clamp(-1, 1))
    norms = x.norm(dim=1) * layer.weight[y].norm(dim=1)
    psi = torch.where(angle < torch.pi / 2, torch.cos(2 * angle), -torch.cos(2 * angle) - 2)
    scores[torch.arange(50), y] = norms * psi
    torch.testing.assert_close(layer(x, y), torch.log_softmax(scores, dim=1), atol=1e-4, rtol=1e-4)
    assert (norms * psi <= norms * torch.cos(angle) + 1e-5).all()


def test_what_is_chosen_has_the_least_error_and_is_used(few):
    network = STATED["network"] | {"epochs": 1, "batch_size": 20}
    stated = STATED | {"network": network, "drawn": 30}
    stated["choice"] = {"n_train": 100, "n_validation": 100, "epochs": 1, "l1": [1e-4, 10.0], "ramp": [0.5]}
    entry = {"source": "mnist", "n_features": 2}
    rows = images.choices(stated, entry, seed=0)
    assert [(row["parameter"], row["value"]) for row in rows] == [("l1", 1e-4), ("l1", 10.0), ("ramp", 0.5)]
    made_up = [row | {"error": error} for row, error in zip(rows, (30.0, 20.0, 10.0), strict=True)]
    assert images.best(made_up, "softmax_l1") == {"l1": 10.0}
    assert images.best(made_up, "sdgm") == {"ramp": 0.5}
    assert images.best(made_up, "softmax") == {}
    row, features = images.errors(stated, entry, "softmax_l1", made_up, seed=0)
    assert row["l1"] == 10.0
    assert 0 <= row["error"] <= 100
    assert len(features) == 30
    assert {"weights", "initial_weights", "silhouette", "radial"} <= set(row)
    assert images.errors(stated, entry | {"n_features": 3}, "sdgm", made_up, seed=0)[1] == []


def test_a_fan_is_told_from_clouds():
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 5
    angle = 2 * np.pi * y / 5 + 0.1 * rng.normal(size=1000)
    ray = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    fan = images.shape(ray * rng.uniform(0, 10, size=(1000, 1)), y)
    clouds = images.shape(
        10 * np.stack([np.cos(2 * np.pi * y / 5), np.sin(2 * np.pi * y / 5)], axis=1)
        + rng.normal(size=(1000, 2)),
        y,
    )
    assert fan["radial"] > 0.98 > clouds["radial"]
    assert fan["silhouette"] < clouds["silhouette"]
