"""Engines on identical work: the same result, honest medians, and a row for what is not installed."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from skem import PSKEMClassifier, plots
from skem.repro.peers import engines, tables, timing

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("engine", "dtype"),
    [
        (name, dtype)
        for name in ("scikit-learn", "oneDAL", "Armadillo")
        for dtype in engines.ENGINES[name].dtypes
    ],
)
def test_an_engine_does_the_same_passes(engine, dtype, monkeypatch):
    monkeypatch.chdir(ROOT)
    if engines.ENGINES[engine].version() is None:
        pytest.skip(f"{engine} is not installed: {engines.ENGINES[engine].install}")
    X, start = engines.draw(500, 3, 4, dtype)
    work = engines.Work(X, start, 1)
    ours, theirs = (engines.ENGINES[name].fit(work, 3)[1] for name in ("skem", engine))
    for a, b in zip(ours, theirs, strict=True):
        assert_allclose(
            a, b, rtol=1e-2 if dtype == "float32" else 1e-5, atol=1e-3 if dtype == "float32" else 1e-6
        )


def test_a_version_is_unknown_where_nobody_keeps_it(monkeypatch):
    monkeypatch.setattr(engines, "_compiled", lambda: Path("em"))
    monkeypatch.setenv("PATH", "")
    assert engines.ENGINES["Armadillo"].version() == "unknown"


def test_engines_take_turns_and_are_compared_within_rounds():
    X, start = engines.draw(300, 3, 2, "float64")
    rows = timing.compare(X, start, 1, ["skem", "scikit-learn"], rounds=3, passes=(1, 3))
    assert [row["engine"] for row in rows] == ["skem", "scikit-learn"]
    assert rows[0]["ratio"] == rows[0]["ratio_low"] == 1.0
    assert_allclose(rows[0]["log_likelihood"], rows[1]["log_likelihood"], atol=1e-5)
    assert all(row["seconds_per_pass_low"] <= row["seconds_per_pass_high"] for row in rows)


def test_an_engine_that_fails_leaves_a_note(monkeypatch):
    def fails(work, passes):
        raise RuntimeError("Ill-conditioned\nDetails: many")

    monkeypatch.setitem(engines.ENGINES, "oneDAL", dataclasses.replace(engines.ENGINES["oneDAL"], fit=fails))
    X, start = engines.draw(300, 3, 2, "float64")
    rows = timing.compare(X, start, 1, ["skem", "oneDAL"], rounds=2, passes=(1, 3))
    assert rows[1] == {"engine": "oneDAL", "note": "failed: Ill-conditioned"}


def test_the_interval_of_a_median_holds_it_with_95_percent():
    rng = np.random.default_rng(0)
    for n in (7, 11, 25):
        held = 0
        for _ in range(2000):
            found = timing.median("x", rng.exponential(size=n))
            held += found["x_low"] <= np.log(2) <= found["x_high"]
        assert held / 2000 > 0.94


def test_drawn_clusters_do_not_depend_on_the_machine():
    X, (weights, means, covariances) = engines.draw(1000, 4, 3, "float32")
    again = engines.draw(1000, 4, 3, "float32")[0]
    assert X.dtype == np.float32
    assert np.array_equal(X, again)
    assert weights.sum() == 1
    assert means.shape == (3, 4)
    assert_allclose(covariances[0], np.cov(X.T), rtol=1e-5)


def scaling_table():
    rows = []
    for axis, values in {"N": [100, 1000, 10000], "m": [2, 4, 8, 16], "K": [4, 16, 64]}.items():
        for value in values:
            size = {"N": 5000, "m": 6, "K": 10} | {axis: value}
            H = 1 + size["m"] + size["m"] * (size["m"] + 1) // 2
            cost = 1e-9 * size["N"] * size["K"] * H
            for engine in ("skem", "other"):
                seconds = cost if engine == "skem" else cost**1.5
                rows.append({"size": axis, **size, "engine": engine, "seconds_per_pass": seconds})
    return pd.DataFrame(rows)


def test_exponents_of_linear_cost_are_one():
    table = scaling_table()
    found = tables.exponents(table)
    assert set(found["size"]) == {"N", "K", "H"}
    assert_allclose(found[found["engine"] == "skem"]["exponent"], 1.0)
    assert_allclose(found[found["engine"] == "other"]["exponent"], 1.5)
    axes = plots.engine_scaling(pd.concat([table.assign(part="scaling"), found.assign(part="exponents")]))
    assert [len(ax.get_lines()) for ax in axes.flat] == [2, 2, 2]
    assert "~N^1.00" in axes[0, 0].get_legend().get_texts()[0].get_text()


def test_what_is_not_installed_says_how_to_install_it():
    labels = {"size": "A", "N": 10, "m": 2, "K": 3, "dtype": "float64", "threads": 1, "kernels": "default"}
    labels |= {"kernel": "Haswell", "numpy": "AVX2", "processor": "a processor"}
    times = {"seconds_per_pass": 0.1, "ratio": 1.0, "ratio_low": 1.0, "ratio_high": 1.0}
    sizes = pd.DataFrame(
        [
            labels | times | {"engine": "skem", "log_likelihood": -1.0, "share": 0.5},
            labels | {"engine": "oneDAL", "note": "not installed: pip install it"},
        ]
    )
    beside = {"dataset": "fashion_mnist", "N": 60000, "m": 15, "K": 100, "start": "class", "threads": 2}
    beside |= {
        "kernel": "Haswell",
        "numpy": "AVX2",
        "dtype": "float32",
        "dtype_used": "float64",
        "engine": "oneDAL",
        "engine_seconds": 0.6,
    }
    text = tables.to_markdown(
        sizes,
        tables.exponents(scaling_table()),
        pd.DataFrame(),
        pd.DataFrame([beside | times | {"ratio": 6.0}]),
    )
    cells = "fashion_mnist: 60000 x 15, K = 100 | class | Haswell, AVX2 | 2 | float64 | 0.1000 | 0.6000 | 6.00 [1.00, 1.00]"
    assert f"| {cells} |" in re.sub(" +", " ", text)
    assert "not installed: pip install it" in text
    assert "50%" in text


def test_seconds_per_pass_of_a_classifier():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    assert 0 < timing.seconds_per_pass(PSKEMClassifier(4, n_blocks=2, max_iter=6), X, y) < 10


def test_the_rate_of_the_products_is_positive():
    assert timing.product_rate(5, 10, 3000, "float32", 1, repeats=1) > 0
    assert timing.operations(10, 2, 3) == 4 * 10 * 3 * 6
