"""A table of the user's own, compared."""

import os
import time

import numpy as np
import pandas as pd
import pytest

from skem.repro.comparison import own_table

JOBS = {
    "skem": {"model": "skem", "max_rows": 1000},
    "lda": {"model": "lda", "max_rows": 1000},
    "qda": {"model": "qda", "max_rows": 1000, "params": {"reg_param": -1.0}},
}
NAMES = {"skem": "SKEM", "lda": "LDA", "qda": "a broken one"}


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """A table as people have them: an identifier, categories, a rare level, a rare class, missing values."""
    rng = np.random.default_rng(0)
    kind = np.repeat(["ill", "well", "other", "lost"], [60, 60, 4, 1])
    frame = pd.DataFrame(
        {
            "patient_id": [f"P{i:04d}" for i in range(125)],
            "number": rng.permutation(125),
            "ward": rng.choice(["A", "B", "?"], 125),
            "site": "here",
            "age": rng.normal(size=125) + 3 * (kind == "ill"),
            "kind": kind,
        }
    )
    path = tmp_path_factory.mktemp("clinic") / "clinic ~#ä.csv"
    frame.to_csv(path, index=False)
    return str(path)


@pytest.fixture(scope="module")
def compared(clinic):
    table = own_table.read(clinic, None, 5)
    return table, own_table.compare(table, JOBS, root=1)


def test_each_sample_is_tested_once_by_every_method(compared):
    table, predictions = compared
    for _, own in predictions[predictions["error"].isna()].groupby("method"):
        assert own.set_index("line")["label"].sort_index().tolist() == table.y.tolist()
    assert predictions["method"].value_counts().to_dict() == {"skem": 124, "lda": 124, "qda": 1}


def test_the_summary_has_intervals_over_test_samples(compared):
    table = own_table.summary(compared[1]).set_index("method")
    own = compared[1].query("method == 'lda'")
    p, lda = (own["label"] == own["predicted"]).mean(), table.loc["lda"]
    assert lda["accuracy"] == pytest.approx(100 * p)
    z2 = 1.959964**2 / 124
    half = 100 * np.sqrt(z2 * p * (1 - p) + z2**2 / 4) / (1 + z2)
    assert lda["high"] - lda["low"] == pytest.approx(2 * half)
    half = 1.959964 * own["log_loss"].std(ddof=0) / np.sqrt(124)
    assert lda["log_loss_low"] == pytest.approx(own["log_loss"].mean() - half)


def test_the_table_names_the_protocol_missing_values_and_failures(compared):
    table, predictions = compared
    text = own_table.markdown(own_table.summary(predictions), NAMES, "mine", own_table.notes(table, 1000))
    assert "Protocol: nested, 4-fold cross-validation" in text
    assert f"{np.isnan(table.X).sum()} values are missing" in text
    assert "| a broken one | failed  " in text  # without brackets
    assert "a broken one failed: InvalidParameterError: The 'reg_param'" in text


def test_a_file_that_does_not_exist_or_has_rare_classes_only_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no such file"):
        own_table.read("wines.csv", None, 5)
    path = tmp_path / "mine.csv"
    path.write_text("a,y\n1,u\n2,u\n3,v\n")
    with pytest.raises(
        ValueError, match=r"2 classes, 2 of which have fewer than 3 samples; .*--config label=NAME"
    ):
        own_table.read(str(path), None, 2)


def test_a_table_as_people_have_them_is_compared(compared):
    table, predictions = compared
    text = "\n".join(table.remarks)
    assert table.X.shape == (124, 3)
    for words in ("left out: site.", "and left out: patient_id.", "together: ward.", "left out: lost."):
        assert words in text
    assert "4 folds, not 5, as class other has 4 samples" in text
    assert "number has another whole number in each sample; leave it out by --config 'drop=[number]'" in text
    assert own_table.summary(predictions)["accuracy"].min() > 75


def test_files_that_a_run_would_delete_or_overwrite_are_refused(clinic, compared, tmp_path, monkeypatch):
    page = tmp_path / "clinic.md"
    page.write_text(own_table.notes(compared[0], 1000))
    own_table.raise_if_unsafe(clinic, page)
    with pytest.raises(ValueError, match=r"clinic\.md has the results of .*; rename this file"):
        own_table.raise_if_unsafe(str(tmp_path / "clinic.csv"), page)
    os.utime(clinic, (0, time.time() + 3 * 3600))
    with pytest.raises(ValueError, match=r"dated 3\.0 hours ahead of this machine's clock"):
        own_table.raise_if_unsafe(clinic, page)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.csv").symlink_to(tmp_path / "results/own/mine.csv")
    with pytest.raises(ValueError, match="it lies in results/"):
        own_table.raise_if_unsafe("link.csv", page)


def test_an_index_and_a_column_with_few_values_are_left_out(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"few": [1.0, *[np.nan] * 28, 2.0], "a": rng.normal(size=30), "y": ["none", "some"] * 15}
    )
    frame.to_csv(tmp_path / "mine.csv")
    table = own_table.read(str(tmp_path / "mine.csv"), None, 5)
    assert table.X.tolist() == frame[["a"]].to_numpy().tolist()
    assert {"none", "some"} == {*table.y}
    assert "the column without a name" in table.remarks[1]


def test_misprinted_numbers_are_faults_of_all_columns_at_once(tmp_path):
    path = tmp_path / "mine.csv"
    rows = [f"{i},{i / 2},{'uv'[i % 2]}" for i in range(20)]
    rows[3], rows[5] = "3,4.9cm,u", "x,1,v"
    path.write_text("\n".join(["a,b,y", *rows]))
    with pytest.raises(ValueError, match=r"(?s)line 7, column 'a': 'x'.*line 5, column 'b': '4.9cm'"):
        own_table.read(str(path), None, 2)
