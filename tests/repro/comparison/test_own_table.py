"""A table of the user's own, compared."""

import numpy as np
import pytest

from skem import datasets
from skem.repro.comparison import own_table

SETUP = {"n_folds": 2, "max_rows": 1000}
JOBS = {
    "skem": {"model": "skem"},
    "lda": {"model": "lda"},
    "qda": {"model": "qda", "params": {"reg_param": -1.0}},
}
NAMES = {"skem": "SKEM", "lda": "LDA", "qda": "a broken one"}


@pytest.fixture(scope="module")
def compared():
    rng = np.random.default_rng(0)
    y = np.repeat(["a class", "b"], 40)
    X = rng.normal(size=(80, 2)) + 2 * (y == "b")[:, None]
    X[3, 0] = np.nan
    table = datasets.Table("mine.csv", "kind", X, y, ("x", "z"), np.arange(2, 82))
    return table, own_table.compare(table, {name: job | SETUP for name, job in JOBS.items()}, root=1)


def test_each_sample_is_tested_once_by_every_method(compared):
    table, predictions = compared
    for _, own in predictions[predictions["error"].isna()].groupby("method"):
        assert own.set_index("line")["label"].sort_index().tolist() == table.y.tolist()
    assert predictions["method"].value_counts().to_dict() == {"skem": 80, "lda": 80, "qda": 1}


def test_the_summary_has_intervals_over_test_samples(compared):
    table = own_table.summary(compared[1]).set_index("method")
    own = compared[1].query("method == 'lda'")
    p, lda = (own["label"] == own["predicted"]).mean(), table.loc["lda"]
    assert lda["accuracy"] == pytest.approx(100 * p)
    assert lda["high"] - lda["accuracy"] == pytest.approx(100 * 1.959964 * np.sqrt(p * (1 - p) / 80))
    half = 1.959964 * own["log_loss"].std(ddof=0) / np.sqrt(80)
    assert lda["log_loss_low"] == pytest.approx(own["log_loss"].mean() - half)


def test_the_table_names_the_protocol_missing_values_and_failures(compared):
    table, predictions = compared
    text = own_table.markdown(own_table.summary(predictions), NAMES, "mine", own_table.notes(table, **SETUP))
    assert "Protocol: nested, 2-fold cross-validation" in text
    assert "1 values are missing" in text
    assert "| a broken one | failed" in text
    assert "a broken one failed: InvalidParameterError: The 'reg_param'" in text


def test_a_registered_data_set_is_a_table_too_and_unknown_names_are_refused(tmp_path):
    assert own_table.read("iris", None, 5).X.shape == (150, 4)
    with pytest.raises(ValueError, match="no such file, and no data set of this name; did you mean wine"):
        own_table.read("wines", None, 5)
    path = tmp_path / "mine.csv"
    path.write_text("a,y\n1,u\n2,u\n3,v\n")
    with pytest.raises(ValueError, match=r"column 'y': 2 classes, 'v' has 1 samples; .*--config label=NAME"):
        own_table.read(str(path), None, 2)
