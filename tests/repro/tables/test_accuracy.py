"""Tables from small histories whose numbers can be worked out by hand."""

from pathlib import Path

import histories
import numpy as np
import pandas as pd
import pytest

from skem.repro.ledger import stated_claims
from skem.repro.tables import accuracy, pages
from skem.repro.training import classifiers
from skem.repro.training.settings import candidate_name

T1 = 12.706204736432095  # 97.5% point of Student's t with one degree of freedom
Z = 1.959963984540054
A, B = "1x7-K14", "1x7-K8"

PAPER = {"setting": A, "accuracy": "acc", "seconds_per_pass": "sec", "best": "best", "best_method": "RBF SVM"}
PAPER |= {"chosen_on_test": [A]}
METHODS = {
    "skem": {
        "params": {"reg_covar": 0.03},
        "settings": {A: {}, B: {}},
        "candidates": {"reg_covar": [0.3]},
    },
    "skem-reg_covar-1e-6": {"params": {"reg_covar": 1e-6}, "settings": {A: {}}},
}
OURS = {"max_iter": 2, "paper": PAPER, "methods": METHODS}
DRAWN = {"max_iter": 1, "paper": PAPER, "methods": {"pskem": {"settings": {A: {}}}}}
EXPERIMENT = {
    "title": "Table 1",
    "data_sets": {"rice": OURS, "mnist": DRAWN, "ionosphere": OURS, "cifar10": OURS},
}
CLAIMS = pd.DataFrame({"id": ["acc", "sec", "best", "unstated"], "value": ["95.0", "0.3", "93.5", ""]})
PAGES = pages.read(Path(__file__).parents[3] / "config/tables/experiments.yaml")
NO_FAILURES = pd.DataFrame(columns=["dataset", "method", "setting", "error"])


def half(p, n_test, over_runs=0.0):
    """Half width in points of an accuracy's interval over runs and test samples."""
    return 100 * np.hypot(over_runs, Z * np.sqrt(p * (1 - p) / n_test))


def curve(method, setting, run, fold, test, validation=None, **other):
    known = {"dataset": "rice", "method": method, "setting": setting, "run": run, "fold": fold}
    known |= {"n_train": 100 if validation is None else 90, "n_test": (10, 30)[fold]}
    return histories.curve(test, validation, **known | other)


def everywhere(method, setting, *accuracies, **other):
    """The same curve in both folds of both runs."""
    trials = [(run, fold) for run in (0, 1) for fold in (0, 1)]
    return [row for trial in trials for row in curve(method, setting, *trial, *accuracies, **other)]


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
        *everywhere("skem-reg_covar-1e-6", A, (0.7, 0.6)),
        *[row for fold in (0, 1) for row in curve("lda", "default", 0, fold, [(0.7, 0.8)[fold]], [0.9])],
        *[row for fold in (0, 1) for row in curve("lda", "default", 1, fold, [(0.75, 0.79)[fold]], [0.9])],
        *everywhere("svm_rbf", "default", [0.9], [0.85], **nan),
    ]
    return pd.DataFrame(rows)


def mnist():
    drawn = {"rows": "all", "dataset": "mnist", "n_test": 400, "n_train": 30000, "n_validation": 10000}
    found = {"pskem": (A, 0.9, 0.8), "knn_1": ("default", 0.5, 0.4), "lda": ("default", 0.4, 0.6)}
    return pd.DataFrame(
        row
        for method, (setting, test, validation) in found.items()
        for row in curve(method, setting, 0, 0, [test], [validation], **drawn)
    )


def predictions(dataset, method, setting):
    """Four samples of class 0: ours errs in one and, in a run that the baseline does not have, in all; the baseline in two."""
    wrong = (1, 4) if setting == A else (2,)
    truth = {f"y-{run}-0": np.zeros(4) for run in (0, 1)}
    return truth | {f"part-{run}-0": np.arange(4) < n for run, n in enumerate(wrong)}


def made(history=None, failures=NO_FAILURES):
    history = history or {"rice": rice(), "mnist": mnist(), "ionosphere": pd.DataFrame()}
    table = accuracy.accuracy_table(EXPERIMENT, history, predictions, CLAIMS)
    return table, accuracy.baselines_table(history, failures)


def shown(table, baselines):
    return pages.render(PAGES["accuracy"], accuracy.layout(EXPERIMENT, table, baselines, "A remark."))


def cells(text, name):
    """The first row of a data set in Markdown."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in line.split("|")[1:-1]]


@pytest.fixture(scope="module")
def both():
    return made()


def row_of(both, dataset):
    return both[0].set_index("dataset").loc[dataset]


def test_protocols_of_a_cross_validated_data_set(both):
    row = row_of(both, "rice")
    assert (row["method"], row["n_train"], row["n_runs"], row["n_folds"]) == ("skem", 100, 2, 2)
    # Runs: (.9 * 10 + .8 * 30) / 40 = .825 and (.86 * 10 + .82 * 30) / 40 = .83.
    width = half(0.8275, 40, T1 * 0.005 / 2)  # t s / sqrt(2), s = .005 / sqrt(2)
    found = [row[f"test_selected_iteration{end}"] for end in ("", "_low", "_high")]
    assert found == pytest.approx([82.75, 82.75 - width, 82.75 + width])
    # Iterations 2, 1 and 1, 2: (8 + 18) / 40 and (5 + 21) / 40.
    assert row["validation_selected_iteration"] == pytest.approx(65.0)
    assert (row["log_loss"], row["ece"]) == pytest.approx((2 - 0.65, 0.065))
    # B in the first fold: (6.2 + 18) / 40 = .605, and .65 as before.
    assert row["nested"] == pytest.approx(62.75)
    assert row["nested_high"] - row["nested"] == pytest.approx(half(0.6275, 40, T1 * 0.045 / 2))
    assert row["nested_configuration"] == f"{A} (3); {B} (1)"
    assert (row["nested_fits_chosen_on_test"], row["nested_fits"]) == (3, 4)
    assert row["test_selected_iteration_reg_covar_1e-06"] == pytest.approx(70)


def test_nested_selects_the_covariance_regularisation_and_marks_choices_of_the_paper(both):
    other = candidate_name(A, 0.3)
    candidates = [
        row
        for run in (0, 1)
        for fold, accuracy in enumerate((0.4, 0.5))
        for row in curve("skem", other, run, fold, (accuracy, 0.1), (0.95, 0.1))
    ]
    table, _ = made({"rice": pd.concat([rice(), pd.DataFrame(candidates)], ignore_index=True)})
    row, before = table.iloc[0], row_of(both, "rice")
    assert row["nested"] == pytest.approx(100 * (4 + 15) / 40)
    assert row["nested_configuration"] == f"{other} (4)"
    assert (row["nested_fits_chosen_on_test"], row["nested_fits"]) == (4, 4)
    for protocol in ("test_selected_iteration", "final_iteration", "validation_selected_iteration"):
        assert row[protocol] == before[protocol]


def test_the_best_baseline_is_selected_on_validation_samples(both):
    """On test samples the support vector machine and the nearest neighbour would win."""
    row = row_of(both, "rice")
    assert (row["best_method"], row["best_n_train"]) == ("lda", 90)
    assert row["best_accuracy"] == pytest.approx(77.75)
    assert (row["svm_rbf"], row["svm_rbf_n_train"]) == (pytest.approx(90), 50)
    assert (row["best_log_loss_method"], row["best_log_loss"]) == ("lda", pytest.approx(2 - 0.7775))
    assert row_of(both, "mnist")["best_method"] == "lda"


def test_mcnemars_test_compares_the_papers_configuration_with_the_best_baseline(both):
    for dataset, counts in {"rice": (0, 1), "mnist": (1, 0.5)}.items():  # mnist has one test set for all runs
        row = row_of(both, dataset)
        assert (row["mcnemar_ours_wrong"], row["mcnemar_best_wrong"]) == counts


@pytest.mark.parametrize("name", ["nowhere", "unstated"])
def test_a_missing_claim_is_named(name):
    with pytest.raises(ValueError, match=rf"config/claims\.csv has no value for '{name}'"):
        stated_claims.claim(CLAIMS, name)


def test_an_unavailable_data_set_leaves_a_row(both):
    for table, baselines in (both, made({"ionosphere": pd.DataFrame(), "cifar10": pd.DataFrame()})):
        row = cells(shown(table, baselines), "Ionosphere, not available")
        assert (row[1:3], row.pop(10), {*row[3:]}) == (["1x7, K = 14", "2"], "95.00", {"-"})


def test_failures_are_named_and_shown():
    failures = {
        "dataset": "rice",
        "method": ["lda", "qda"],
        "setting": "default",
        "error": ["ValueError: a.", "b"],
    }
    fitted = classifiers.baselines.ENTRIES.keys() - {"svm_quadratic"}
    assert accuracy.remarks(fitted, pd.DataFrame(failures)).split("\n\n") == [
        "Left out to save time: quadratic SVM; config/paper.yaml has them.",
        "Failed, and left out: LDA (default) on Rice: ValueError: a; QDA (default) on Rice: b.",
    ]
    assert accuracy.remarks(classifiers.baselines.ENTRIES, pd.DataFrame()) == ""
    text = shown(*made({"rice": rice()}, pd.DataFrame(failures).query("method == 'qda'")))
    assert cells(text, "QDA") == ["QDA", "failed"]
