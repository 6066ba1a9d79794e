"""Tables and figures from small histories whose numbers can be worked out by hand."""

import re

import matplotlib

matplotlib.use("agg")

import numpy as np
import pandas as pd
import pytest

from skem.repro.ledger import stated_claims
from skem.repro.tables import accuracy

T1 = 12.706204736432095  # 97.5% point of Student's t with one degree of freedom
Z = 1.959963984540054
A, B = "1x7-K14", "1x7-K8"


PAPER = {"setting": A, "accuracy": "acc", "seconds_per_pass": "sec", "best": "best", "best_method": "RBF SVM"}
METHODS = {"skem": {"settings": {A: {}, B: {}}}, "skem-ridge-1e-6": {"settings": {A: {}}}}
OURS = {"max_iter": 2, "paper": PAPER, "methods": METHODS}
DRAWN = {"max_iter": 1, "paper": PAPER, "methods": {"pskem": {"settings": {A: {}}}}}
EXPERIMENT = {"data_sets": {"rice": OURS, "mnist": DRAWN, "ionosphere": OURS, "cifar10": OURS}}
CLAIMS = pd.DataFrame({"id": ["acc", "sec", "best", "unstated"], "value": ["95.0", "0.3", "93.5", ""]})


def entry(method, setting, run, fold, pass_, test, validation=None, rows=None, dataset="rice", **other):
    """One row; log-loss, Brier score and calibration error follow from the accuracy unless given."""
    accuracy = np.nan if validation is None else validation
    rows = rows or ("all" if validation is None else "part")
    n_train, n_validation = (100, 0) if validation is None else (90, 10)
    row = {"dataset": dataset, "method": method, "setting": setting, "run": run, "fold": fold, "pass": pass_}
    row |= {"rows": rows, "n_train": n_train, "n_validation": n_validation, "n_test": (10, 30)[fold]}
    row |= {"validation_accuracy": accuracy, "validation_log_loss": 1 - accuracy, "validation_brier": 1.0}
    row |= {"test_accuracy": test, "test_log_loss": 2 - test, "test_brier": 1 - test, "test_ece": test / 10}
    return row | {"log_likelihood": -1.0, "objective": -1.0} | other


def curve(method, setting, run, fold, test, validation=(None, None), **other):
    values = enumerate(zip(test, validation, strict=True), start=1)
    return [entry(method, setting, run, fold, p, t, v, **other) for p, (t, v) in values]


def rice():
    nan = {"test_log_loss": np.nan, "validation_log_loss": np.nan, "n_train": 50}
    rows = [
        *curve("skem", A, 0, 0, (0.5, 0.9)),
        *curve("skem", A, 0, 1, (0.8, 0.6)),
        *curve("skem", A, 1, 0, (0.86, 0.7)),
        *curve("skem", A, 1, 1, (0.82, 0.8)),
        *curve("skem", A, 0, 0, (0.4, 0.8), (0.5, 0.6)),
        *curve("skem", A, 0, 1, (0.6, 0.9), (0.7, 0.7)),  # a tie: the earlier pass
        *curve("skem", A, 1, 0, (0.5, 0.9), (0.6, 0.5)),
        *curve("skem", A, 1, 1, (0.3, 0.7), (0.6, 0.8)),
        *curve("skem", B, 0, 0, (0.62, 0.3), (0.9, 0.5)),  # the one fold that B wins
        *curve("skem", B, 0, 1, (1.0, 1.0), (0.1, 0.1)),
        *curve("skem", B, 1, 0, (1.0, 1.0), (0.1, 0.1)),
        *curve("skem", B, 1, 1, (1.0, 1.0), (0.1, 0.1)),
        *[
            row
            for run in (0, 1)
            for fold in (0, 1)
            for row in curve("skem-ridge-1e-6", A, run, fold, (0.7, 0.6))
        ],
        *[entry("lda", "default", 0, fold, 1, (0.7, 0.8)[fold], 0.9) for fold in (0, 1)],
        *[entry("lda", "default", 1, fold, 1, (0.75, 0.79)[fold], 0.9) for fold in (0, 1)],
        *[entry("svm_rbf", "default", run, fold, 1, 0.9, 0.85, **nan) for run in (0, 1) for fold in (0, 1)],
    ]
    return pd.DataFrame(rows)


def mnist():
    drawn = {"rows": "all", "dataset": "mnist", "n_test": 400, "n_train": 30000, "n_validation": 10000}
    rows = [
        entry("pskem", A, 0, 0, 1, 0.9, 0.8, **drawn),
        entry("knn_1", "default", 0, 0, 1, 0.5, 0.4, **drawn),
        entry("lda", "default", 0, 0, 1, 0.4, 0.6, **drawn),
    ]
    return pd.DataFrame(rows)


def wrong(n, *rows):
    return np.isin(np.arange(n), rows).astype("int16")


def predictions(dataset, method, setting):
    """Class 0 is always right. All folds of run 0 are compared, on the rows that part-trained models test."""
    truth = {"y-0-0": wrong(10), "y-0-1": wrong(30), "y-1-0": wrong(10), "y-1-1": wrong(30)}
    if (dataset, setting) == ("mnist", A):
        return {"all-0-0": wrong(10, 1), "y-0-0": wrong(10)}
    if (dataset, method) == ("mnist", "lda"):
        return {"all-0-0": wrong(10, 2, 3), "y-0-0": wrong(10)}
    if (dataset, method, setting) == ("rice", "skem", A):
        whole = {f"all-{run}-{fold}": wrong((10, 30)[fold], *range(9)) for run in (0, 1) for fold in (0, 1)}
        part = {"part-0-0": wrong(10, 0, 1, 2), "part-0-1": wrong(30, 0)}
        return truth | whole | part | {"part-1-0": wrong(10, *range(9)), "part-1-1": wrong(30, *range(9))}
    assert (dataset, method, setting) == ("rice", "lda", "default")
    part = {"part-0-0": wrong(10, 2, 3), "part-0-1": wrong(30, 5, 6, 7, 8, 9)}
    return truth | part | {"part-1-0": wrong(10), "part-1-1": wrong(30)}


def made(history=None):
    history = history or {"rice": rice(), "mnist": mnist(), "ionosphere": pd.DataFrame()}
    table = accuracy.accuracy_table(EXPERIMENT, history, predictions, CLAIMS)
    return table, accuracy.rivals_table(history)


@pytest.fixture(scope="module")
def both():
    return made()


def row_of(both, dataset):
    return both[0].set_index("dataset").loc[dataset]


def test_one_row_for_each_data_set_that_takes_part(both):
    assert both[0]["dataset"].tolist() == ["rice", "mnist", "ionosphere"]
    assert both[0]["available"].tolist() == [True, True, False]


def test_what_the_paper_prints(both):
    for row in both[0].to_dict("records"):
        paper = {key: row[f"paper_{key}"] for key in ("accuracy", "best_accuracy")}
        assert paper == {"accuracy": 95.0, "best_accuracy": 93.5}
        assert row["paper_best_method"] == "RBF SVM"


def test_times_stand_in_a_table_of_their_own(both):
    seconds = {"rice": pd.DataFrame({"seconds": [0.002, 0.004]}), "ionosphere": pd.DataFrame()}
    table = accuracy.timing_table(EXPERIMENT, seconds, CLAIMS)
    row = table.set_index("dataset").loc["rice"]
    assert (row["seconds_per_pass"], row["passes_timed"], row["speed_up"]) == pytest.approx((0.003, 2, 100))
    assert table["available"].tolist() == [True, False]
    text = accuracy.to_markdown("Table 1: times", accuracy.timing_parts(table), accuracy.TIMING_NOTES)
    assert cells(text, "Rice") == ["Rice", "0.3", "0.0030", "100"]
    assert cells(text, "Ionosphere") == ["Ionosphere", "0.3", "-", "-"]
    assert not [c for c in both[0] if "second" in c or "speed" in c]


def test_protocols_of_a_cross_validated_data_set(both):
    row = row_of(both, "rice")
    assert (row["method"], row["n_train"], row["n_runs"], row["n_folds"]) == ("skem", 100, 2, 2)
    # Runs: (.9 * 10 + .8 * 30) / 40 = .825 and (.86 * 10 + .82 * 30) / 40 = .83.
    assert row["best-pass"] == pytest.approx(82.75)
    half = 100 * T1 * 0.005 / 2  # t s / sqrt(2), s = .005 / sqrt(2)
    assert (row["best-pass_low"], row["best-pass_high"]) == pytest.approx((82.75 - half, 82.75 + half))
    assert row["best-fold"] == pytest.approx(100 * (0.9 + 0.86) / 2)
    assert row["last-pass"] == pytest.approx(100 * (0.675 + 0.775) / 2)
    # Passes 2, 1 and 1, 2: (8 + 18) / 40 and (5 + 21) / 40, no spread at all.
    assert [row[f"validated{end}"] for end in ("", "_low", "_high")] == pytest.approx([65.0] * 3)
    assert (row["log_loss"], row["ece"]) == pytest.approx((2 - 0.65, 0.065))
    # B in the first fold: (6.2 + 18) / 40 = .605, and .65 as before.
    assert row["nested"] == pytest.approx(62.75)
    assert row["nested_high"] - row["nested"] == pytest.approx(100 * T1 * 0.045 / 2)
    assert row["nested_setting"] == f"{A} (3); {B} (1)"
    assert row["best-pass_ridge-1e-6"] == pytest.approx(70)


def test_a_fixed_test_set_has_the_sampling_error_of_its_rows(both):
    row = row_of(both, "mnist")
    half = 100 * Z * np.sqrt(0.9 * 0.1 / 400)
    for protocol in ("best-pass", "validated", "nested"):
        assert row[protocol] == pytest.approx(90)
        assert row[f"{protocol}_low"] == pytest.approx(90 - half)
        assert row[f"{protocol}_high"] == pytest.approx(90 + half)


def test_the_best_rival_is_chosen_on_validation_rows(both):
    """On test rows the support vector machine and the nearest neighbour would have won."""
    row = row_of(both, "rice")
    assert (row["best_method"], row["best_n_train"]) == ("lda", 90)
    assert row["best_accuracy"] == pytest.approx(77.75)
    assert (row["svm_rbf"], row["svm_rbf_n_train"]) == (pytest.approx(90), 50)
    assert (row["best_log_loss_method"], row["best_log_loss"]) == ("lda", pytest.approx(2 - 0.7775))
    assert row_of(both, "mnist")["best_method"] == "lda"


def test_mcnemar_pairs_all_folds_of_the_first_run(both):
    row = row_of(both, "rice")
    assert (row["mcnemar_ours_wrong"], row["mcnemar_best_wrong"]) == (3, 6)
    assert row["mcnemar_p"] == pytest.approx(2 * (1 + 9 + 36 + 84) / 2**9)
    row = row_of(both, "mnist")
    assert (row["mcnemar_ours_wrong"], row["mcnemar_best_wrong"], row["mcnemar_p"]) == (1, 2, 1.0)


def test_methods_of_another_experiment_are_no_rivals():
    """Two experiments share the history of a data set."""
    other = [
        row for run in (0, 1) for fold in (0, 1) for row in curve("ridge", "r-0.1", run, fold, (1, 1), (1, 1))
    ]
    history = {"rice": pd.concat([rice(), pd.DataFrame(other)], ignore_index=True)}
    table, rivals = made(history)
    assert (table["best_method"].tolist(), rivals["method"].tolist()) == (["lda"], ["lda", "svm_rbf"])


def test_rivals_without_any_log_loss():
    history = rice()
    history.loc[history["method"].isin(["lda", "svm_rbf"]), ["test_log_loss", "validation_log_loss"]] = np.nan
    table, rivals = made({"rice": history})
    assert "best_log_loss" not in table or table["best_log_loss"].isna().all()
    assert rivals["log_loss"].isna().all()
    assert "nan" not in accuracy.to_markdown("T", accuracy.parts(table, rivals))


def test_without_rivals_there_are_no_tables_of_them():
    history = rice()
    table, rivals = made({"rice": history[~history["method"].isin(["lda", "svm_rbf"])]})
    assert not len(rivals)
    text = accuracy.to_markdown("T", accuracy.parts(table, rivals))
    assert "82.75" in text
    assert "nan" not in text
    assert "All of them" not in text


@pytest.mark.parametrize("name", ["nowhere", "unstated"])
def test_a_missing_claim_is_named(name):
    with pytest.raises(ValueError, match=rf"config/claims\.csv has no value for '{name}'"):
        stated_claims.claim(CLAIMS, name)


def test_rivals_table(both):
    rivals = both[1].set_index(["dataset", "method"])
    assert list(rivals.index) == [("rice", "lda"), ("rice", "svm_rbf"), ("mnist", "knn_1"), ("mnist", "lda")]
    lda = rivals.loc[("rice", "lda")]
    half = 100 * T1 * 0.005 / 2
    assert lda[["accuracy", "accuracy_low"]].tolist() == pytest.approx([77.75, 77.75 - half])
    assert (lda["log_loss"], lda["n_train"]) == (pytest.approx(2 - 0.7775), 90)
    assert np.isnan(rivals["log_loss"].loc[("rice", "svm_rbf")])


def cells(text, name):
    """The first row of a data set in Markdown."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in line.split("|")[1:-1]]


def test_markdown(both):
    text = accuracy.to_markdown("Table 1", accuracy.parts(*both), accuracy.NOTES, "Left out: nothing.")
    assert text.startswith("## Table 1\n")
    assert text.endswith("Left out: nothing.\n")
    assert cells(text, "Rice")[:6] == ["Rice", "1x7, K = 14", "2", "100", "2 x 2 folds", "95.00"]
    assert {"82.75 [79.57, 85.93]", "65.00 [65.00, 65.00]", "1.350", "0.065"} <= set(cells(text, "Rice"))
    assert {"90.00 [87.06, 92.94]", "30000", "1"} <= set(cells(text, "MNIST"))
    assert "nan" not in text.lower().replace("ionosphere", "")


def test_a_data_set_that_is_not_available_leaves_a_row():
    every = made({"ionosphere": pd.DataFrame(), "cifar10": pd.DataFrame()})
    for table, rivals in (made(), every):
        text = accuracy.to_markdown("Table 1", accuracy.parts(table, rivals))
        row = cells(text, "Ionosphere")
        assert [*row[:3], row[5]] == ["Ionosphere", "1x7, K = 14", "2", "95.00"]
        assert row.count("not available") >= 5
        assert "Ionosphere" in accuracy.to_latex("Table 1", accuracy.parts(table, rivals))
    assert not len(every[1])


def test_latex_escapes_what_latex_would_trip_over(both):
    table = both[0].assign(dataset=["my_data", "mnist", "ionosphere"], paper_best_method="50% of_all & #1")
    text = accuracy.to_latex("50% of_all & #1", accuracy.parts(table, both[1]))
    assert text.count(r"50\% of\_all \& \#1") == 3 + 3  # cells and captions
    assert r"my\_data" in text
    assert not re.search(r"(?<!\\)[%_#]", text)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 3


def test_failures_are_one_sentence():
    failures = pd.DataFrame(
        {"dataset": "rice", "method": ["lda", "qda"], "setting": "default", "error": ["ValueError: a.", "b"]}
    )
    assert accuracy.failures_in_words(failures) == (
        "Failed, and left out: LDA (default) on Rice: ValueError: a; QDA (default) on Rice: b."
    )
