"""Other implementations do identical work before a time counts, and the page on speed shows what was measured."""

from dataclasses import replace

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from benchmarks import peers, speed_page
from benchmarks.peers import ENGINES, Cell, Fitted, Request
from skem.repro.papers.sanderson2017 import engines

TOY = Cell("sizes", ("skem", "scikit-learn"), "300x3-K2", 300, 3, 2, 0, "float64", (1, 3))


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(peers, "MOST_FITS", 1)
    monkeypatch.setattr(peers, "THREADS", 1)
    monkeypatch.setattr(peers, "ROUNDS", 3)


@pytest.mark.parametrize("name", ["scikit-learn", "oneDAL", "Armadillo", "Armadillo, diag", "mclust"])
def test_implementations_agree_after_the_same_iterations(name):
    diagonal = name.endswith("diag")
    engine = engines.ENGINES["armadillo_diag"] if diagonal else ENGINES[name]
    for dtype, tolerance in {"float64": 1e-5, "float32": 1e-2}.items():
        if dtype == "float64" or name in ("scikit-learn", "oneDAL"):
            X, init = engines.draw(300, 3, 2, dtype)
            request = Request(2, 1, 3, 1e-6, 0, 1, init)
            fitted, note = engines.attempt(engine, X, request)
            if note.startswith("not installed"):
                pytest.skip(note)
            ours = engines.ENGINES["skem_diag" if diagonal else "skem_full"].fit(X, request)
            for a, b in zip(ours.parameters, fitted.parameters, strict=True):
                assert_allclose(a, b, rtol=tolerance, atol=tolerance / 10)


def test_only_equal_results_are_timed(monkeypatch):
    def other(X, request):
        weights, means, covariances = ENGINES["skem"].fit(X, request).parameters
        return Fitted((weights, means + 1, covariances), 0.1)

    def fails(X, request):
        raise RuntimeError("Ill-conditioned\nDetails: many")

    wrong = {
        "Armadillo": ({"fit": other, "version": lambda: "1"}, "other result: log_likelihood -"),
        "oneDAL": ({"fit": fails, "version": lambda: "1"}, "Ill-conditioned"),
        "mclust": ({"version": lambda: None}, "not installed: apt-get install r-cran"),
    }
    for name, (changes, _) in wrong.items():
        monkeypatch.setitem(ENGINES, name, replace(ENGINES[name], **changes))
    table = pd.DataFrame(peers.em(replace(TOY, names=(*TOY.names, *wrong))))
    assert table["seconds_per_iteration"].notna().tolist() == [True, True, False, False, False]
    for note, (_, expected) in zip(table["note"][2:], wrong.values(), strict=True):
        assert note.startswith(expected)


def test_kmeans_is_timed_from_the_same_centres():
    ours, theirs = peers.kmeans(replace(TOY, part="kmeans", iterations=(0, 20)))
    assert theirs["mean_inertia"] == pytest.approx(ours["mean_inertia"])
    assert theirs["ratio"] > 0
    assert ours["ratio"] == 1


def test_the_page_has_the_tables_of_the_committed_measurements():
    tables, page = speed_page.tables(), speed_page.PAGE.read_text(encoding="utf-8")
    assert speed_page.rewritten(page, tables) == page
    with pytest.raises(ValueError, match="markers of the tables"):
        speed_page.rewritten(page, tables | {"kmeans, one thread": ""})
